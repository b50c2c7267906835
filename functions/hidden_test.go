package functions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// outsiders are callers from whom the resources of these tests are hidden. The rival has grants for other resources.
var outsiders = []string{"", "unrelated", "rival"}

// hiddenFixture serves a private task. It has the ids of resources that are hidden from outsiders, by parameter.
type hiddenFixture struct {
	*servertest.Server
	meter  *meter
	hidden map[string][]string
	public *recordtest.Dataset
}

func newHiddenFixture(t *testing.T) *hiddenFixture {
	t.Helper()
	h := &hiddenFixture{}
	h.Server, h.meter = newMetered(t, nil)
	b := h.Records()
	labels := recordtest.Labels("Accuracy", "MCC")
	b.Task(recordtest.OwnedBy(b.Organizer("rival"))).Register("rival")
	private, public := b.Task(recordtest.Private), b.Task()
	h.public = public.Dataset(labels)
	public.Register("rival")
	h.public.Run("somebody", recordtest.Public, recordtest.Published)
	dataset := private.Dataset(labels)
	in := dataset.Run("owner", recordtest.Public, recordtest.Published)
	below := h.public.Run("owner", recordtest.Blinded)
	waiting := public.Dataset(labels, recordtest.AfterClose)
	withheld := waiting.Run("owner", recordtest.Published)
	team := private.Register("owner")
	granted := record.Exception{Meta: record.NewMeta(time.Now()), ExceptionDraft: record.ExceptionDraft{Total: 1, Reason: "A reason"}}
	b.Put(&record.Allowance{Meta: record.MetaOf(team.ID, time.Now()), TaskID: private.ID, Exceptions: []record.Exception{granted}})
	h.hidden = map[string][]string{
		"taskId":         {private.ID},
		"datasetId":      {dataset.ID},
		"registrationId": {team.ID},
		"exceptionId":    {granted.ID},
		"submissionId":   {in.SubmissionID, below.SubmissionID},
		"runId":          {in.ID, below.ID},
		"evaluationId":   {in.EvaluationID, below.EvaluationID, withheld.EvaluationID},
		"userId":         {recordtest.UserID("owner")},
		"organizerId":    nil, // organizers are public
	}
	return h
}

// The duration of an answer must not reveal hidden resources. Requests for hidden and for missing resources therefore cost the
// store the same.
func TestCost_OfHiddenPathsIsThatOfMissing(t *testing.T) {
	h := newHiddenFixture(t)
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
			continue // organizers and their members are public
		}
		for _, id := range h.hidden[last] {
			hiddenPath, missingPath := op.Path, op.Path
			for _, p := range params {
				if !strings.HasPrefix(p, "{") {
					continue
				}
				of := id
				if name := strings.Trim(p, "{}"); name != last {
					of = h.hidden[name][0]
				}
				hiddenPath = strings.Replace(hiddenPath, p, of, 1)
				missingPath = strings.Replace(missingPath, p, record.NewID(time.Now()), 1)
			}
			compared++
			h.sameCost(t, op.Method, hiddenPath, missingPath)
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

func TestCost_OfHiddenFiltersIsThatOfMissing(t *testing.T) {
	h := newHiddenFixture(t)
	compared := 0
	for _, op := range functions.Operations() {
		path := strings.Replace(op.Path, "{taskId}", h.public.TaskID, 1)
		for _, f := range op.Query.Filters {
			if f.Type != page.ID || strings.Contains(path, "{") {
				continue
			}
			sorts := []string{""}
			if op.Query.Sort {
				sorts = append(sorts, "&sort=rank", "&sort=MCC")
			}
			for _, id := range h.hidden[f.Name] {
				for _, sort := range sorts {
					compared++
					h.sameCost(t, op.Method, path+"?"+f.Param()+"="+id+sort, path+"?"+f.Param()+"="+record.NewID(time.Now())+sort)
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d filters were compared", compared)
	}
}

func TestCost_OfHiddenIDsInBodiesIsThatOfMissing(t *testing.T) {
	h := newHiddenFixture(t)
	submissions := "/v1/tasks/" + h.public.TaskID + "/submissions"
	submission := func(datasetID string) any { return servertest.Image(h.public.ID, datasetID) }
	missing := record.NewID(time.Now())
	h.sameCostOf(t, http.MethodPost, submissions, submissions, submission(h.hidden["datasetId"][0]), submission(missing))
	h.sameCostOf(t, http.MethodPost, "/v1/datasets", "/v1/datasets", newDatasetBody(h.hidden["taskId"][0]), newDatasetBody(missing))
}

// sameCost sends both requests as every outsider and compares their costs.
func (h *hiddenFixture) sameCost(t *testing.T, method, hidden, missing string) {
	t.Helper()
	var body any
	if method != http.MethodGet && method != http.MethodDelete {
		body = map[string]any{}
	}
	h.sameCostOf(t, method, hidden, missing, body, body)
}

func (h *hiddenFixture) sameCostOf(t *testing.T, method, hidden, missing string, hiddenBody, missingBody any) {
	t.Helper()
	for _, user := range outsiders {
		var a, b servertest.Answer
		costHidden := h.meter.of(func() { a = h.Do(user, method, hidden, hiddenBody) })
		costMissing := h.meter.of(func() { b = h.Do(user, method, missing, missingBody) })
		if a.Status != b.Status {
			t.Errorf("%s %s as %q: %d when hidden, %d when missing", method, hidden, user, a.Status, b.Status)
		}
		if costHidden != costMissing {
			t.Errorf("%s %s as %q: %s when hidden, %s when missing", method, hidden, user, costHidden, costMissing)
		}
	}
}
