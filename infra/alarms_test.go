package main

import (
	"regexp"
	"strings"
	"testing"

	"assay/functions"
)

// TestAlarmsOfBothStagesAreFree counts metrics, which is what is paid for, and not alarms: ten of an account are free.
func TestAlarmsOfBothStagesAreFree(t *testing.T) {
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

func TestAlarms(t *testing.T) {
	for id, want := range map[string]map[string]string{
		"ErrorsAlarm":      {"Namespace": `"AWS/ApiGateway"`, "MetricName": `"5xx"`, "Statistic": `"Sum"`, "Dimensions": `[{"Name":"ApiId","Value":{"Ref":"Api"}}]`},
		"LatencyAlarm":     {"Namespace": `"AWS/ApiGateway"`, "MetricName": `"Latency"`, "ExtendedStatistic": `"p99"`, "Statistic": "null"},
		"ThrottlesAlarm":   {"Namespace": `"AWS/Lambda"`, "MetricName": `"Throttles"`, "Dimensions": "null"},
		"QueueAgeAlarm":    {"Namespace": `"AWS/Lambda"`, "MetricName": `"IteratorAge"`, "Dimensions": `[{"Name":"FunctionName","Value":"assay-prod-evaluator"}]`},
		"DeadLettersAlarm": {"Namespace": `"AWS/SQS"`, "MetricName": `"ApproximateNumberOfMessagesVisible"`, "Threshold": "0", "Dimensions": `[{"Name":"QueueName","Value":{"Fn::GetAtt":["DeadLetters","QueueName"]}}]`},
	} {
		holds(t, prod.Resources[id], want)
		holds(t, prod.Resources[id], map[string]string{
			"TreatMissingData": `"notBreaching"`, "AlarmActions": `[{"Ref":"Alarms"}]`, "OKActions": `[{"Ref":"Alarms"}]`, "ComparisonOperator": `"GreaterThanThreshold"`,
		})
	}
	if n := len(prod.all("AWS::CloudWatch::Alarm")); n != 5 {
		t.Errorf("%d alarms", n)
	}
	if n := len(prod.all("AWS::SNS::Subscription")); n != 0 {
		t.Errorf("%d are told, though nobody was named", n)
	}
	holds(t, special.one(t, "AWS::SNS::Subscription"), map[string]string{"Protocol": `"email"`, "Endpoint": `"ada@lab.example"`, "TopicArn.Ref": `"Alarms"`})
}

// TestEveryFunctionIsWatched holds that a failure of any function moves a metric with an alarm: those behind the API its
// 5xx and latency, the one behind the queue the age of the stream and the dead letters.
func TestEveryFunctionIsWatched(t *testing.T) {
	behind := map[string]bool{}
	for _, i := range prod.all("AWS::ApiGatewayV2::Integration") {
		behind[strings.Trim(i.at("IntegrationUri.Fn::GetAtt.0"), `"`)] = true
	}
	behind[strings.Trim(prod.one(t, "AWS::Lambda::EventSourceMapping").at("FunctionName.Ref"), `"`)] = true
	for id := range prod.all("AWS::Lambda::Function") {
		if !behind[id] {
			t.Errorf("no alarm would tell that %s fails", id)
		}
	}
}

var metric = regexp.MustCompile(`\[\\"AWS/`)

func TestTheDashboardIsFreeAndShowsEveryFunction(t *testing.T) {
	body := prod.one(t, "AWS::CloudWatch::Dashboard").at("DashboardBody")
	if n := len(metric.FindAllString(body, -1)); n == 0 || n > 50 {
		t.Errorf("%d metrics; an account has dashboards of up to 50 for nothing", n)
	}
	for _, d := range functions.Deployments() {
		if n := strings.Count(body, `\"assay-prod-`+d.Name+`\"`); n < 2 { // errors and duration
			t.Errorf("%s stands in %d graphs", d.Name, n)
		}
	}
}
