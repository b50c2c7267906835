package submissions_test

import (
	"maps"
	"net/http"
	"testing"

	"assay/functions/submissions"
	"assay/shared/record"
)

// TestCreate_TakesTheExample submits what the document has as an example.
func TestCreate_TakesTheExample(t *testing.T) {
	s := serve(t, func(*record.TaskItem) {})
	for _, op := range submissions.Operations {
		if example, ok := op.Example.(map[string]any); ok {
			example, file := maps.Clone(example), maps.Clone(example["files"].([]any)[0].(map[string]any))
			file["datasetId"] = s.dataset().ID
			example["files"] = []any{file}
			s.Want(http.StatusCreated, nil, "ada", http.MethodPost, s.path, example)
			return
		}
	}
	t.Error("there is no example")
}
