package resource

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/shared/api"
)

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
