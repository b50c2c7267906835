package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"assay/functions"
)

// TestRoutes_AreTheDeclaredOperations follows each route to the function that answers.
func TestRoutes_AreTheDeclaredOperations(t *testing.T) {
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
			if err := json.Unmarshal([]byte(tpl.Resources[integration].at("IntegrationUri.Fn::GetAtt.0")), &function); err != nil {
				t.Fatal(integration, err)
			}
			got[key] = function
		}
		if !maps.Equal(got, want) {
			t.Errorf("routes lead to\n%v, want\n%v", got, want)
		}
	}
}
