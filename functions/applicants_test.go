package functions_test

import (
	"bytes"
	"net/http"
	"testing"

	"assay/shared/record"
)

// TestPrivateTask_IsForbiddenToApplicants asks as users whose registration waits or was rejected: the task, its
// datasets and the lists below it answer 403, nothing else of it is shown, and their own submissions are there still.
func TestPrivateTask_IsForbiddenToApplicants(t *testing.T) {
	w := newWorld(t)
	p := w.newPlace(w.organizerID, record.Private)
	p.register("member")
	others := p.enter("member", record.Public, true, false, 0.5)
	type applicant struct {
		name         string
		registration string
		own          entry
	}
	var applicants []applicant
	for name, state := range map[string]record.RegistrationState{"rejected": record.Rejected, "pending": record.Pending} {
		r := p.registerIn(name, state)
		applicants = append(applicants, applicant{name, "/v1/tasks/" + p.task.ID + "/registrations/" + r.ID, p.enter(name, record.Public, true, false, 0.5)})
	}
	w.flush(t)
	task, dataset := "/v1/tasks/"+p.task.ID, "/v1/datasets/"+p.dataset.ID
	submissions := task + "/submissions"
	for _, a := range applicants {
		for _, path := range []string{task, dataset, submissions, task + "/registrations", task + "/evaluations", task + "/audit-entries"} {
			w.Want(http.StatusForbidden, nil, a.name, http.MethodGet, path, nil)
		}
		w.Want(http.StatusForbidden, nil, a.name, http.MethodPost, submissions, map[string]any{"type": "image", "image": "x", "datasetIds": []string{p.dataset.ID}})
		for _, path := range []string{
			submissions + "/" + others.submission.ID, "/v1/runs/" + others.run.ID, "/v1/runs/" + others.run.ID + "/review",
			"/v1/evaluations/" + others.evaluation.ID,
		} {
			w.Want(http.StatusNotFound, nil, a.name, http.MethodGet, path, nil)
		}
		w.Want(http.StatusNotFound, nil, a.name, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": p.dataset.ID})
		for _, path := range []string{
			"/v1/tasks", "/v1/datasets", "/v1/datasets?filter[taskId]=" + p.task.ID, "/v1/tasks?filter[organizerId]=" + w.organizerID,
			"/v1/evaluations?sort=rank&filter[datasetId]=" + p.dataset.ID,
		} {
			w.Want(http.StatusNoContent, nil, a.name, http.MethodGet, path, nil)
		}
		for _, path := range []string{
			"/v1/runs", "/v1/runs?filter[taskId]=" + p.task.ID, "/v1/runs?filter[datasetId]=" + p.dataset.ID, "/v1/evaluations",
			"/v1/evaluations?filter[datasetId]=" + p.dataset.ID, "/v1/evaluations?filter[taskId]=" + p.task.ID,
		} {
			got := w.Want(http.StatusOK, nil, a.name, http.MethodGet, path, nil)
			if bytes.Contains(got.Body, []byte(others.run.ID)) || !bytes.Contains(got.Body, []byte(a.own.run.ID)) {
				t.Errorf("%s as %s: %s", path, a.name, got.Body)
			}
		}
		for _, path := range []string{
			a.registration, submissions + "/" + a.own.submission.ID, "/v1/runs/" + a.own.run.ID, "/v1/runs/" + a.own.run.ID + "/review",
			"/v1/evaluations/" + a.own.evaluation.ID, "/v1/user",
		} {
			w.Want(http.StatusOK, nil, a.name, http.MethodGet, path, nil)
		}
	}
	w.Want(http.StatusOK, nil, "member", http.MethodGet, dataset, nil)
	w.Want(http.StatusNotFound, nil, "outsider", http.MethodGet, task, nil)
}
