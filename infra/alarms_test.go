package main

import (
	"regexp"
	"strings"
	"testing"

	"assay/functions"
)

// TestAlarms_OfBothStagesAreFree counts metrics, which is what is paid for, and not alarms: ten of an account are free.
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

// TestAlarms_WatchEveryFunction holds that a failure of any function moves a metric with an alarm: those behind the API its
// 5xx and latency, the one behind the queue the age of the stream and the dead letters.
func TestAlarms_WatchEveryFunction(t *testing.T) {
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
		if shown := strings.Contains(body, "AWS/ECS"); shown != (len(tpl.all("AWS::ECS::Service")) > 0) {
			t.Errorf("the dashboard shows the gRPC server: %t", shown)
		}
	}
}
