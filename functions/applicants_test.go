package functions_test

import (
	"bytes"
	"net/http"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// TestPrivateTask_IsForbiddenToApplicants asks as users whose registration waits or was rejected: the task, its
// datasets and the lists below it answer 403, nothing else of it is shown, and their own submissions are there still.
func TestPrivateTask_IsForbiddenToApplicants(t *testing.T) {
	s := newServer(t)
	private := s.Records().Task(recordtest.Private)
	d := private.Dataset()
	private.Register("member")
	others := d.Run("member", recordtest.Public, recordtest.Published)
	task, submissions := private.Path(), private.Path()+"/submissions"
	for name, state := range map[string]record.RegistrationState{"rejected": record.Rejected, "pending": record.Pending} {
		registration := private.Register(name, func(r *record.RegistrationItem) { r.State = state })
		own := d.Run(name, recordtest.Public, recordtest.Published)
		for _, path := range []string{task, d.Path(), submissions, task + "/registrations", task + "/evaluations", task + "/audit-entries"} {
			s.Want(http.StatusForbidden, nil, name, http.MethodGet, path, nil)
		}
		s.Want(http.StatusForbidden, nil, name, http.MethodPost, submissions, servertest.Image(d.ID))
		for _, path := range []string{
			submissions + "/" + others.SubmissionID, "/v1/runs/" + others.ID, "/v1/runs/" + others.ID + "/review",
			"/v1/evaluations/" + others.EvaluationID,
		} {
			s.Want(http.StatusNotFound, nil, name, http.MethodGet, path, nil)
		}
		s.Want(http.StatusNotFound, nil, name, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": d.ID})
		for _, path := range []string{
			"/v1/tasks", "/v1/datasets", "/v1/datasets?filter[taskId]=" + private.ID, "/v1/tasks?filter[organizerId]=" + private.OrganizerID,
			"/v1/evaluations?sort=rank&filter[datasetId]=" + d.ID,
		} {
			s.Want(http.StatusNoContent, nil, name, http.MethodGet, path, nil)
		}
		for _, path := range []string{
			"/v1/runs", "/v1/runs?filter[taskId]=" + private.ID, "/v1/runs?filter[datasetId]=" + d.ID, "/v1/evaluations",
			"/v1/evaluations?filter[datasetId]=" + d.ID, "/v1/evaluations?filter[taskId]=" + private.ID,
		} {
			got := s.Want(http.StatusOK, nil, name, http.MethodGet, path, nil)
			if bytes.Contains(got.Body, []byte(others.ID)) || !bytes.Contains(got.Body, []byte(own.ID)) {
				t.Errorf("%s as %s: %s", path, name, got.Body)
			}
		}
		for _, path := range []string{
			task + "/registrations/" + registration.ID, submissions + "/" + own.SubmissionID, "/v1/runs/" + own.ID, "/v1/runs/" + own.ID + "/review",
			"/v1/evaluations/" + own.EvaluationID, "/v1/user",
		} {
			s.Want(http.StatusOK, nil, name, http.MethodGet, path, nil)
		}
	}
	s.Want(http.StatusOK, nil, "member", http.MethodGet, d.Path(), nil)
	s.Want(http.StatusNotFound, nil, "outsider", http.MethodGet, task, nil)
}
