package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/functions"
)

// TestRoutesAreTheDeclaredOperations follows each route to the function that answers.
func TestRoutesAreTheDeclaredOperations(t *testing.T) {
	want := map[string]string{"$default": "ServiceFunction"}
	for _, d := range functions.Deployments() {
		id := strings.ToUpper(d.Name[:1]) + d.Name[1:] + "Function"
		for _, o := range d.Operations {
			path := strings.ReplaceAll(o.Path, "{$}", "")
			want[o.Method+" "+path] = id
			if o.Method == "GET" {
				want["HEAD "+path] = id
			}
		}
	}
	for _, tpl := range []template{dev, prod, special} {
		got := map[string]string{}
		for id, r := range tpl.all("AWS::ApiGatewayV2::Route") {
			key := r.Properties["RouteKey"].(string)
			if _, twice := got[key]; twice {
				t.Errorf("%s: a second route for %s", id, key)
			}
			if strings.ContainsAny(key, "$") && key != "$default" {
				t.Errorf("%s: %s is a pattern of net/http", id, key)
			}
			var integration, function string
			if err := json.Unmarshal([]byte(r.at("Target.Fn::Join.1.1.Ref")), &integration); err != nil {
				t.Fatal(id, err)
			}
			target := tpl.Resources[integration]
			if err := json.Unmarshal([]byte(target.at("IntegrationUri.Fn::GetAtt.0")), &function); err != nil {
				t.Fatal(integration, err)
			}
			holds(t, target, map[string]string{"IntegrationType": `"AWS_PROXY"`, "PayloadFormatVersion": `"2.0"`, "TimeoutInMillis": "30000"})
			got[key] = function
		}
		if !maps.Equal(got, want) {
			t.Errorf("routes lead to\n%v, want\n%v", got, want)
		}
	}
}

func TestTheAPIMayCallEachFunctionBehindIt(t *testing.T) {
	for _, d := range functions.Deployments() {
		if len(d.Operations) == 0 {
			continue
		}
		id := strings.ToUpper(d.Name[:1]) + d.Name[1:]
		holds(t, prod.Resources[id+"Permission"], map[string]string{
			"Action": `"lambda:InvokeFunction"`, "Principal": `"apigateway.amazonaws.com"`, "FunctionName.Ref": `"` + id + `Function"`,
			"SourceArn": `{"Fn::Join":["",[{"Fn::Sub":"arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:"},{"Ref":"Api"},"/*"]]}`,
		})
	}
	// The tenth is of the bucket, for uploads.
	if n := len(prod.all("AWS::Lambda::Permission")); n != len(functions.Families())+1 {
		t.Errorf("%d permissions", n)
	}
}

func TestTheAPIThrottlesAndLogs(t *testing.T) {
	for _, c := range []struct {
		template
		rate, burst, days string
	}{{dev, "50", "100", "14"}, {prod, "2000", "1000", "90"}} {
		stage := c.one(t, "AWS::ApiGatewayV2::Stage")
		holds(t, stage, map[string]string{
			"StageName": `"$default"`, "AutoDeploy": "true",
			"DefaultRouteSettings.ThrottlingRateLimit": c.rate, "DefaultRouteSettings.ThrottlingBurstLimit": c.burst,
			"AccessLogSettings.DestinationArn": `{"Fn::GetAtt":["ApiLog","Arn"]}`,
		})
		holds(t, c.Resources["ApiLog"], map[string]string{"RetentionInDays": c.days})
		var fields map[string]string
		if err := json.Unmarshal([]byte(stage.Properties["AccessLogSettings"].(map[string]any)["Format"].(string)), &fields); err != nil {
			t.Fatal(err)
		}
		for name, value := range fields {
			if !strings.HasPrefix(value, "$context.") {
				t.Errorf("the access log has %q as %s", value, name)
			}
		}
		if values := slices.Collect(maps.Values(fields)); !slices.Contains(values, "$context.requestId") || !slices.Contains(values, "$context.status") || !slices.Contains(values, "$context.routeKey") {
			t.Errorf("the access log has %v", fields)
		}
		holds(t, c.one(t, "AWS::ApiGatewayV2::Api"), map[string]string{
			"ProtocolType": `"HTTP"`, "CorsConfiguration": "null", "DisableExecuteApiEndpoint": "false",
		})
	}
}

func TestACustomDomainIsTheOnlyWayIn(t *testing.T) {
	holds(t, special.one(t, "AWS::ApiGatewayV2::Api"), map[string]string{"DisableExecuteApiEndpoint": "true"})
	holds(t, special.one(t, "AWS::ApiGatewayV2::DomainName"), map[string]string{
		"DomainName": `"api.lab.example"`, "DomainNameConfigurations.0.SecurityPolicy": `"TLS_1_2"`,
		"DomainNameConfigurations.0.CertificateArn": `"arn:aws:acm:eu-central-1:123456789012:certificate/one"`,
	})
	holds(t, special.one(t, "AWS::ApiGatewayV2::ApiMapping"), map[string]string{"ApiId.Ref": `"Api"`, "DomainName.Ref": `"Domain"`, "Stage.Ref": `"ApiStage"`})
	if got := special.Outputs["ApiUrl"].Value; got != "https://api.lab.example" {
		t.Errorf("the API is at %v", got)
	}
	if _, ok := special.Outputs["DomainTarget"]; !ok {
		t.Error("nobody is told where the domain must lead")
	}
}

func TestOutputsSayWhereEverythingIs(t *testing.T) {
	want := []string{"ApiUrl", "Audience", "BucketName", "DashboardUrl", "DeadLettersUrl", "DocsUrl", "Issuer", "SignInUrl", "TableName"}
	for _, tpl := range []template{dev, prod} {
		if got := slices.Sorted(maps.Keys(tpl.Outputs)); !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	}
}
