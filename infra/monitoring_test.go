package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/functions"
)

// term matches a comparison in a filter pattern.
var term = regexp.MustCompile(`^\(\$\.(\w+) (=|!=) "([^"]*)"\)$`)

// matchesLine reports whether a line of the access log matches a pattern of CloudWatch Logs. All terms of the pattern must hold.
func matchesLine(t *testing.T, pattern string, line map[string]string) bool {
	t.Helper()
	for part := range strings.SplitSeq(strings.Trim(pattern, "{} "), " && ") {
		m := term.FindStringSubmatch(part)
		if m == nil {
			t.Fatalf("%s: the term %s is of no known form", pattern, part)
		}
		if accessLog[m[1]] == nil {
			t.Fatalf("%s: the access log has no %s", pattern, m[1])
		}
		// An asterisk in the pattern matches any text. In path.Match it does not match slashes.
		unslashed := func(s string) string { return strings.ReplaceAll(s, "/", ":") }
		equal, err := path.Match(unslashed(strings.NewReplacer("{", `\{`).Replace(m[3])), unslashed(line[m[1]]))
		if err != nil {
			t.Fatal(err)
		}
		if equal != (m[2] == "=") {
			return false
		}
	}
	return true
}

// TestAlarms_AreRaisedByFaultsAlone checks the alarms against lines of the access log like those of API Gateway. functionStatus is
// Lambda's answer to the gateway: 429 when a concurrency limit is reached, and 200 even if the function answers 500.
func TestAlarms_AreRaisedByFaultsAlone(t *testing.T) {
	for _, c := range []struct {
		name, route, status, functionStatus string
		prod, dev                           string // raised alarms
	}{
		{"an answer", "ANY /v1/tasks", "200", "200", "", ""},
		{"a request that is refused", "ANY /v1/tasks", "422", "200", "", ""},
		{"the throttle of the stage", "ANY /v1/tasks", "429", "-", "", ""},
		{"a function that fails", "ANY /v1/tasks", "500", "200", "Errors", "Errors"},
		{"one that runs out of time", "ANY /v1/tools/{tool}", "503", "-", "Errors", "Errors"},
		{"the table throttles", "ANY /v1/tasks/{taskId}/submissions", "503", "200", "Errors", "Errors"},
		{"a flood of submissions", "ANY /v1/tasks/{taskId}/submissions", "503", "429", "", "Throttles"},
		{"a flood of computations", "ANY /v1/tools/{tool}", "503", "429", "", "Throttles"},
		{"the account's limit", "ANY /v1/tasks", "503", "429", "Throttles", "Throttles"},
		{"the account's limit, at no route", "$default", "500", "429", "Throttles", "Throttles"},
	} {
		for i, tpl := range []template{prod, dev} {
			want := []string{c.prod, c.dev}[i]
			line := map[string]string{"route": c.route, "status": c.status, "functionStatus": c.functionStatus}
			var raised []string
			for _, f := range tpl.all("AWS::Logs::MetricFilter") {
				if matchesLine(t, f.Properties["FilterPattern"].(string), line) {
					raised = append(raised, strings.Trim(f.at("MetricTransformations.0.MetricName"), `"`))
				}
			}
			if got := strings.Join(raised, " "); got != want {
				t.Errorf("%s raises %q, want %q", c.name, got, want)
			}
		}
	}
	for _, a := range prod.all("AWS::CloudWatch::Alarm") {
		if namespace, metric := a.at("Namespace"), a.at("MetricName"); namespace == `"AWS/ApiGateway"` && metric == `"5xx"` ||
			namespace == `"AWS/Lambda"` && metric == `"Throttles"` {
			t.Errorf("%s %s counts what is so by design", namespace, metric)
		}
	}
}

// TestAlarms_AreOfTheMetricsOfTheirLines checks that each filter writes the metric that its alarm reads. Otherwise the alarm would never
// be raised.
func TestAlarms_AreOfTheMetricsOfTheirLines(t *testing.T) {
	for _, tpl := range []template{dev, prod} {
		var made, watched []string
		for _, f := range tpl.all("AWS::Logs::MetricFilter") {
			if f.at("LogGroupName") != `{"Ref":"ApiLog"}` {
				t.Errorf("lines of %s are counted", f.at("LogGroupName"))
			}
			made = append(made, f.at("MetricTransformations.0.MetricNamespace")+f.at("MetricTransformations.0.MetricName"))
		}
		for _, a := range tpl.all("AWS::CloudWatch::Alarm") {
			if namespace := a.at("Namespace"); !strings.HasPrefix(namespace, `"AWS/`) {
				watched = append(watched, namespace+a.at("MetricName"))
			}
		}
		slices.Sort(made)
		slices.Sort(watched)
		if !slices.Equal(made, watched) || len(made) != 2 {
			t.Errorf("counted are %v, watched %v", made, watched)
		}
	}
}

// TestThrottles_AreByDesignOnRoutesOfLimitedFunctions checks that the patterns except all routes of limited functions, including new ones.
func TestThrottles_AreByDesignOnRoutesOfLimitedFunctions(t *testing.T) {
	pattern := prod.Resources["ThrottlesLines"].Properties["FilterPattern"].(string)
	limited := stages[1].Concurrency
	for _, d := range functions.Deployments() {
		for _, route := range d.Routes() {
			_, byDesign := limited[d.Name]
			line := map[string]string{"route": route, "status": "503", "functionStatus": "429"}
			// Another function lists a user's submissions. The pattern treats that route like those of the limited function.
			if got := matchesLine(t, pattern, line); got == byDesign && !(d.Name == "users" && strings.HasSuffix(route, "/submissions")) {
				t.Errorf("%s of %s throttled raises the alarm: %t", route, d.Name, got)
			}
		}
	}
}

// TestUploads_DoNotWaitForEvaluations checks that the bucket notifies another function than the stream, so that a backlog of evaluations
// does not delay uploads, and that the function has reserved concurrency.
func TestUploads_DoNotWaitForEvaluations(t *testing.T) {
	for _, tpl := range []template{dev, prod} {
		behindStream := tpl.Resources["BackgroundStream"].at("FunctionName.Ref")
		notified := tpl.Resources["Bucket"].at("NotificationConfiguration.LambdaConfigurations")
		if n := strings.Count(notified, `"Fn::GetAtt":["UploadsFunction","Arn"]`); n != len(uploaded) || behindStream != `"BackgroundFunction"` {
			t.Errorf("the stream calls %s, and the bucket notifies %s", behindStream, notified)
		}
	}
	if n := prod.Resources["UploadsFunction"].at("ReservedConcurrentExecutions"); n == "null" || n == "0" {
		t.Errorf("%s instances are for uploads alone", n)
	}
}

// TestFileLog_IsOfEachAccess checks the log that shows who read a ground truth.
func TestFileLog_IsOfEachAccess(t *testing.T) {
	if got := prod.Resources["Bucket"].at("LoggingConfiguration.DestinationBucketName"); got != `{"Ref":"FileLog"}` {
		t.Errorf("what is done to files is written into %s", got)
	}
	statement := prod.Resources["FileLogPolicy"].at("PolicyDocument.Statement.0")
	for _, want := range []string{`"Action":"s3:PutObject"`, `"Principal":{"Service":"logging.s3.amazonaws.com"}`, `"aws:SourceAccount"`, `"aws:SourceArn"`} {
		if !strings.Contains(statement, want) {
			t.Errorf("the log is written with the right %s, without %s", statement, want)
		}
	}
	for _, bucket := range []string{"Bucket", "FileLog"} {
		policy := prod.Resources[bucket+"Policy"].at("PolicyDocument.Statement")
		if prod.Resources[bucket].at("PublicAccessBlockConfiguration.RestrictPublicBuckets") != "true" || !strings.Contains(policy, "TLSOnly") {
			t.Errorf("%s is not closed to the public, or open without TLS: %s", bucket, policy)
		}
	}
}
