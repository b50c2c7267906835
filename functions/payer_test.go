package functions_test

import (
	"bytes"
	"net/http"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// TestPayer_IsTheUserWhoMadeTheOrganizer lets a user make two organizers. Runs of tasks of both have the same payer in the queue,
// whom no answer names. Runs of another user's task have another payer.
func TestPayer_IsTheUserWhoMadeTheOrganizer(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("ada", nil)
	payerOf := func(task, dataset string) string {
		t.Helper()
		var s record.Submission
		p.Want(http.StatusCreated, &s, "ada", http.MethodPost, task+"/submissions", servertest.Image(servertest.ID(dataset)))
		return recordtest.Get[record.RunItem](t, p.Store, record.RunKey(s.RunIDs[0])).Turn().Payer
	}
	taskOf := func(user string) (task, dataset string) {
		organizer := p.Create(user, "/v1/organizers", map[string]any{"name": "Another lab"})
		for _, r := range []struct {
			method, path string
			body         any
		}{
			{http.MethodGet, organizer, nil},
			{http.MethodGet, "/v1/organizers", nil},
			{http.MethodPatch, organizer, map[string]any{"name": "A lab"}},
			{http.MethodPost, "/v1/organizers?preview=true", map[string]any{"name": "A third lab"}},
			{http.MethodGet, organizer + "/audit-entries", nil},
		} {
			shown := p.Want(http.StatusOK, nil, user, r.method, r.path, r.body)
			if bytes.Contains(bytes.ToLower(shown.Body), []byte("payer")) {
				t.Errorf("%s %s shows the payer: %s", r.method, r.path, shown.Body)
			}
		}
		task = p.Create(user, "/v1/tasks", map[string]any{"organizerId": servertest.ID(organizer), "name": "Task"})
		dataset = p.Create(user, "/v1/datasets", newDatasetBody(servertest.ID(task)))
		p.Create("ada", task+"/registrations", map[string]any{"team": "Lakeside"})
		return task, dataset
	}
	first := payerOf(p.task, p.newDataset(nil))
	if second := payerOf(taskOf("olga")); second != first {
		t.Errorf("tasks of two organizers of a user have the payers %s and %s", first, second)
	}
	if others := payerOf(taskOf("rival")); others == first {
		t.Errorf("tasks of two users have the payer %s", first)
	}
}
