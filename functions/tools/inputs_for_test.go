package tools_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/domain/record"
)

// Tools read the inputs of a dataset only for callers with the right to read them. The inputs give texts, and the ids that a run
// lacks.
func TestTools_ReadInputsOnlyForRegistrants(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.dataset.InputsFor = record.InputsForRegistrants
	s.records.Replace(s.dataset.DatasetItem)
	s.task.Register("reg")
	run := runRef(s.addRun(runSpec{public: true}))
	for user, sees := range map[string]bool{"": false, "bob": false, "reg": true, "olga": true} {
		for _, texts := range []any{nil, object{"datasetId": s.dataset.ID}} {
			for tool, input := range map[string]object{"serp": {"run": run}, "diffir": {"runs": []any{run, inlineFiles("r", datasetRun)}}} {
				if texts != nil {
					input = withMembers(input, "texts", texts)
				} else if tool == "diffir" {
					continue // its runs are not all on the dataset
				}
				for _, accept := range []string{"application/json", "text/html"} {
					a := s.invoke(http.StatusOK, nil, user, tool, input, "Accept", accept)
					got := strings.Contains(string(a.Body), "floats")
					refused := strings.Contains(string(a.Body), "Only accepted registrants of the task")
					if got != sees || refused == sees {
						t.Errorf("%q gets texts from %s as %s: %v\n%s", user, tool, accept, got, a.Body)
					}
				}
			}
		}
		out := answer[tools.ValidatorOutput](s, user, "validator", object{"run": inlineFiles("r", "other Q0 d 1 1 t\n"),
			"datasetId": s.dataset.ID})
		if (len(out.Diagnostics) > 0) != sees {
			t.Errorf("%q is notified of ids: %+v", user, out.Diagnostics)
		}
	}
}
