package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/functions"
)

func TestEachFunctionIsDeployedAsItsFactsSay(t *testing.T) {
	for _, c := range []struct {
		template
		stage string
		days  string
	}{{dev, "dev", "14"}, {prod, "prod", "90"}} {
		deployed := c.all("AWS::Lambda::Function")
		if len(deployed) != len(functions.Deployments()) {
			t.Errorf("%d functions", len(deployed))
		}
		for _, d := range functions.Deployments() {
			id, table := strings.ToUpper(d.Name[:1])+d.Name[1:], "null"
			if d.ReadsTable {
				table = `{"Ref":"Table"}`
			}
			holds(t, deployed[id+"Function"], map[string]string{
				"FunctionName":                       fmt.Sprintf(`"assay-%s-%s"`, c.stage, d.Name),
				"Architectures":                      `["arm64"]`,
				"Runtime":                            `"provided.al2023"`,
				"MemorySize":                         fmt.Sprint(d.MemoryMB),
				"Timeout":                            fmt.Sprint(d.Timeout.Seconds()),
				"Role":                               `{"Fn::GetAtt":["` + id + `Role","Arn"]}`,
				"LoggingConfig":                      `{"LogFormat":"JSON","LogGroup":{"Ref":"` + id + `Log"}}`,
				"Environment.Variables.ASSAY_TABLE":  table,
				"Environment.Variables.ASSAY_BUCKET": `{"Fn::Sub":"assay-` + c.stage + `-${AWS::AccountId}-${AWS::Region}"}`,
			})
			holds(t, c.Resources[id+"Log"], map[string]string{
				"LogGroupName": fmt.Sprintf(`"/aws/lambda/assay-%s-%s"`, c.stage, d.Name), "RetentionInDays": c.days,
			})
			if len(d.Operations) > 0 {
				holds(t, deployed[id+"Function"], map[string]string{
					"Environment.Variables.ASSAY_ISSUER":   `{"Fn::Join":["",["https://",{"Fn::GetAtt":["Users","ProviderName"]}]]}`,
					"Environment.Variables.ASSAY_AUDIENCE": `{"Ref":"SignInClient"}`,
					"Environment.Variables.ASSAY_ORIGINS":  `"*"`,
				})
			}
		}
		for id, log := range c.all("AWS::Logs::LogGroup") {
			if log.Properties["RetentionInDays"] == nil {
				t.Errorf("%s keeps its lines for ever", id)
			}
		}
	}
}

// TestConcurrencyIsLimitedWhereItProtectsOthers also holds dev to none: a new account has no concurrency to set apart.
func TestConcurrencyIsLimitedWhereItProtectsOthers(t *testing.T) {
	for id := range dev.all("AWS::Lambda::Function") {
		limit := map[string]string{"SubmissionsFunction": "100", "EvaluatorFunction": "20", "ToolsFunction": "50"}[id]
		if limit == "" {
			limit = "null"
		}
		holds(t, dev.Resources[id], map[string]string{"ReservedConcurrentExecutions": "null"})
		holds(t, prod.Resources[id], map[string]string{"ReservedConcurrentExecutions": limit})
	}
}

func TestTheStreamWakesTheEvaluatorForWorkAlone(t *testing.T) {
	for _, c := range []struct {
		template
		parallel string
	}{{dev, "2"}, {prod, "10"}} {
		m := c.one(t, "AWS::Lambda::EventSourceMapping")
		holds(t, m, map[string]string{
			"FunctionName.Ref": `"EvaluatorFunction"`, "EventSourceArn": `{"Fn::GetAtt":["Table","StreamArn"]}`, "StartingPosition": `"TRIM_HORIZON"`,
			"FunctionResponseTypes": `["ReportBatchItemFailures"]`, "BisectBatchOnFunctionError": "true",
			"MaximumRetryAttempts": "5", "MaximumRecordAgeInSeconds": "21600", "ParallelizationFactor": c.parallel,
			"DestinationConfig.OnFailure.Destination": `{"Fn::GetAtt":["DeadLetters","Arn"]}`,
		})
		var criteria struct{ Filters []struct{ Pattern string } }
		if err := json.Unmarshal([]byte(m.at("FilterCriteria")), &criteria); err != nil {
			t.Fatal(err)
		}
		want := []string{
			`{"dynamodb":{"NewImage":{"p6":{"S":[{"prefix":"QUEUE#"}]}}}}`,
			`{"dynamodb":{"NewImage":{"p6":{"S":["DUE"]}}}}`,
		}
		for i, f := range criteria.Filters {
			if i >= len(want) || f.Pattern != want[i] {
				t.Errorf("filter %d is %s", i, f.Pattern)
			}
		}
		if len(criteria.Filters) != len(want) {
			t.Errorf("%d filters", len(criteria.Filters))
		}
	}
}

func TestUploadsWakeTheEvaluator(t *testing.T) {
	bucket := prod.one(t, "AWS::S3::Bucket")
	for i, prefix := range []string{"inputs/", "truths/", "runs/"} {
		at := fmt.Sprintf("NotificationConfiguration.LambdaConfigurations.%d.", i)
		holds(t, bucket, map[string]string{
			at + "Event": `"s3:ObjectCreated:*"`, at + "Function": `{"Fn::GetAtt":["EvaluatorFunction","Arn"]}`,
			at + "Filter.S3Key.Rules": `[{"Name":"prefix","Value":"` + prefix + `"}]`,
		})
	}
	holds(t, bucket, map[string]string{"NotificationConfiguration.LambdaConfigurations.3": "null"}) // what it writes itself wakes it never
	if len(bucket.DependsOn) != 1 || bucket.DependsOn[0] != "EvaluatorUploadsPermission" {
		t.Errorf("the bucket waits for %v", bucket.DependsOn)
	}
	holds(t, prod.Resources["EvaluatorUploadsPermission"], map[string]string{
		"Principal": `"s3.amazonaws.com"`, "SourceAccount": `{"Ref":"AWS::AccountId"}`,
		"SourceArn": `{"Fn::Sub":"arn:${AWS::Partition}:s3:::assay-prod-${AWS::AccountId}-${AWS::Region}"}`,
	})
	holds(t, prod.one(t, "AWS::Lambda::EventInvokeConfig"), map[string]string{
		"FunctionName.Ref": `"EvaluatorFunction"`, "MaximumRetryAttempts": "2", "DestinationConfig.OnFailure.Destination": `{"Fn::GetAtt":["DeadLetters","Arn"]}`,
	})
	holds(t, prod.one(t, "AWS::SQS::Queue"), map[string]string{"MessageRetentionPeriod": "1209600", "SqsManagedSseEnabled": "true"})
}

func TestPeopleSignInWithoutSecrets(t *testing.T) {
	holds(t, prod.one(t, "AWS::Cognito::UserPoolClient"), map[string]string{
		"GenerateSecret": "false", "AllowedOAuthFlows": `["code"]`, "AllowedOAuthFlowsUserPoolClient": "true", "PreventUserExistenceErrors": `"ENABLED"`,
		"AllowedOAuthScopes": `["openid","email","profile"]`,
	})
	holds(t, prod.one(t, "AWS::Cognito::UserPool"), map[string]string{
		"AutoVerifiedAttributes": `["email"]`, "UsernameAttributes": `["email"]`, "MfaConfiguration": `"OPTIONAL"`,
		"Policies.PasswordPolicy.MinimumLength": "12",
	})
	holds(t, prod.Resources["AdminsGroup"], map[string]string{"GroupName": `"admins"`})
	holds(t, prod.Resources["WorkersGroup"], map[string]string{"GroupName": `"workers"`})
	for id, r := range special.Resources {
		if strings.HasPrefix(r.Type, "AWS::Cognito::") {
			t.Errorf("%s is there beside an issuer from elsewhere", id)
		}
	}
	holds(t, special.Resources["RunsFunction"], map[string]string{
		"Environment.Variables.ASSAY_ISSUER": `"https://login.example"`, "Environment.Variables.ASSAY_AUDIENCE": `"assay"`,
		"Environment.Variables.ASSAY_ORIGINS": `"https://a.example,https://b.example"`,
	})
}
