package functions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions/tools"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/webpage"
	"assay/shared/language/problem"
)

// TestFinalRuns_AreMarkedUntilTheClose races marks. Boards then show the marked runs and, for teams without marks, the last runs.
func TestFinalRuns_AreMarkedUntilTheClose(t *testing.T) {
	f := newPhases(t, recordtest.Measures("nDCG@10"), func(d *record.DatasetItem) { d.FinalRuns = 2 })
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"submissions": map[string]any{"closesAt": f.in(time.Hour)}})
	runs := map[string][]*recordtest.Run{}
	for _, user := range []string{"ada", "bob"} {
		for n := range 5 {
			runs[user] = append(runs[user], f.dataset.Run(user, recordtest.Published, recordtest.Public,
				recordtest.Value("nDCG@10", 0.9-float64(n)/10)))
		}
	}
	path := func(user string, n int) string { return "/v1/runs/" + runs[user][n].ID }
	board := func(user, query string) (found []string) {
		for _, e := range servertest.List[record.Evaluation](f.Server, user, f.dataset.Board()+"?"+query) {
			for owner, all := range runs {
				if n := slices.IndexFunc(all, func(r *recordtest.Run) bool { return r.ID == e.RunID }); n >= 0 {
					found = append(found, fmt.Sprint(e.Rank, owner[:1], n))
				}
			}
		}
		return found
	}
	check := func(user, query, want string) {
		t.Helper()
		if got := strings.Join(board(user, query), " "); got != want {
			t.Errorf("%s as %q: %s, want %s", query, user, got, want)
		}
	}
	check("", "final=true", "1a3 1b3 3a4 3b4")
	check("", "final=true&best=true", "1a3 1b3")
	f.patch(http.StatusOK, "ada", path("ada", 1), map[string]any{"final": true})
	check("", "final=true", "1a1 2b3 3b4")
	var tool tools.LeaderboardOutput
	f.Want(http.StatusOK, &tool, "", http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": f.dataset.ID, "final": true})
	if !tool.Final || len(tool.Entries) != 2 || tool.Entries[0].RunID != runs["ada"][1].ID || tool.Entries[1].RunID != runs["bob"][3].ID {
		t.Errorf("the tool shows %+v", tool.Entries)
	}
	f.patch(http.StatusOK, "ada", path("ada", 1), map[string]any{"final": false})
	statuses := servertest.Concurrently(5, func(n int) servertest.Answer {
		return f.Do("ada", http.MethodPatch, path("ada", n), map[string]any{"final": true, "label": "chosen"})
	})
	marked := recordtest.Get[record.Allowance](t, f.Store, record.AllowanceKey(f.task.ID, f.ada.ID)).Final[f.dataset.ID]
	if statuses[http.StatusOK] > 2 || len(marked) != statuses[http.StatusOK] {
		t.Fatalf("%v marked %v", statuses, marked)
	}
	for n := range 5 {
		r := recordtest.Get[record.RunItem](t, f.Store, record.RunKey(runs["ada"][n].ID))
		e := recordtest.Get[record.EvaluationItem](t, f.Store, record.EvaluationKey(r.EvaluationID))
		if r.Final != slices.Contains(marked, r.ID) || e.Final != r.Final || (r.Label == "chosen") != r.Final {
			t.Errorf("run %d is final: %v, its evaluation: %v, marked are %v", n, r.Final, e.Final, marked)
		}
		f.patch(http.StatusOK, "ada", path("ada", n), map[string]any{"final": false})
	}
	for _, n := range []int{0, 4} {
		f.patch(http.StatusOK, "ada", path("ada", n), map[string]any{"final": true})
	}
	p := f.patch(http.StatusUnprocessableEntity, "ada", path("ada", 2), map[string]any{"final": true})
	for _, want := range []string{runs["ada"][4].ID, `Unmark 1 of them first: PATCH /v1/runs/{runId} with {"final":false}`} {
		if !strings.Contains(p.Errors[0].Detail, want) {
			t.Errorf("%+v lacks %s", p, want)
		}
	}
	f.patch(http.StatusOK, olga, path("ada", 0)+"/review", map[string]any{"published": false})
	check("", "final=true", "1b3 2a4 2b4")
	check("bob", "final=true", "1b3 2a4 2b4")
	check("ada", "final=true", "1a0 2b3 3a4 3b4")
	var preview previewAnswer
	f.Want(http.StatusOK, &preview, olga, http.MethodPatch, f.dataset.Path()+"?preview=true", map[string]any{"finalRuns": 1})
	const more = "1 team marked more than 1 run as final. Of each such team, only the newest marked run that has a result counts. Its other " +
		"runs stay marked."
	if !strings.Contains(fmt.Sprint(preview.Effects), more) {
		t.Errorf("the preview of a smaller number of final runs says %v", preview.Effects)
	}
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"finalRuns": 1})
	check("ada", "final=true", "1a4 1b4")
	p = f.patch(http.StatusUnprocessableEntity, "ada", path("ada", 2), map[string]any{"final": true})
	if !strings.Contains(p.Errors[0].Detail, "Unmark 2 of them first: ") {
		t.Errorf("%+v does not say how many marks are too many", p)
	}
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"finalRuns": 2})
	f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, path("ada", 0), nil)
	f.patch(http.StatusOK, "ada", path("ada", 2), map[string]any{"final": true})
	registration := f.task.Path() + "/registrations/" + f.ada.ID
	for _, state := range []record.RegistrationState{record.Rejected, record.Accepted} { // The state does not close the choice.
		f.patch(http.StatusOK, olga, registration, map[string]any{"state": state})
		f.patch(http.StatusOK, "ada", path("ada", 2), map[string]any{"final": false})
		f.patch(http.StatusOK, "ada", path("ada", 2), map[string]any{"final": true})
	}
	f.ahead.Store(int64(time.Hour))
	p = f.patch(http.StatusForbidden, "ada", path("ada", 2), map[string]any{"final": false})
	if p.Type != problem.OutsideWindow.Type() || !strings.Contains(p.Detail, `The choice of final runs on the dataset "Dataset" closed at `) {
		t.Errorf("%+v", p)
	}
	f.grant(f.bob, map[string]any{"closesAt": f.in(2 * time.Hour)})
	for user, status := range map[string]int{"ada": http.StatusForbidden, "bob": http.StatusNoContent} { // else it could choose again
		f.patch(http.StatusOK, olga, path(user, 3)+"/review", map[string]any{"published": false})
		submission := f.task.Path() + "/submissions/" + runs[user][3].SubmissionID
		f.Want(status, nil, user, http.MethodDelete, path(user, 3), nil)
		f.Want(status, nil, user, http.MethodDelete, submission, nil)
	}
	f.patch(http.StatusOK, "bob", path("bob", 0), map[string]any{"final": true})
	f.patch(http.StatusOK, olga, path("ada", 2), map[string]any{"final": false})
	check("", "final=true", "1b0 2a4")
}

// TestBoardPage_ChoosesRunsAndTellsOfTheClose checks the page of the leaderboard.
func TestBoardPage_ChoosesRunsAndTellsOfTheClose(t *testing.T) {
	const withheld = "Nothing is shown before "
	f := newPhases(t, func(d *record.DatasetItem) { d.FinalRuns = 1 })
	page := func(query string) string {
		t.Helper()
		a := f.Do("", http.MethodGet, f.dataset.Board()+query, nil, "Accept", "text/html")
		return string(a.Body)
	}
	if body := page(""); !strings.Contains(body, "final=true") || strings.Contains(body, withheld) {
		t.Errorf("the page has no choice, or tells of an embargo: %s", body)
	}
	closes := f.in(time.Hour)
	change := map[string]any{"columns": fromClose(f.dataset), "submissions": map[string]any{"closesAt": closes}}
	f.patch(http.StatusOK, olga, f.dataset.Path(), change)
	instant := webpage.Instant(closes.Time) + "</time>, when the dataset has closed"
	if body := page("?final=true"); !strings.Contains(body, withheld+"<time ") || !strings.Contains(body, instant) {
		t.Errorf("the page does not tell until when scores wait: %s", body)
	}
	f.ahead.Store(int64(time.Hour))
	if body := page(""); strings.Contains(body, withheld) {
		t.Error("the page tells of an embargo that has ended")
	}
}

// A final run whose place another run has taken comes back from the trash without its mark. The entry of the trash says so before, and the
// audit trail afterwards.
func TestFinalRuns_ThatLoseTheirMarkInTheTrashAreTold(t *testing.T) {
	f := newPhases(t, recordtest.Measures("nDCG@10"), func(d *record.DatasetItem) { d.FinalRuns = 1 })
	first, second := f.dataset.Run("ada"), f.dataset.Run("ada")
	mark := func(r *recordtest.Run, final bool) {
		t.Helper()
		f.patch(http.StatusOK, "ada", "/v1/runs/"+r.ID, map[string]any{"final": final})
	}
	for _, lost := range []bool{false, true} {
		mark(second, false)
		mark(first, true)
		f.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, "/v1/runs/"+first.ID, nil)
		want := []string(nil)
		if lost {
			mark(second, true)
			want = []string{first.ID}
		}
		entry := "/v1/deletions/" + f.IDs("ada", "/v1/deletions")[0]
		var shown record.Deletion
		f.Want(http.StatusOK, &shown, "ada", http.MethodGet, entry, nil)
		if !slices.Equal(shown.UnmarkedRunIDs, want) {
			t.Errorf("the entry of the trash names %q, want %q", shown.UnmarkedRunIDs, want)
		}
		f.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, entry, nil)
		var run record.Run
		f.Want(http.StatusOK, &run, "ada", http.MethodGet, "/v1/runs/"+first.ID, nil)
		newest := servertest.List[record.AuditEntry](f.Server, olga, f.task.Path()+"/audit-entries")[0]
		told := strings.Contains(string(newest.After), `"unmarkedRunIds"`)
		if newest.Action != record.Restored || told != lost || run.Final == lost {
			t.Errorf("the run is final: %t, and the audit trail says %s %s", run.Final, newest.Action, newest.After)
		}
	}
}
