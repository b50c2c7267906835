package resource

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/shared/api"
)

// What users write links to http alone, and the service's own addresses stay on the server.
func TestAddress_LeadsToKnownPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"/v1/tasks/1": "/v1/tasks/1", "https://example.org/": "https://example.org/", "//example.org": "", "javascript:alert(1)": "", "data:text/html,x": "",
	} {
		v := value{name: "url", text: text, literal: true}
		if got := v.address(&value{}); got != want {
			t.Errorf("%s leads to %q, want %q", text, got, want)
		}
	}
}

// A page keeps of a large document what it shows.
func TestParse_KeepsTheFirstEntries(t *testing.T) {
	text := `{"name":"large","perTopic":[` + strings.Repeat("1,", 9_999) + `1]}`
	v, err := parse(json.NewDecoder(strings.NewReader(text)), "")
	if err != nil {
		t.Fatal(err)
	}
	if all := v.find("perTopic"); len(all.entries) > 2*maxEntries || all.count != 10_000 || len(all.members()) != maxEntries {
		t.Errorf("%d entries of %d, %d of them shown", len(all.entries), all.count, len(all.members()))
	}
	body, _, err := Render(t.Context(), api.Shown{Title: "Return an evaluation", Path: "/v1/evaluations/1", JSON: []byte(text)})
	if err != nil || !strings.Contains(string(body), "9800 more are in the JSON.") {
		t.Errorf("%v: %s", err, body)
	}
}
