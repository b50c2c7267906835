package functions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions/deletions"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

// To restore a run, a caller needs the right to submit, as a member of the team that deleted it or as an organizer.
func TestUndoDeletion_TakesTheRightToSubmit(t *testing.T) {
	state := func(s record.RegistrationState) func(*platform, string) {
		return func(p *platform, team string) { p.change("olga", team, map[string]any{"state": s}) }
	}
	leaves := func(by string) func(*platform, string) {
		return func(p *platform, team string) {
			p.Want(http.StatusNoContent, nil, by, http.MethodDelete, team+"/members/"+recordtest.UserID("mia"), nil)
		}
	}
	for name, c := range map[string]struct {
		meanwhile func(p *platform, team string)
		user      string
		status    int
		detail    string
	}{
		"owner of the team":            {func(*platform, string) {}, "tom", http.StatusNoContent, ""},
		"other member":                 {func(*platform, string) {}, "mia", http.StatusNoContent, ""},
		"rejected owner":               {state(record.Rejected), "tom", http.StatusForbidden, "rejected your registration"},
		"rejected member":              {state(record.Rejected), "mia", http.StatusForbidden, "rejected your registration"},
		"registration that waits":      {state(record.Pending), "tom", http.StatusForbidden, "waits for the organizers"},
		"member who left":              {leaves("mia"), "mia", http.StatusNotFound, ""},
		"member who was removed":       {leaves("tom"), "mia", http.StatusNotFound, ""},
		"owner, new terms":             {newTerms, "tom", http.StatusForbidden, "present terms"},
		"organizers, rejected team":    {state(record.Rejected), "olga", http.StatusNoContent, ""},
		"registrant of another team":   {func(p *platform, _ string) { p.register("una", nil) }, "una", http.StatusNotFound, ""},
		"user without a registration":  {func(*platform, string) {}, "uma", http.StatusNotFound, ""},
		"caller without a login":       {func(*platform, string) {}, "", http.StatusNotFound, ""},
		"administrator, rejected team": {state(record.Rejected), "root", http.StatusNoContent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t, nil)
			team := p.register("tom", nil)
			p.join(team, "mia")
			body := servertest.Image(servertest.ID(p.newDataset(nil)))
			deleted := []string{"/v1/runs/" + p.submit("tom", body).RunIDs[0], p.task + "/submissions/" + p.submit("mia", body).ID}
			var entries []string
			for _, path := range deleted {
				p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, path, nil)
				entries = append(entries, "/v1/deletions/"+deletionOf(p, "tom", path).ID)
			}
			c.meanwhile(p, team)
			for i, entry := range entries {
				if c.status != http.StatusNotFound {
					checkRefusal(p, c.user, entry, c.status == http.StatusNoContent, c.detail)
				}
				a := p.Want(c.status, nil, c.user, http.MethodDelete, entry, nil)
				if !strings.Contains(string(a.Body), c.detail) {
					t.Errorf("%s is not answered with %q: %s", deleted[i], c.detail, a.Body)
				}
				was := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[c.status == http.StatusNoContent]
				p.Want(was, nil, "olga", http.MethodGet, deleted[i], nil)
			}
		})
	}
}

// checkRefusal checks that the entry of the trash says whether and why the user cannot restore it. Reading it restores nothing.
func checkRefusal(p *platform, user, entry string, restorable bool, detail string) {
	p.t.Helper()
	var shown deletions.DeletionShown
	p.Want(http.StatusOK, &shown, user, http.MethodGet, entry, nil)
	if (shown.Refusal == nil) != restorable || !restorable && (detail == "" || !strings.Contains(shown.Refusal.Detail, detail)) {
		p.t.Errorf("%s reads of %s: %+v, want %q", user, entry, shown.Refusal, detail)
	}
}

// An entry of the trash says which other resource must be restored first.
func TestGetDeletion_NamesWhatToRestoreFirst(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	made := p.submit("tom", servertest.Image(servertest.ID(p.newDataset(nil))))
	run, submission := "/v1/runs/"+made.RunIDs[0], p.task+"/submissions/"+made.ID
	for _, path := range []string{run, submission} {
		p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, path, nil)
	}
	first := "/v1/deletions/" + deletionOf(p, "tom", submission).ID
	second := "/v1/deletions/" + deletionOf(p, "tom", run).ID
	for _, user := range []string{"tom", "olga"} {
		checkRefusal(p, user, second, false, "The submission that this belongs to was deleted too: restore it first")
		checkRefusal(p, user, first, true, "")
	}
	p.Want(http.StatusConflict, nil, "tom", http.MethodDelete, second, nil)
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, first, nil)
	checkRefusal(p, "tom", second, true, "")
}

// The submission of a run that was deleted before its task is in the trash with the task, so the task must be restored before the run.
func TestGetDeletion_NamesTheTaskToRestoreFirst(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	run := "/v1/runs/" + p.submit("tom", servertest.Image(servertest.ID(p.newDataset(nil)))).RunIDs[0]
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, run, nil)
	entry := "/v1/deletions/" + deletionOf(p, "tom", run).ID
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.task+"?with=submissions&name=Lakes", nil)
	p.nextMinute()
	checkRefusal(p, "olga", entry, false, "The task that this belongs to was deleted too: restore it first")
	first := "/v1/deletions/" + deletionOf(p, "olga", p.task).ID
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, first, nil)
	p.nextMinute()
	checkRefusal(p, "tom", entry, true, "")
}

// A team learns that organizers deleted the submission to which its deleted run belongs.
func TestGetDeletion_SaysThatOrganizersRestoreFirst(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	made := p.submit("tom", servertest.Image(servertest.ID(p.newDataset(nil))))
	run, submission := "/v1/runs/"+made.RunIDs[0], p.task+"/submissions/"+made.ID
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, run, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, submission, nil)
	entry := "/v1/deletions/" + deletionOf(p, "tom", run).ID
	checkRefusal(p, "tom", entry, false, "The organizers deleted the submission that this belongs to, so only they can restore it. Ask them.")
	checkRefusal(p, "olga", entry, false, "The submission that this belongs to was deleted too: restore it first")
}

func newTerms(p *platform, _ string) {
	p.change("olga", p.task, map[string]any{"terms": map[string]any{"text": "Be fair."}})
}

// A baseline belongs to the user who submitted it. Only an organizer can submit a baseline.
func TestUndoDeletion_OfBaselineIsForOrganizers(t *testing.T) {
	p := newPlatform(t, nil)
	p.Join("eddy", p.Invite("olga", p.organizer, nil), nil)
	body := servertest.Image(servertest.ID(p.newDataset(nil)))
	body["baseline"] = true
	path := p.task + "/submissions/" + p.submit("eddy", body).ID
	p.Want(http.StatusNoContent, nil, "eddy", http.MethodDelete, path, nil)
	entry := "/v1/deletions/" + deletionOf(p, "eddy", path).ID
	p.Want(http.StatusNoContent, nil, "eddy", http.MethodDelete, entry, nil)
	p.Want(http.StatusNoContent, nil, "eddy", http.MethodDelete, path, nil)
	entry = "/v1/deletions/" + deletionOf(p, "eddy", path).ID
	p.Want(http.StatusNoContent, nil, "eddy", http.MethodDelete, p.organizer+"/members/"+recordtest.UserID("eddy"), nil)
	checkRefusal(p, "eddy", entry, false, "only organizers of the task can restore")
	p.Want(http.StatusForbidden, nil, "eddy", http.MethodDelete, entry, nil)
	checkRefusal(p, "olga", entry, true, "")
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, entry, nil)
}

// A team that deleted a run before the close cannot choose it again by restoring it once the team knows the scores.
func TestUndoDeletion_IsNoChoiceOfFinalRunsAfterTheClose(t *testing.T) {
	f := newPhases(t, func(d *record.DatasetItem) { d.FinalRuns = 1 })
	f.closeDataset(time.Hour)()
	p := &platform{workers: &workers{Server: f.Server}, t: t}
	made, _ := f.submit(http.StatusCreated, "ada")
	for _, path := range []string{"/v1/runs/" + made.RunIDs[0], f.task.Path() + "/submissions/" + made.ID} {
		f.ahead.Store(0)
		p.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, path, nil)
		deleted := deletionOf(p, "ada", path)
		entry := "/v1/deletions/" + deleted.ID
		closes := recordtest.Get[record.DatasetItem](t, f.Store, f.dataset.Key()).Submissions.ClosesAt
		for user, want := range map[string]record.Instant{"ada": *closes, "olga": deleted.ExpiresAt} {
			until := servertest.Get[deletions.DeletionShown](p.Server, user, entry).RestorableUntil
			if until == nil || !until.Equal(want.Time) {
				t.Errorf("%s can restore %s until %v, want %v", user, path, until, want)
			}
		}
		f.ahead.Store(int64(2 * time.Hour))
		if until := servertest.Get[deletions.DeletionShown](p.Server, "ada", entry).RestorableUntil; until != nil {
			t.Errorf("after the close, the team can restore %s until %v", path, until)
		}
		var refused problem.Document
		p.Want(http.StatusForbidden, &refused, "ada", http.MethodDelete, entry, nil)
		checkRefusal(p, "ada", entry, false, refused.Detail)
		checkRefusal(p, "olga", entry, true, "")
		if refused.Type != problem.OutsideWindow.Type() || !strings.Contains(refused.Detail, `runs on the dataset "Dataset", which takes final`) {
			t.Errorf("%+v", refused)
		}
		p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, entry, nil)
	}
}
