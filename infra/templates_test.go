package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/functions"
)

var update = flag.Bool("update", false, "write the golden files")

// TestTemplates_AreGolden compares complete templates with testdata, so that reviewers see all deployed resources and rights. The file
// for prod has every value. The files of other templates have their differences from prod. -update writes the files.
func TestTemplates_AreGolden(t *testing.T) {
	all := prod.values(t)
	for name, got := range map[string][]string{
		"prod": all, "dev": difference(all, dev.values(t)), "special": difference(all, special.values(t)),
		"with-server": difference(all, withServer.values(t)),
	} {
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(strings.Split(strings.TrimSuffix(string(want), "\n"), "\n"), got); len(d) > 0 {
			t.Errorf("%s has changed; if it should, run with -update:\n%s", path, strings.Join(d, "\n"))
		}
	}
}

// difference returns the lines that are in only one of the two texts.
func difference(from, to []string) (lines []string) {
	for _, line := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(from, to)))) {
		switch before, now := slices.Contains(from, line), slices.Contains(to, line); {
		case before && !now:
			lines = append(lines, "- "+line)
		case now && !before:
			lines = append(lines, "+ "+line)
		}
	}
	return lines
}

var (
	stageName = regexp.MustCompile(`assay-(dev|prod)\b`)
	digest    = regexp.MustCompile(`[0-9a-f]{64}`)
)

// values returns every value of the template after its path. It leaves out names of stages, digests of assets, routes, which
// TestRoutes_AreTheDeclaredOperations checks, and the layout of the dashboard.
func (tpl template) values(t *testing.T) (lines []string) {
	t.Helper()
	var all struct{ Outputs, Resources map[string]any }
	if err := json.Unmarshal(tpl.text, &all); err != nil {
		t.Fatal(err)
	}
	for id := range tpl.all("AWS::ApiGatewayV2::Route") {
		delete(all.Resources, id)
	}
	lines = append(valuesAt("Outputs", all.Outputs), valuesAt("Resources", all.Resources)...)
	slices.Sort(lines)
	return lines
}

func valuesAt(path string, v any) (lines []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name == "Ref" || strings.HasPrefix(name, "Fn::") {
				break // a reference is one value
			}
			if name != "DashboardBody" {
				lines = append(lines, valuesAt(path+"."+name, member)...)
			}
		}
	case []any:
		for i, element := range v {
			lines = append(lines, valuesAt(fmt.Sprintf("%s.%02d", path, i), element)...)
		}
	}
	if len(lines) == 0 {
		lines = []string{path + " " + digest.ReplaceAllString(stageName.ReplaceAllString(compact(v), "assay-STAGE"), "DIGEST")}
	}
	return lines
}

// TestRoutes_AreTheDeclaredOperations checks which function answers each route.
func TestRoutes_AreTheDeclaredOperations(t *testing.T) {
	want := map[string]string{"$default": "ServiceFunction"}
	for _, d := range functions.Deployments() {
		id := strings.ToUpper(d.Name[:1]) + d.Name[1:] + "Function"
		for _, o := range d.Operations {
			want["ANY "+strings.ReplaceAll(o.Path, "{$}", "")] = id
		}
	}
	for _, tpl := range []template{dev, prod, special} {
		got := map[string]string{}
		for id, r := range tpl.all("AWS::ApiGatewayV2::Route") {
			key := r.Properties["RouteKey"].(string)
			if _, twice := got[key]; twice {
				t.Errorf("%s: a second route for %s", id, key)
			}
			integration := strings.Trim(r.at("Target.Fn::Join.1.1.Ref"), `"`)
			got[key] = strings.Trim(tpl.Resources[integration].at("IntegrationUri.Fn::GetAtt.0"), `"`)
		}
		if !maps.Equal(got, want) {
			t.Errorf("routes lead to\n%v, want\n%v", got, want)
		}
	}
}

// TestAlarms_OfBothStagesAreFree counts the metrics of alarms. AWS charges for metrics, and ten in an account are free.
func TestAlarms_OfBothStagesAreFree(t *testing.T) {
	n := 0
	for _, tpl := range []template{dev, prod} {
		for id, a := range tpl.all("AWS::CloudWatch::Alarm") {
			n++
			if a.Properties["Metrics"] != nil || a.Properties["MetricName"] == nil {
				t.Errorf("%s watches more than one metric", id)
			}
			if p := a.Properties["Period"].(float64); p < 60 {
				t.Errorf("%s has the period %v: those under a minute are paid for", id, p)
			}
		}
	}
	if n > 10 {
		t.Errorf("%d metrics are watched", n)
	}
}

// TestAlarms_WatchEveryFunction checks that a failure of any function changes a metric with an alarm. For functions behind the API these
// are the lines with 5xx and the latency. For functions behind events these are the age of the stream and the dead letters.
func TestAlarms_WatchEveryFunction(t *testing.T) {
	const deadLetters = `{"Fn::GetAtt":["DeadLetters","Arn"]}`
	for id, m := range prod.all("AWS::Lambda::EventSourceMapping") {
		if got := m.at("DestinationConfig.OnFailure.Destination"); got != deadLetters {
			t.Errorf("what %s gives up goes to %s", id, got)
		}
	}
	watched := map[string]bool{}
	for _, i := range prod.all("AWS::ApiGatewayV2::Integration") {
		watched[strings.Trim(i.at("IntegrationUri.Fn::GetAtt.0"), `"`)] = true
	}
	for _, c := range prod.all("AWS::Lambda::EventInvokeConfig") {
		watched[strings.Trim(c.at("FunctionName.Ref"), `"`)] = c.at("DestinationConfig.OnFailure.Destination") == deadLetters
	}
	for id := range prod.all("AWS::Lambda::Function") {
		if !watched[id] {
			t.Errorf("no alarm would tell that %s fails", id)
		}
	}
}

var metric = regexp.MustCompile(`\[\\"AWS/`)

func TestDashboard_IsFreeAndShowsEveryFunction(t *testing.T) {
	for _, tpl := range []template{prod, withServer} {
		body := tpl.one(t, "AWS::CloudWatch::Dashboard").at("DashboardBody")
		if n := len(metric.FindAllString(body, -1)); n == 0 || n > 50 {
			t.Errorf("%d metrics; an account has dashboards of up to 50 for nothing", n)
		}
		for _, d := range functions.Deployments() {
			if n := strings.Count(body, `\"assay-prod-`+d.Name+`\"`); n < 2 { // errors and duration
				t.Errorf("%s stands in %d graphs", d.Name, n)
			}
		}
		if !strings.Contains(body, "SEARCH('{Assay,table,pool,work} MetricName=") || strings.Contains(body, "Token[") {
			t.Errorf("the dashboard does not look for the metrics of what waits in the table: %s", body)
		}
		if shown := strings.Contains(body, "AWS/ECS"); shown != (len(tpl.all("AWS::ECS::Service")) > 0) {
			t.Errorf("the dashboard shows the gRPC server: %t", shown)
		}
	}
}

type statement struct {
	Sid, Effect string
	Action      []string
	Resource    []json.RawMessage
	Condition   json.RawMessage
}

// rightsOf returns the rights of a function's role: the resources in the template, by action.
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
	}{{prod, []string{"BackgroundRole", "DatasetsRole", "ToolsRole"}},
		{withServer, []string{"BackgroundRole", "DatasetsRole", "ServerRole", "ToolsRole"}}} {
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
		slices.Sort(may)
		if !slices.Equal(may, c.want) {
			t.Errorf("%v get truths, want %v", may, c.want)
		}
	}
}

// prefix matches the parts of a resource's ARN that may end in an asterisk.
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
