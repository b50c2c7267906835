package datasets_test

import (
	"net/http"
	"testing"

	"assay/shared/record"
)

// TestDataset_DeclaresWhatIsPublic: what participants may be told of a truth is seen by all, makes no new version of it, and is an
// audit entry; labels go with classification alone.
func TestDataset_DeclaresWhatIsPublic(t *testing.T) {
	s := start(t)
	path, d := s.create(s.draft(inline("truth.csv", goodTruth)))
	got := s.patch(http.StatusOK, path, map[string]any{"idsPublic": true, "labelsPublic": true})
	if !got.IDsPublic || !got.LabelsPublic || got.TruthVersion != d.TruthVersion || !s.get("ada", path).IDsPublic {
		t.Errorf("%+v", got)
	}
	if last := s.entries()[0]; last.Action != record.DatasetChanged {
		t.Errorf("%+v", last)
	}
	for _, evaluator := range []map[string]any{{"kind": "regression", "measures": []string{"MAE"}}, {"kind": "worker", "measures": []string{"x"}, "image": "example.org/evaluator"}} {
		s.patch(http.StatusUnprocessableEntity, path, map[string]any{"evaluator": evaluator})
	}
}
