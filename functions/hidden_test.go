package functions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/api/servertest"
	"assay/shared/page"
	"assay/shared/record"
)

// outsiders may not know of what the tests below ask for. The rival has grants of its own, for something else.
var outsiders = []string{"", "stranger", "rival"}

// newHidden is a world with a private task, and with the ids of what it hides, by parameter.
func newHidden(t *testing.T) (*world, map[string][]string) {
	w := newWorld(t)
	own := w.newPlace(w.newOrganizer("rival"), record.Public)
	own.register("rival")
	private, public := w.newPlace(w.organizerID, record.Private), w.newPlace(w.organizerID, record.Public)
	in := private.enter("owner", record.Public, true, false, 0.5)
	below := public.enter("owner", record.Private, false, true, 0.5)
	registration := private.register("owner")
	w.flush(t)
	return w, map[string][]string{
		"taskId":         {private.task.ID},
		"datasetId":      {private.dataset.ID},
		"registrationId": {registration.ID},
		"submissionId":   {in.submission.ID, below.submission.ID},
		"runId":          {in.run.ID, below.run.ID},
		"evaluationId":   {in.evaluation.ID, below.evaluation.ID},
		"userId":         {servertest.UserID("owner")},
		"organizerId":    nil, // no organizer is hidden
	}
}

// TestCost_OfHiddenPathsIsThatOfMissing: the time that an answer takes must not tell what the answer keeps to itself, so
// the store is asked the same for both.
func TestCost_OfHiddenPathsIsThatOfMissing(t *testing.T) {
	w, hidden := newHidden(t)
	compared := 0
	for _, op := range functions.Operations() {
		if !strings.Contains(op.Path, "{") || strings.Contains(op.Path, "{$}") {
			continue
		}
		params := strings.Split(op.Path, "/")
		last := ""
		for _, p := range params {
			if strings.HasPrefix(p, "{") {
				last = strings.Trim(p, "{}")
			}
		}
		if strings.Contains(op.Path, "{organizerId}") {
			continue // no organizer is hidden, nor are its members
		}
		for _, id := range hidden[last] {
			hiddenPath, missingPath := op.Path, op.Path
			for _, p := range params {
				if !strings.HasPrefix(p, "{") {
					continue
				}
				of := id
				if name := strings.Trim(p, "{}"); name != last {
					of = hidden[name][0]
				}
				hiddenPath, missingPath = strings.Replace(hiddenPath, p, of, 1), strings.Replace(missingPath, p, record.NewID(time.Now()), 1)
			}
			compared++
			w.sameCost(t, op.Method, hiddenPath, missingPath)
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

func TestCost_OfHiddenFiltersIsThatOfMissing(t *testing.T) {
	w, hidden := newHidden(t)
	public := w.newPlace(w.organizerID, record.Public)
	public.enter("somebody", record.Public, true, false, 0.5)
	w.flush(t)
	for _, op := range functions.Operations() {
		path := strings.Replace(op.Path, "{taskId}", public.task.ID, 1)
		for _, f := range op.Query.Filters {
			if f.Type != page.ID || strings.Contains(path, "{") {
				continue
			}
			sorts := []string{""}
			if op.Query.Sort {
				sorts = append(sorts, "&sort=rank", "&sort=MCC")
			}
			for _, id := range hidden[f.Name] {
				for _, sort := range sorts {
					w.sameCost(t, op.Method, path+"?"+f.Param()+"="+id+sort, path+"?"+f.Param()+"="+record.NewID(time.Now())+sort)
				}
			}
		}
	}
}

func TestCost_OfHiddenIDsInBodiesIsThatOfMissing(t *testing.T) {
	w, hidden := newHidden(t)
	public := w.newPlace(w.organizerID, record.Public)
	public.register("rival")
	w.flush(t)
	submissions := "/v1/tasks/" + public.task.ID + "/submissions"
	submission := func(datasetID string) any {
		return map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": []string{public.dataset.ID, datasetID}}
	}
	missing := record.NewID(time.Now())
	w.sameCostOf(t, http.MethodPost, submissions, submissions, submission(hidden["datasetId"][0]), submission(missing))
	w.sameCostOf(t, http.MethodPost, "/v1/datasets", "/v1/datasets", newDatasetBody(hidden["taskId"][0]), newDatasetBody(missing))
}

// sameCost asks for both as every outsider.
func (w *world) sameCost(t *testing.T, method, hidden, missing string) {
	t.Helper()
	var body any
	if method != http.MethodGet && method != http.MethodDelete {
		body = map[string]any{}
	}
	w.sameCostOf(t, method, hidden, missing, body, body)
}

func (w *world) sameCostOf(t *testing.T, method, hidden, missing string, hiddenBody, missingBody any) {
	t.Helper()
	for _, user := range outsiders {
		var h, m servertest.Answer
		costHidden := w.meter.of(func() { h = w.Do(user, method, hidden, hiddenBody) })
		costMissing := w.meter.of(func() { m = w.Do(user, method, missing, missingBody) })
		if h.Status != m.Status {
			t.Errorf("%s %s as %q: %d when hidden, %d when missing", method, hidden, user, h.Status, m.Status)
		}
		if costHidden != costMissing {
			t.Errorf("%s %s as %q: %s when hidden, %s when missing", method, hidden, user, costHidden, costMissing)
		}
	}
}
