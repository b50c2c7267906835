package functions_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

func TestDataset_TrainingTruthCanBePublic(t *testing.T) {
	const labels, others = "id,label\n1,a\n", "id,label\n1,a\n2,b\n"
	p := newPlatform(t, nil)
	withTruth := func(split string, public bool, content string) map[string]any {
		return map[string]any{"split": split, "truthsPublic": public, "truths": []any{servertest.Inline("labels.csv", content)}}
	}
	for _, split := range []string{"validation", "test"} {
		body := newDatasetBody(servertest.ID(p.task))
		maps.Copy(body, withTruth(split, true, labels))
		p.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, "/v1/datasets", body)
	}
	path := p.newDataset(withTruth("training", false, labels))
	truths := func(user string) []record.File { return servertest.Get[record.Dataset](p.Server, user, path).Truths }
	evaluate := map[string]any{
		"runs":  []any{map[string]any{"files": []any{map[string]any{"name": "run.csv", "text": labels}}}},
		"truth": map[string]any{"datasetId": servertest.ID(path)}, "measures": []string{"Accuracy"},
	}
	const tool = "/v1/tools/evaluator"
	if shown := truths(""); shown != nil {
		t.Fatalf("a hidden truth is shown: %+v", shown)
	}
	p.Want(http.StatusForbidden, nil, "tom", http.MethodPost, tool, evaluate)
	p.change("olga", path, map[string]any{"truthsPublic": true})
	for _, user := range []string{"", "tom", "olga"} {
		shown := truths(user)
		if len(shown) != 1 || shown[0].URL == "" {
			t.Fatalf("%q sees %+v", user, shown)
		}
		if a := p.Want(http.StatusOK, nil, "", http.MethodGet, shown[0].URL, nil); string(a.Body) != labels {
			t.Errorf("%q gets %s", user, a.Body)
		}
	}
	p.Want(http.StatusOK, nil, "tom", http.MethodPost, tool, evaluate)
	if e := p.auditEntries("olga", p.organizer+"/audit-entries?filter[action]=dataset.changed"); len(e) != 1 ||
		!strings.Contains(string(e[0].Before), `"truthsPublic":false`) || !strings.Contains(string(e[0].After), `"truthsPublic":true`) {
		t.Errorf("%+v", e)
	}
	// What everyone may have does not become hidden again, and so not the truth of a test.
	for _, patch := range []map[string]any{{"truthsPublic": false}, {"split": "test"}, {"split": "test", "truthsPublic": false}} {
		p.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, patch)
	}
	// While a new truth is on its way, the one in use was never public.
	hidden := p.newDataset(withTruth("training", false, others))
	p.change("olga", hidden, map[string]any{"truthsPublic": true, "truths": []any{servertest.Announced("labels.csv", labels)}})
	evaluate["truth"] = map[string]any{"datasetId": servertest.ID(hidden)}
	evaluate["runs"] = []any{map[string]any{"files": []any{map[string]any{"name": "run.csv", "text": others}}}}
	p.Want(http.StatusForbidden, nil, "tom", http.MethodPost, tool, evaluate)
	p.Want(http.StatusOK, nil, "olga", http.MethodPost, tool, evaluate)

	p.change("olga", path, withTruth("test", false, others))
	if shown := truths("tom"); shown != nil {
		t.Errorf("the truth of a test is shown: %+v", shown)
	}
}
