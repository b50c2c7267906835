package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/functions"
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

func TestEachFunctionMayDoExactlyWhatIsWrittenDown(t *testing.T) {
	const (
		table   = `{"Fn::GetAtt":["Table","Arn"]}`
		indexes = `{"Fn::Join":["",[{"Fn::GetAtt":["Table","Arn"]},"/index/*"]]}`
		stream  = `{"Fn::GetAtt":["Table","StreamArn"]}`
		letters = `{"Fn::GetAtt":["DeadLetters","Arn"]}`
	)
	for _, tpl := range []struct {
		stage string
		template
	}{{"dev", dev}, {"prod", prod}} {
		bucket := func(path string) string {
			return `{"Fn::Sub":"arn:${AWS::Partition}:s3:::assay-` + tpl.stage + `-${AWS::AccountId}-${AWS::Region}` + path + `"}`
		}
		for _, d := range functions.Deployments() {
			id := strings.ToUpper(d.Name[:1]) + d.Name[1:]
			log := `{"Fn::GetAtt":["` + id + `Log","Arn"]}`
			want := map[string][]string{
				"logs:CreateLogStream": {log}, "logs:PutLogEvents": {log},
			}
			if d.ReadsTable {
				want["dynamodb:GetItem"], want["dynamodb:BatchGetItem"], want["dynamodb:Query"] = []string{table}, []string{table}, []string{table, indexes}
			}
			if d.Writes() {
				for _, action := range []string{"PutItem", "DeleteItem", "ConditionCheckItem"} {
					want["dynamodb:"+action] = []string{table}
				}
			}
			for _, f := range d.Files {
				for action, given := range map[string]bool{"GetObject": f.Get, "PutObject": f.Put, "DeleteObject": f.Delete} {
					if given {
						want["s3:"+action] = append(want["s3:"+action], bucket("/"+string(f.Holder)+"/*"))
					}
				}
			}
			if d.Name == "evaluator" {
				want["s3:ListBucket"] = []string{bucket("")}
				for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"} {
					want["dynamodb:"+action] = []string{stream}
				}
				want["sqs:SendMessage"] = []string{letters}
				want["scheduler:CreateSchedule"] = []string{`{"Fn::Sub":"arn:${AWS::Partition}:scheduler:${AWS::Region}:${AWS::AccountId}:schedule/assay-` + tpl.stage + `-due/*"}`}
				want["iam:PassRole"] = []string{`{"Fn::Sub":"arn:${AWS::Partition}:iam::${AWS::AccountId}:role/assay-` + tpl.stage + `-due-schedules"}`}
			}
			if got := rightsOf(t, tpl.template, id+"Role"); !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s of %s may %s\nwant %s", d.Name, tpl.stage, compact(got), compact(want))
			}
		}
	}
}

func TestOnlyWhoEvaluatesAndWhatServesOrganizersGetTruths(t *testing.T) {
	for _, c := range []struct {
		template
		want []string
	}{{prod, []string{"DatasetsRole", "EvaluatorRole", "ToolsRole"}}, {withServer, []string{"DatasetsRole", "EvaluatorRole", "ServerRole", "ToolsRole"}}} {
		if may := whoGetsTruths(t, c.template); !slices.Equal(may, c.want) {
			t.Errorf("%v get truths, want %v", may, c.want)
		}
	}
}

func whoGetsTruths(t *testing.T, tpl template) (may []string) {
	for id := range tpl.all("AWS::IAM::Role") {
		for action, resources := range rightsOf(t, tpl, id) {
			for _, r := range resources {
				reaches := strings.Contains(r, "/truths/") || strings.Contains(r, "s3:::") && !strings.Contains(r, "}/")
				if reaches && (action == "s3:GetObject" || action == "s3:*" || strings.HasPrefix(action, "s3:GetObject")) {
					may = append(may, id)
				}
			}
		}
	}
	slices.Sort(may)
	return may
}

func TestFunctionsThatOnlyReadCannotWrite(t *testing.T) {
	for _, id := range []string{"ServiceRole", "EvaluationsRole", "ComponentsRole"} {
		for action := range rightsOf(t, prod, id) {
			switch action {
			case "logs:CreateLogStream", "logs:PutLogEvents", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "s3:GetObject":
			default:
				t.Errorf("%s may %s", id, action)
			}
		}
	}
}

func TestNoRightIsWiderThanAPrefix(t *testing.T) {
	for _, tpl := range []template{dev, prod, special, withServer} {
		for id := range tpl.all("AWS::IAM::Role") {
			for action, resources := range rightsOf(t, tpl, id) {
				if strings.Contains(action, "*") {
					t.Errorf("%s may %s", id, action)
				}
				for _, r := range resources {
					hasNothingNarrower := (strings.HasPrefix(action, "xray:") || action == "ecr:GetAuthorizationToken") && r == `"*"`
					if bare := strings.NewReplacer("/index/*", "", "/inputs/*", "", "/truths/*", "", "/runs/*", "", "/logs/*", "", "/evaluations/*", "", "/tools/*", "", "-due/*", "").Replace(r); strings.Contains(bare, "*") && !hasNothingNarrower {
						t.Errorf("%s may %s on %s", id, action, r)
					}
				}
			}
		}
	}
}

func TestTracesAreAskedFor(t *testing.T) {
	for id, f := range prod.all("AWS::Lambda::Function") {
		if f.Properties["TracingConfig"] != nil {
			t.Errorf("%s is traced unasked", id)
		}
		holds(t, special.Resources[id], map[string]string{"TracingConfig.Mode": `"Active"`})
	}
	if got := rightsOf(t, special, "RunsRole")["xray:PutTraceSegments"]; !slices.Equal(got, []string{`"*"`}) {
		t.Errorf("traces may be put to %v", got)
	}
}

func TestSchedulesMayWakeTheEvaluatorAndNothingElse(t *testing.T) {
	evaluator := `{"Fn::Sub":"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:assay-prod-evaluator"}`
	want := map[string][]string{"lambda:InvokeFunction": {evaluator}, "sqs:SendMessage": {`{"Fn::GetAtt":["DeadLetters","Arn"]}`}}
	if got := rightsOf(t, prod, "DueSchedulesRole"); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v", got)
	}
	holds(t, prod.Resources["DueSchedulesRole"], map[string]string{
		"RoleName": `"assay-prod-due-schedules"`,
		"AssumeRolePolicyDocument.Statement.0.Principal.Service":                            `"scheduler.amazonaws.com"`,
		"AssumeRolePolicyDocument.Statement.0.Condition.StringEquals.aws:SourceArn.Fn::Sub": `"arn:${AWS::Partition}:scheduler:${AWS::Region}:${AWS::AccountId}:schedule-group/assay-prod-due"`,
		"AssumeRolePolicyDocument.Statement.0.Condition.StringEquals.aws:SourceAccount":     `{"Ref":"AWS::AccountId"}`,
	})
	if text := string(prod.text); strings.Contains(text, "rate(") || strings.Contains(text, "cron(") || len(prod.all("AWS::Events::Rule")) > 0 || len(prod.all("AWS::Scheduler::Schedule")) > 0 {
		t.Error("something runs by the clock while nothing is due")
	}
}
