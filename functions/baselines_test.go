package functions_test

import (
	"net/http"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// Organizers need no team for a baseline, and no quota or window of the task holds for it.
func TestSubmission_BaselineNeedsNoTeamAndNoQuota(t *testing.T) {
	s := newWithSubmission(t)
	s.change("olga", s.task, map[string]any{"submissions": map[string]any{"perDay": 1, "total": 1, "closesAt": "2020-01-01T00:00:00Z"}})
	image := servertest.Image(servertest.ID(s.dataset))
	s.Want(http.StatusForbidden, nil, "olga", http.MethodPost, s.task+"/submissions", image)
	s.Want(http.StatusForbidden, nil, "tom", http.MethodPost, s.task+"/submissions", image) // the window has closed
	image["baseline"] = true
	s.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPost, s.task+"/submissions", image)
	s.Want(http.StatusForbidden, nil, "uma", http.MethodPost, s.task+"/submissions", image)
	var made [3]record.Submission
	for i, visibility := range []any{nil, "public", "private"} {
		if image["visibility"] = visibility; visibility == nil {
			delete(image, "visibility")
		}
		made[i] = s.submit("olga", image)
		if (made[i].Visibility == record.Public) != (i < 2) || made[i].Team != record.BaselineTeam || !made[i].Baseline || made[i].Quota != nil {
			t.Errorf("%+v", made[i])
		}
	}
	used := recordtest.Get[record.Allowance](t, s.Store, record.AllowanceKey(servertest.ID(s.task), recordtest.UserID("olga")))
	if used.Total != 0 || used.Submissions != 0 || used.Runs[servertest.ID(s.dataset)] != 3 {
		t.Errorf("%+v", used)
	}
	path := s.task + "/submissions/" + made[0].ID
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, map[string]any{"baseline": false})
	s.Want(http.StatusUnprocessableEntity, nil, "uma", http.MethodPost, s.task+"/registrations", map[string]any{"team": "BaseLine"})

	// A registration of the organizer, later and under another name, has nothing to do with them.
	own := s.register("olga", nil)
	s.change("olga", own, map[string]any{"team": "Renamed", "anonymous": true})
	if shown := servertest.Get[record.Submission](s.Server, "", path); shown.Team != record.BaselineTeam {
		t.Errorf("a baseline became %q", shown.Team)
	}
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, own, nil)

	// Neither the dataset nor the task goes while they are there.
	for _, path := range []string{s.submission, s.task + "/submissions/" + made[1].ID, s.task + "/submissions/" + made[2].ID} {
		s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	}
	s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, s.dataset, nil)
	s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, s.task, nil)
	s.change("olga", "/v1/runs/"+made[0].RunIDs[0], map[string]any{"state": "cancelled"})
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, s.dataset, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, s.task, nil)
}
