package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/service/config"
)

// stackOf returns what the CDK's command line learns about a stack.
func stackOf(t *testing.T, tpl template) (protected bool, warnings []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(tpl.folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Artifacts map[string]struct {
			Type       string
			Properties struct{ TerminationProtection bool }
			Metadata   map[string][]struct {
				Type string
				Data any
			}
			AdditionalMetadataFile string
		}
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		t.Fatal(err)
	}
	for _, a := range manifest.Artifacts {
		if a.Type != "aws:cloudformation:stack" {
			continue
		}
		protected = a.Properties.TerminationProtection
		if a.AdditionalMetadataFile != "" {
			content, err := os.ReadFile(filepath.Join(tpl.folder, a.AdditionalMetadataFile))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(content, &a.Metadata); err != nil {
				t.Fatal(err)
			}
		}
		for _, list := range a.Metadata {
			for _, m := range list {
				if m.Type == "aws:cdk:warning" {
					warnings = append(warnings, compact(m.Data))
				}
			}
		}
	}
	return protected, warnings
}

// TestFirstDeployment_CanBeRolledBack checks that a failed first deployment can be repeated. Retained resources would keep the names
// that the next deployment needs, and a protected stack could not be deleted.
func TestFirstDeployment_CanBeRolledBack(t *testing.T) {
	retained := 0
	for name, tpl := range map[string]template{"prod": prod, "first": first, "special": special, "with the server": withServer, "dev": dev} {
		for id, r := range tpl.Resources {
			switch r.DeletionPolicy {
			case "Retain":
				t.Errorf("%s: %s stays when its creation is rolled back", name, id)
			case "RetainExceptOnCreate":
				retained++
			}
		}
	}
	if retained < 4*4 {
		t.Errorf("%d resources keep their data when a stack goes", retained)
	}
	for _, c := range []struct {
		name string
		template
		protected bool
	}{{"prod", prod, true}, {"its first deployment", first, false}, {"dev", dev, false}} {
		table := c.one(t, "AWS::DynamoDB::Table").at("DeletionProtectionEnabled")
		pool := c.one(t, "AWS::Cognito::UserPool").at("DeletionProtection")
		stack, _ := stackOf(t, c.template)
		if (table == "true") != c.protected || (pool == `"ACTIVE"`) != c.protected || stack != c.protected {
			t.Errorf("%s: the table is protected: %s, the user pool: %s, the stack: %t", c.name, table, pool, stack)
		}
	}
}

// TestDeploy_ProtectsStacksThatAreComplete runs the script with stand-ins for the commands of the CDK and AWS, which record their calls.
// Without a terminal, no command may prompt.
func TestDeploy_ProtectsStacksThatAreComplete(t *testing.T) {
	const (
		first = "cdk deploy -c stage=prod -c protect=false"
		again = "cdk deploy -c stage=prod"
		check = "go run ./local check -store dynamodb -table the-table"
	)
	for _, c := range []struct {
		complete string // AWS's answer
		failing  string // the command that fails
		want     []string
	}{
		{"0", "", []string{"cdk bootstrap", first, check, again}},
		{"0", first, []string{"cdk bootstrap", first}},
		{"1", "", []string{"cdk bootstrap", check, again}},
		{"1", check, []string{"cdk bootstrap", check}},
		{"none", "aws", []string{"cdk bootstrap"}},
	} {
		folder := t.TempDir()
		for path, script := range map[string]string{
			"node_modules/.bin/cdk": `if [ "$1" = list ]; then case "$*" in *--no-notices*) ;; *) echo NOTICES ;; esac; echo assay-prod; exit; fi
				echo cdk "$*" >> "$CALLS"; [ "cdk $*" != "$FAILING" ]`,
			"node_modules/.bin/aws": `case "$*" in *"StackName=='assay-prod'"*) echo "$COMPLETE" ;; *"--stack-name assay-prod "*) echo the-table ;; esac
				[ "$FAILING" != aws ]`,
			"node_modules/.bin/go": `echo go "$*" >> "$CALLS"; [ "go $*" != "$FAILING" ]`,
		} {
			if err := writeFile(filepath.Join(folder, path), []byte("#!/bin/sh\n"+script+"\n")); err != nil {
				t.Fatal(err)
			}
		}
		script, err := filepath.Abs("deploy.sh")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", script, "-c", "stage=prod")
		calls := filepath.Join(folder, "calls")
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "CALLS="+calls, "COMPLETE="+c.complete, "FAILING="+c.failing)
		if out, err := cmd.CombinedOutput(); (err != nil) != (c.failing != "") {
			t.Errorf("%+v: %v\n%s", c, err, out)
		}
		content, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSpace(string(content)), "\n"); !slices.Equal(got, c.want) {
			t.Errorf("%s complete stacks, %q failing: %q, want %q", c.complete, c.failing, got, c.want)
		}
	}
	content, err := os.ReadFile("cdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var settings struct{ RequireApproval string }
	if err := json.Unmarshal(content, &settings); err != nil || settings.RequireApproval != "never" {
		t.Errorf("the CDK asks before it changes rights, and fails without a terminal: %q, %v", settings.RequireApproval, err)
	}
}

// TestMails_AreLimitedWithoutSES checks the warning about Cognito's limit. On the day on which a task is announced, more people sign up
// than Cognito sends codes.
func TestMails_AreLimitedWithoutSES(t *testing.T) {
	const identity = "arn:aws:ses:eu-central-1:123456789012:identity/lab.example"
	var withSES template
	if err := synthesize(t.TempDir(), map[string]any{
		"stage": "prod", "alarmEmail": "none", "mailFrom": "Assay <assay@lab.example>", "mailIdentity": identity}, &withSES); err != nil {
		t.Fatal(err)
	}
	if got := withSES.one(t, "AWS::Cognito::UserPool").at("EmailConfiguration"); got !=
		`{"EmailSendingAccount":"DEVELOPER","From":"Assay <assay@lab.example>","SourceArn":"`+identity+`"}` {
		t.Errorf("the pool sends mails by %s", got)
	}
	var told []string
	for _, f := range withSES.all("AWS::Lambda::Function") {
		if f.at("Environment.Variables."+config.MailFromVariable) != "null" {
			told = append(told, strings.Trim(f.at("FunctionName"), `"`))
		}
	}
	slices.Sort(told) // The notifier sends the e-mails, and GET /info of the service says that it does.
	if len(told) != 2 || !strings.HasSuffix(told[0], functions.Notifier) || !strings.HasSuffix(told[1], functions.Service) {
		t.Errorf("the sender of e-mails is known to %q", told)
	}
	for name, c := range map[string]struct {
		template
		warned bool
	}{"prod": {prod, true}, "prod with SES": {withSES, false}, "prod with another issuer": {special, false}, "dev": {dev, false}} {
		_, warnings := stackOf(t, c.template)
		if warned := strings.Contains(strings.Join(warnings, " "), "50 mails a day"); warned != c.warned {
			t.Errorf("%s is warned of the limit of mails: %t, %q", name, warned, warnings)
		}
	}
}

// TestREADME_NamesASnippetThatScores checks the id of the snippet that the last command of a first deployment fetches.
func TestREADME_NamesASnippetThatScores(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	component, err := os.ReadFile("../functions/components/catalogue/evaluator-retrieval/component.json")
	if err != nil {
		t.Fatal(err)
	}
	var of struct{ ID string }
	err = json.Unmarshal(component, &of)
	if err != nil || !strings.Contains(string(readme), "/v1/platform/components/"+of.ID+"/snippet | python3") {
		t.Errorf("README.md does not name %q, %v", of.ID, err)
	}
}

func TestBudget_TellsBeforeItIsSpent(t *testing.T) {
	b := prod.one(t, "AWS::Budgets::Budget")
	for want, got := range map[string]string{
		`{"Amount":50,"Unit":"USD"}`:  b.at("Budget.BudgetLimit"),
		`{"Amount":120,"Unit":"USD"}`: withServer.one(t, "AWS::Budgets::Budget").at("Budget.BudgetLimit"),
	} {
		if got != want {
			t.Errorf("the budget is %s, want %s", got, want)
		}
	}
	for i, want := range []string{`"ACTUAL"`, `"FORECASTED"`} {
		n := "NotificationsWithSubscribers." + string(rune('0'+i))
		if b.at(n+".Notification.NotificationType") != want || b.at(n+".Subscribers") != `[{"Address":"ada@lab.example","SubscriptionType":"EMAIL"}]` {
			t.Errorf("notification %d is %s", i, b.at(n))
		}
	}
	for name, tpl := range map[string]template{"dev": dev, "alarmEmail=none": special} {
		if n := len(tpl.all("AWS::Budgets::Budget")); n != 0 {
			t.Errorf("%s has %d budgets that notify nobody", name, n)
		}
	}
}
