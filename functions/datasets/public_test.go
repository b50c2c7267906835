package datasets_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

// What is public of a truth is shown to all, makes no new version of it, and is audited; only classification has labels.
func TestDataset_DeclaresWhatIsPublic(t *testing.T) {
	s := serve(t)
	path, d := s.create(s.draft(servertest.Inline("truth.csv", goodTruth)))
	got := s.patch(http.StatusOK, path, map[string]any{"idsPublic": true, "labelsPublic": true})
	if !got.IDsPublic || !got.LabelsPublic || got.TruthVersion != d.TruthVersion || !s.get("ada", path).IDsPublic {
		t.Errorf("%+v", got)
	}
	if last := s.entries()[0]; last.Action != record.DatasetChanged {
		t.Errorf("%+v", last)
	}
	for _, evaluator := range []map[string]any{
		{"kind": "regression", "measures": []string{"MAE"}}, {"kind": "worker", "measures": []string{"x"}, "image": "example.org/evaluator"}} {
		s.patch(http.StatusUnprocessableEntity, path, map[string]any{"evaluator": evaluator})
	}
}

// A merge patch keeps members that only the old kind has, and the problem says how to remove them.
func TestDataset_ChangesItsKindByNull(t *testing.T) {
	s := serve(t)
	own := s.draft(servertest.Inline("truth.csv", goodTruth))
	own["evaluator"] = map[string]any{"kind": "worker", "measures": []string{"x"}, "image": "example.org/evaluator", "command": "run",
		"lowerIsBetter": []string{"x"}}
	path, _ := s.create(own)
	change := func(body map[string]any, pointers ...string) {
		t.Helper()
		found := s.pointers(http.MethodPatch, path, body)
		for _, p := range pointers {
			if !strings.Contains(strings.Join(found[p], " "), "unless it sets it to null") {
				t.Errorf("%s: %v", p, found)
			}
		}
	}
	change(map[string]any{"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}}},
		"/evaluator/image", "/evaluator/command", "/evaluator/lowerIsBetter")
	removed := map[string]any{"kind": "classification", "measures": []string{"Accuracy"}, "image": nil, "command": nil, "lowerIsBetter": nil}
	change(map[string]any{"evaluator": removed}, "/evaluator/primaryMeasure")
	removed["primaryMeasure"] = nil
	s.patch(http.StatusOK, path, map[string]any{"labelsPublic": true, "idsPublic": true, "evaluator": removed})
	ranked := map[string]any{"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}, "primaryMeasure": "AP"},
		"runFormat": map[string]any{"kind": "trec-run"}}
	change(ranked, "/labelsPublic")
	ranked["labelsPublic"] = nil
	change(ranked, "/runFormat/idField", "/runFormat/valueField")
	worker := map[string]any{"kind": "worker", "measures": []string{"x"}, "primaryMeasure": "x", "image": "example.org/evaluator"}
	change(map[string]any{"evaluator": worker}, "/labelsPublic", "/idsPublic")
	s.patch(http.StatusOK, path, map[string]any{"labelsPublic": nil, "idsPublic": nil, "evaluator": worker})
}
