package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// statement is one of a policy.
type statement struct {
	Sid, Effect string
	Action      []string
	Resource    []json.RawMessage
	Condition   json.RawMessage
}

// rightsOf returns what the role of a function may do: resources by action, as they stand in the template.
func rightsOf(t *testing.T, tpl template, id string) map[string][]string {
	t.Helper()
	role, ok := tpl.Resources[id]
	if !ok || role.Type != "AWS::IAM::Role" {
		t.Fatalf("there is no role %s", id)
	}
	if role.Properties["ManagedPolicyArns"] != nil {
		t.Errorf("%s has policies that are written elsewhere", id)
	}
	var policies []struct {
		PolicyDocument struct{ Statement []statement }
	}
	if err := json.Unmarshal([]byte(role.at("Policies")), &policies); err != nil || len(policies) != 1 {
		t.Fatalf("%s: %d policies, %v", id, len(policies), err)
	}
	rights := map[string][]string{}
	for _, s := range policies[0].PolicyDocument.Statement {
		if s.Effect != "Allow" {
			t.Errorf("%s: %s %s", id, s.Effect, s.Sid)
		}
		for _, action := range s.Action {
			for _, r := range s.Resource {
				rights[action] = append(rights[action], string(r))
			}
		}
	}
	return rights
}

func TestRights_FewGetTruths(t *testing.T) {
	for _, c := range []struct {
		template
		want []string
	}{{prod, []string{"DatasetsRole", "EvaluatorRole", "ToolsRole"}},
		{withServer, []string{"DatasetsRole", "EvaluatorRole", "ServerRole", "ToolsRole"}}} {
		var may []string
		for id := range c.all("AWS::IAM::Role") {
			for action, resources := range rightsOf(t, c.template, id) {
				for _, r := range resources {
					reaches := strings.Contains(r, "/truths/") || strings.Contains(r, "s3:::") && !strings.Contains(r, "}/")
					if reaches && (action == "s3:*" || strings.HasPrefix(action, "s3:GetObject")) {
						may = append(may, id)
					}
				}
			}
		}
		if slices.Sort(may); !slices.Equal(may, c.want) {
			t.Errorf("%v get truths, want %v", may, c.want)
		}
	}
}

func TestRights_OfReadersWriteNothing(t *testing.T) {
	reads := []string{"logs:CreateLogStream", "logs:PutLogEvents", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query",
		"s3:GetObject"}
	for _, id := range []string{"ServiceRole", "EvaluationsRole", "ComponentsRole"} {
		for action := range rightsOf(t, prod, id) {
			if !slices.Contains(reads, action) {
				t.Errorf("%s may %s", id, action)
			}
		}
	}
}

// prefix is the part of a resource's name that may have an asterisk.
var prefix = regexp.MustCompile(`(/index|/inputs|/truths|/runs|/logs|/evaluations|/tools|-due)/\*`)

func TestRights_AreNoWiderThanAPrefix(t *testing.T) {
	for _, tpl := range []template{dev, prod, special, withServer} {
		for id := range tpl.all("AWS::IAM::Role") {
			for action, resources := range rightsOf(t, tpl, id) {
				if strings.Contains(action, "*") {
					t.Errorf("%s may %s", id, action)
				}
				hasNothingNarrower := strings.HasPrefix(action, "xray:") || action == "ecr:GetAuthorizationToken"
				for _, r := range resources {
					if strings.Contains(prefix.ReplaceAllString(r, ""), "*") && !(hasNothingNarrower && r == `"*"`) {
						t.Errorf("%s may %s on %s", id, action, r)
					}
				}
			}
		}
	}
}
