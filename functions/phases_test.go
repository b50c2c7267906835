package functions_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/background"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

const olga = recordtest.OrganizerUser

// phases is a task of olga's with the teams of ada and bob. The test sets its clock.
type phases struct {
	*servertest.Server
	t        *testing.T
	ahead    atomic.Int64
	task     *recordtest.Task
	dataset  *recordtest.Dataset
	ada, bob *record.RegistrationItem
}

func newPhases(t *testing.T, options ...func(*record.DatasetItem)) *phases {
	t.Helper()
	return newPhasesIn(t, nil, options...)
}

// fromClose returns the columns of the dataset that show all its measures after the last close, for a request.
func fromClose(d *recordtest.Dataset) (columns []any) {
	for _, name := range d.Evaluator.Measures {
		columns = append(columns, map[string]any{"key": name, "from": "close"})
	}
	return columns
}

// newPhasesIn is newPhases with the given store. A nil store stands for a new one.
func newPhasesIn(t *testing.T, in store.Store, options ...func(*record.DatasetItem)) *phases {
	t.Helper()
	f := &phases{t: t, Server: servertest.New(t, functions.Operations()...)}
	if in != nil {
		f.Use(in)
	}
	start := time.Now()
	f.Now = func() time.Time { return start.Add(time.Duration(f.ahead.Load())) }
	b := f.Records()
	f.task = b.Task()
	f.ada, f.bob = f.task.Register("ada"), f.task.Register("bob")
	f.dataset = f.task.Dataset(append(options, b.Truths("qrels.txt", "q1 0 d1 1\n"))...)
	return f
}

// in returns the instant at this duration after the start of the test.
func (f *phases) in(d time.Duration) record.Instant {
	return record.At(f.Now().Add(d - time.Duration(f.ahead.Load())))
}

// runDue does the due pending work.
func (f *phases) runDue() {
	f.t.Helper()
	w := background.New(f.Store, f.Files, f.Now, f.Log)
	if err := w.RunDue(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// patch changes the resource as the user.
func (f *phases) patch(status int, user, path string, body any) problem.Document {
	f.t.Helper()
	var p problem.Document
	if status < http.StatusBadRequest {
		f.Want(status, nil, user, http.MethodPatch, path, body)
		return p
	}
	f.Want(status, &p, user, http.MethodPatch, path, body)
	return p
}

// submit submits a run as the user. It returns the submission or the problem.
func (f *phases) submit(status int, user string) (made record.Submission, p problem.Document) {
	f.t.Helper()
	file := servertest.Inline("run.txt", "q1 Q0 d1 1 2.0 tag\n")
	file["datasetId"] = f.dataset.ID
	var into any = &p
	if status == http.StatusCreated {
		into = &made
	}
	f.Want(status, into, user, http.MethodPost, f.task.Path()+"/submissions", map[string]any{"type": "upload", "files": []any{file},
		"again": true})
	return made, p
}

func (f *phases) grant(team *record.RegistrationItem, draft map[string]any) (e record.Exception) {
	f.t.Helper()
	draft["reason"] = "The store was down."
	f.Want(http.StatusCreated, &e, olga, http.MethodPost, f.exceptions(team), draft)
	return e
}

func (f *phases) exceptions(team *record.RegistrationItem) string {
	return f.task.Path() + "/registrations/" + team.ID + "/exceptions"
}

func (f *phases) closeTask(in time.Duration) func()    { return f.close(f.task.Path(), in) }
func (f *phases) closeDataset(in time.Duration) func() { return f.close(f.dataset.Path(), in) }

func (f *phases) close(path string, in time.Duration) func() {
	return func() {
		f.patch(http.StatusOK, olga, path, map[string]any{"submissions": map[string]any{"closesAt": f.in(in)}})
	}
}

// TestEmbargo_ShowsScoresAfterTheLastClose: until the window of the last team has closed, lists, leaderboards, tables and single
// resources show scores only to organizers. Then single resources and kept leaderboards show them at once, and lists after the pending
// work.
func TestEmbargo_ShowsScoresAfterTheLastClose(t *testing.T) {
	f := newPhases(t, recordtest.Measures("nDCG@10"))
	run := f.dataset.Run("ada", recordtest.Published, recordtest.Public, recordtest.Value("nDCG@10", 0.4321))
	seen := func(user string, single, lists bool) {
		t.Helper()
		r, e := "/v1/runs/"+run.ID, "/v1/evaluations/"+run.EvaluationID
		paths := map[string]bool{r: single, e: single, f.dataset.Board() + "?sort=rank": single,
			f.dataset.Board() + "?best=true&view=public": single}
		for _, list := range []string{"/v1/evaluations", "/v1/evaluations?filter[runId]=" + run.ID, f.dataset.Board(),
			"/v1/evaluations?filter[userId]=" + run.UserID} {
			paths[list] = lists
		}
		for path, want := range paths {
			a := f.Do(user, http.MethodGet, path, nil)
			told := strings.Contains(string(a.Body), run.EvaluationID) || strings.Contains(string(a.Body), "0.4321")
			if got := a.Status == http.StatusOK && told; got != want && (user != olga || !strings.Contains(path, "public")) {
				t.Errorf("%s as %q: the score is shown: %v, want %v: %s", path, user, got, want, a.Body)
			}
		}
	}
	all := func(single, lists bool) {
		t.Helper()
		for _, user := range []string{"ada", "bob", ""} {
			seen(user, single, lists)
			a := f.Do(user, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": f.dataset.ID})
			if strings.Contains(string(a.Body), "0.4321") != single {
				t.Errorf("the tool's leaderboard as %q has the score: %v", user, !single)
			}
		}
		seen(olga, true, true)
		e := string(f.Do(olga, http.MethodGet, "/v1/evaluations/"+run.EvaluationID, nil).Body)
		if strings.Contains(e, `"hidden":"columns"`) == single {
			t.Errorf("organizers are told that the score is withheld: %v: %s", single, e)
		}
		for user, want := range map[string]bool{olga: !single, "ada": false} {
			if d := string(f.Do(user, http.MethodGet, f.dataset.Path(), nil).Body); strings.Contains(d, `"withheld":true`) != want {
				t.Errorf("%s is not told whether scores are withheld, %v: %s", user, want, d)
			}
		}
	}
	all(true, true)
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"columns": fromClose(f.dataset),
		"submissions": map[string]any{"closesAt": f.in(time.Hour)}})
	all(false, false)
	f.runDue()
	all(false, false)
	later := f.grant(f.bob, map[string]any{"closesAt": f.in(3 * time.Hour)})
	made, _ := f.submit(http.StatusCreated, "bob")
	r := recordtest.Get[record.RunItem](t, f.Store, record.RunKey(made.RunIDs[0]))
	if r.Access.ColumnsFor != record.ForOrganizers || !r.Access.Concealed {
		t.Error("a run that is submitted before the close does not say that its values are for organizers")
	}
	f.ahead.Store(int64(2 * time.Hour))
	f.runDue()
	f.submit(http.StatusForbidden, "ada")
	f.submit(http.StatusCreated, "bob")
	all(false, false)
	f.ahead.Store(int64(3*time.Hour - time.Millisecond))
	f.runDue()
	all(false, false)
	f.ahead.Store(int64(3 * time.Hour))
	all(true, false)
	f.runDue()
	all(true, true)
	f.patch(http.StatusOK, olga, f.task.Path(), map[string]any{"submissions": map[string]any{"closesAt": f.in(4 * time.Hour)}})
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"submissions": map[string]any{"closesAt": nil}})
	f.runDue() // before the first pass is confirmed
	all(false, false)
	f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, f.exceptions(f.bob)+"/"+later.ID, nil)
	f.ahead.Store(int64(4 * time.Hour))
	f.runDue()
	all(true, true)
	for _, closesLater := range []struct{ begin, end func() }{
		{func() { later = f.grant(f.bob, map[string]any{"closesAt": f.in(5 * time.Hour)}) },
			func() {
				f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, f.exceptions(f.bob)+"/"+later.ID, nil)
			}},
		{f.closeTask(5 * time.Hour), f.closeTask(4 * time.Hour)},
		{f.closeDataset(5 * time.Hour), f.closeDataset(4 * time.Hour)},
	} {
		closesLater.begin()
		all(false, false) // before and after the pending work
		f.runDue()
		all(false, false)
		closesLater.end()
		all(true, false)
		f.runDue()
		all(true, true)
	}
	f.ahead.Add(int64(record.RequestTime))
	f.runDue()
	if e := recordtest.Get[record.Embargo](t, f.Store, record.EmbargoKey(f.task.ID)); e.PendingWork != nil || len(e.Extensions) > 0 {
		t.Errorf("work stays pending: %+v", e)
	}
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"columns": []any{}})
	f.runDue()
	f.ahead.Add(int64(record.RequestTime))
	f.runDue()
	if e := recordtest.Get[record.Embargo](t, f.Store, record.EmbargoKey(f.task.ID)); e.PendingWork != nil || len(e.Datasets) > 0 {
		t.Errorf("a dataset with live scores stays: %+v", e)
	}
}

// TestDataset_HasItsOwnWindowAndQuota: both quotas count. Each instant of the dataset's window replaces that of the task.
// Exceptions extend both for one team.
func TestDataset_HasItsOwnWindowAndQuota(t *testing.T) {
	f := newPhases(t)
	f.patch(http.StatusOK, olga, f.task.Path(), map[string]any{"submissions": map[string]any{"closesAt": f.in(time.Hour), "total": 9}})
	window := map[string]any{"opensAt": f.in(2 * time.Hour), "closesAt": f.in(3 * time.Hour), "perDay": 2, "total": 3}
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"submissions": window})
	if _, p := f.submit(http.StatusForbidden, "ada"); p.Type != problem.OutsideWindow.Type() || !strings.Contains(p.Detail, "opens at") {
		t.Errorf("%+v", p)
	}
	f.ahead.Store(int64(2 * time.Hour))
	first, _ := f.submit(http.StatusCreated, "ada")
	if q := first.Quota; *q.Total != 9 || *q.Remaining != 8 || len(q.Datasets) != 1 || *q.Datasets[0].Remaining != 2 ||
		*q.Datasets[0].RemainingToday != 1 || *q.Left != 8 || *q.Datasets[0].Left != 1 || q.Datasets[0].NextAt != nil {
		t.Errorf("the quota is %+v", q)
	}
	f.submit(http.StatusCreated, "ada")
	if _, p := f.submit(http.StatusForbidden, "ada"); !strings.Contains(p.Detail, f.dataset.Name) ||
		!strings.Contains(p.Detail, "Not enough come back before the dataset \""+f.dataset.Name+"\" closes at") {
		t.Errorf("%+v", p)
	}
	f.grant(f.ada, map[string]any{"datasetId": f.dataset.ID, "perDay": 1})
	f.submit(http.StatusCreated, "ada")
	f.submit(http.StatusForbidden, "ada")
	refunded := f.grant(f.ada, map[string]any{"runId": first.RunIDs[0]})
	f.submit(http.StatusCreated, "ada")
	for _, refused := range []struct {
		team  *record.RegistrationItem
		draft map[string]any
	}{
		{f.ada, map[string]any{"runId": first.RunIDs[0]}}, // again
		{f.bob, map[string]any{"runId": first.RunIDs[0]}}, // a run of another team
		{f.bob, map[string]any{}},
		{f.bob, map[string]any{"closesAt": f.in(time.Hour)}}, // in the past
		{f.bob, map[string]any{"total": 1, "datasetId": f.task.ID}},
		{f.bob, map[string]any{"perDay": 1}}, // the task has no daily limit
	} {
		refused.draft["reason"] = "A reason"
		f.Want(http.StatusUnprocessableEntity, nil, olga, http.MethodPost, f.exceptions(refused.team), refused.draft)
	}
	var r record.Registration
	f.Want(http.StatusOK, &r, "ada", http.MethodGet, f.task.Path()+"/registrations/"+f.ada.ID, nil)
	if len(r.Exceptions) != 2 || r.Exceptions[0].Reason == "" || *r.Quota.Remaining != 6 || *r.Quota.Datasets[0].Remaining != 0 ||
		r.Quota.Datasets[0].NextAt != nil { // waiting does not help against the limit in all
		t.Errorf("the team is shown %+v", r)
	}
	f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, f.exceptions(f.ada)+"/"+refunded.ID, nil)
	f.Want(http.StatusOK, &r, "ada", http.MethodGet, f.task.Path()+"/registrations/"+f.ada.ID, nil)
	if *r.Quota.Remaining != 5 {
		t.Errorf("with the run that counts again %d are left", *r.Quota.Remaining)
	}
	f.ahead.Store(int64(3 * time.Hour))
	if _, p := f.submit(http.StatusForbidden, "bob"); p.Type != problem.OutsideWindow.Type() {
		t.Errorf("%+v", p)
	}
	f.grant(f.bob, map[string]any{"closesAt": f.in(4 * time.Hour)})
	f.submit(http.StatusCreated, "bob")
	if e := recordtest.AuditEntries(t, f.Store, f.task.OrganizerID); !slices.ContainsFunc(e, func(e *record.AuditEntry) bool {
		return e.Action == record.ExceptionWithdrawn
	}) {
		t.Error("exceptions are not audited")
	}
}

// TestException_RefundIsCountedOnce: a refunded run does not count, whatever happens to the run afterwards.
func TestException_RefundIsCountedOnce(t *testing.T) {
	f := newPhases(t)
	made, _ := f.submit(http.StatusCreated, "ada")
	statuses := servertest.Concurrently(8, func(int) servertest.Answer {
		return f.Do(olga, http.MethodPost, f.exceptions(f.ada), map[string]any{"runId": made.RunIDs[0], "reason": "It was ours."})
	})
	f.patch(http.StatusOK, "ada", "/v1/runs/"+made.RunIDs[0], map[string]any{"state": "cancelled"})
	f.submit(http.StatusCreated, "ada")
	a := recordtest.Get[record.Allowance](t, f.Store, record.AllowanceKey(f.task.ID, f.ada.ID))
	if statuses[http.StatusCreated] != 1 || a.Total != 1 || len(a.Exceptions) != 1 || a.Datasets[f.dataset.ID].Total != 1 {
		t.Errorf("%v: %+v", statuses, a)
	}
}

// TestException_RefundsNoRunOnAnotherDataset grants an exception for one dataset, with a run on another.
func TestException_RefundsNoRunOnAnotherDataset(t *testing.T) {
	f := newPhases(t)
	made, _ := f.submit(http.StatusCreated, "ada")
	other := f.task.Dataset()
	draft := map[string]any{"runId": made.RunIDs[0], "datasetId": other.ID, "reason": "It was ours."}
	var p problem.Document
	f.Want(http.StatusUnprocessableEntity, &p, olga, http.MethodPost, f.exceptions(f.ada), draft)
	if len(p.Errors) != 1 || !strings.HasPrefix(p.Errors[0].Detail, "names a run on another dataset") {
		t.Errorf("%+v", p)
	}
	f.grant(f.ada, map[string]any{"runId": made.RunIDs[0], "datasetId": f.dataset.ID})
}

// TestException_WithdrawnRefundCounts: if a refund is withdrawn, its run counts again, once, even if it is in the trash.
func TestException_WithdrawnRefundCounts(t *testing.T) {
	f := newPhases(t)
	made, _ := f.submit(http.StatusCreated, "ada")
	path := "/v1/runs/" + made.RunIDs[0]
	used := func(total int, when string) {
		t.Helper()
		a := recordtest.Get[record.Allowance](t, f.Store, record.AllowanceKey(f.task.ID, f.ada.ID))
		if a.Total != total || a.Datasets[f.dataset.ID].Total != total {
			t.Errorf("%s: %+v", when, a)
		}
	}
	e := f.grant(f.ada, map[string]any{"runId": made.RunIDs[0]})
	used(0, "refunded")
	f.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, path, nil)
	f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, f.exceptions(f.ada)+"/"+e.ID, nil)
	used(1, "withdrawn")
	var p page.Page[record.Deletion]
	f.Want(http.StatusOK, &p, "ada", http.MethodGet, "/v1/deletions", nil)
	f.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, "/v1/deletions/"+p.Data[0].ID, nil)
	used(1, "restored")
	if r := recordtest.Get[record.RunItem](t, f.Store, record.RunKey(made.RunIDs[0])); !r.Counted || r.Refunded {
		t.Errorf("%+v", r)
	}
}

// TestException_RefundsRunsInTheTrash: a run in the trash counts in the quotas, so it can be refunded, once. Restored, it does not count.
func TestException_RefundsRunsInTheTrash(t *testing.T) {
	f := newPhases(t)
	made, _ := f.submit(http.StatusCreated, "ada")
	used := func(total int, when string) {
		t.Helper()
		a := recordtest.Get[record.Allowance](t, f.Store, record.AllowanceKey(f.task.ID, f.ada.ID))
		if a.Total != total || a.Datasets[f.dataset.ID].Total != total {
			t.Errorf("%s: %+v", when, a)
		}
	}
	f.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, "/v1/runs/"+made.RunIDs[0], nil)
	used(1, "deleted")
	draft := map[string]any{"runId": made.RunIDs[0], "reason": "It was ours."}
	for range 2 {
		e := f.grant(f.ada, map[string]any{"runId": made.RunIDs[0]})
		used(0, "refunded")
		f.Want(http.StatusUnprocessableEntity, nil, olga, http.MethodPost, f.exceptions(f.ada), draft)
		f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, f.exceptions(f.ada)+"/"+e.ID, nil)
		used(1, "refund withdrawn")
	}
	f.grant(f.ada, map[string]any{"runId": made.RunIDs[0]})
	var p page.Page[record.Deletion]
	f.Want(http.StatusOK, &p, "ada", http.MethodGet, "/v1/deletions", nil)
	f.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, "/v1/deletions/"+p.Data[0].ID, nil)
	used(0, "restored")
	if r := recordtest.Get[record.RunItem](t, f.Store, record.RunKey(made.RunIDs[0])); r.Counted || !r.Refunded {
		t.Errorf("%+v", r)
	}
}

// TestQuota_OfADatasetIsNotOvershot lets members race for the last runs.
func TestQuota_OfADatasetIsNotOvershot(t *testing.T) {
	f := newPhases(t, func(d *record.DatasetItem) { d.Submissions.Total = 3 })
	body := servertest.Image(f.dataset.ID)
	submit := func(int) servertest.Answer { return f.Do("ada", http.MethodPost, f.task.Path()+"/submissions", body) }
	made := servertest.Concurrently(12, submit)[http.StatusCreated]
	for range 6 { // uses up the quota that conflicts left
		made += map[int]int{http.StatusCreated: 1}[submit(0).Status]
	}
	a := recordtest.Get[record.Allowance](t, f.Store, record.AllowanceKey(f.task.ID, f.ada.ID))
	if made != 3 || a.Datasets[f.dataset.ID].Total != 3 {
		t.Errorf("%d were made: %+v", made, a)
	}
}
