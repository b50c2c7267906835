package functions_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/evaluator"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/store"
)

// boards is a task with a dataset and published runs of three teams, served together with an evaluator that the test calls.
type boards struct {
	*servertest.Server
	t       *testing.T
	worker  *evaluator.Worker
	ahead   atomic.Int64 // nanoseconds that the clock is ahead
	task    string       // path
	dataset string       // id
	runs    map[string]string
}

func inlineFile(name, content string) map[string]any {
	return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

func newBoards(t *testing.T) *boards {
	b := &boards{Server: servertest.New(t, functions.Operations()...), t: t, runs: map[string]string{}}
	b.Now = func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }
	b.worker = &evaluator.Worker{Store: b.Store, Files: b.Files, Now: b.Now, Log: b.Log, Holder: "test"}
	var made struct{ ID, URL string }
	b.Want(http.StatusCreated, &made, "olga", http.MethodPost, "/v1/organizers", map[string]any{"name": "Lab"})
	b.task = b.Create("olga", "/v1/tasks", map[string]any{"organizerId": made.URL[strings.LastIndex(made.URL, "/")+1:], "name": "Task", "registration": map[string]any{"mode": "open"}})
	body := newDatasetBody(b.task[len("/v1/tasks/"):])
	body["split"], body["truths"] = "validation", []any{inlineFile("truth.csv", "id,label\n1,a\n2,b\n")}
	b.dataset = b.Create("olga", "/v1/datasets", body)[len("/v1/datasets/"):]
	for _, user := range []string{"ada", "bob", "cid"} {
		b.Create(user, b.task+"/registrations", map[string]any{"team": "Team of " + user, "affiliation": "University of " + user})
	}
	return b
}

// submit submits the lines of a run, and evaluates it.
func (b *boards) submit(user, lines string) (runID string) {
	b.t.Helper()
	file := inlineFile("run.csv", "id,label\n"+lines)
	file["datasetId"] = b.dataset
	var s record.Submission
	b.Want(http.StatusCreated, &s, user, http.MethodPost, b.task+"/submissions", map[string]any{"type": "upload", "visibility": "public", "title": "Entry of " + user, "files": []any{file}})
	b.evaluate(s.RunIDs[0])
	return s.RunIDs[0]
}

func (b *boards) evaluate(runID string) {
	b.t.Helper()
	r := new(record.RunItem)
	r.ID = runID
	if err := b.worker.Evaluate(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
}

func (b *boards) review(runID string, published, blinded bool) {
	b.t.Helper()
	b.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/runs/"+runID+"/review", map[string]any{"published": published, "blinded": blinded})
}

// due lets time pass and has done what is due then.
func (b *boards) due() {
	b.t.Helper()
	b.ahead.Add(int64(time.Minute))
	if err := b.worker.RunDue(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// changeTruth stores another truth, which has the runs wait to be evaluated again.
func (b *boards) changeTruth(lines string) {
	b.t.Helper()
	b.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/datasets/"+b.dataset, map[string]any{"truths": []any{inlineFile("truth.csv", "id,label\n"+lines)}})
	b.due()
}

// progress is how far the evaluation against a new truth has come; nil where that is not said.
func progress(d record.Dataset) *record.Progress {
	if d.Reevaluation == nil {
		return nil
	}
	return d.Reevaluation.Progress
}

func (b *boards) shown(user string) (d record.Dataset) {
	b.t.Helper()
	b.Want(http.StatusOK, &d, user, http.MethodGet, "/v1/datasets/"+b.dataset, nil)
	return d
}

// listed requires that every list, as the user sees it, has these runs, each evaluated against the version of the truth.
func (b *boards) listed(user string, version int64, ranked ...string) {
	b.t.Helper()
	dataset := "filter[datasetId]=" + b.dataset
	for _, path := range []string{
		"/v1/evaluations?" + dataset, "/v1/evaluations?sort=rank&" + dataset, "/v1/evaluations?sort=Accuracy&" + dataset, b.task + "/evaluations",
		"/v1/evaluations?filter[runId]=" + strings.Join(slices.Collect(maps.Values(b.runs)), ","),
		b.task + "/evaluations?sort=rank", b.task + "/evaluations?best=true", b.task + "/evaluations?sort=Accuracy&" + dataset,
	} {
		var p struct{ Data []record.Evaluation }
		if a := b.Do(user, http.MethodGet, path, nil); a.Status == http.StatusOK {
			if err := json.Unmarshal(a.Body, &p); err != nil {
				b.t.Fatal(err)
			}
		}
		var runs []string
		for _, e := range p.Data {
			if e.TruthVersion != version {
				b.t.Errorf("%s as %q has a result against version %d of the truth, want %d", path, user, e.TruthVersion, version)
			}
			runs = append(runs, e.RunID)
		}
		b.same(path, user, runs, ranked, strings.Contains(path, "sort") || strings.Contains(path, "best"))
	}
	csv := string(b.Do(user, http.MethodGet, b.task+"/evaluations?sort=rank", nil, "Accept", "text/csv").Body)
	page := string(b.Do(user, http.MethodGet, b.task+"/evaluations?best=false", nil, "Accept", "text/html").Body)
	for name, id := range b.runs {
		if wanted := slices.Contains(ranked, id); strings.Contains(csv, id) != wanted || strings.Contains(page, "Entry of "+name) != wanted {
			b.t.Errorf("as %q, the table of text or the page has the run of %s wrongly:\n%s", user, name, csv)
		}
	}
	var board struct {
		TruthVersion int64
		Entries      []struct{ RunID string }
	}
	b.Want(http.StatusOK, &board, user, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": b.dataset})
	var runs []string
	for _, e := range board.Entries {
		runs = append(runs, e.RunID)
	}
	if b.same("the tool for leaderboards", user, runs, ranked, true); board.TruthVersion != version {
		b.t.Errorf("the tool for leaderboards has version %d of the truth, want %d", board.TruthVersion, version)
	}
}

func (b *boards) same(where, user string, got, want []string, sorted bool) {
	b.t.Helper()
	if want = slices.Clone(want); !sorted {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("%s as %q has the runs %v, want %v", where, user, got, want)
	}
}

// While runs are evaluated against a changed truth, every list shows the results against the one before, and then all change.
func TestLeaderboard_ShowsTheLastCompleteVersion(t *testing.T) {
	b := newBoards(t)
	ada, bob, cid := b.submit("ada", "1,a\n2,b\n"), b.submit("bob", "1,a\n2,a\n"), b.submit("cid", "1,b\n2,a\n")
	b.runs = map[string]string{"ada": ada, "bob": bob, "cid": cid}
	b.review(ada, true, false)
	b.review(bob, true, false)
	if d := b.shown(""); d.BoardVersion != 1 || d.Reevaluation != nil {
		t.Fatalf("%+v", d)
	}
	b.listed("", 1, ada, bob)
	b.listed("cid", 1, ada, bob, cid)

	b.changeTruth("1,b\n2,a\n")
	b.listed("", 1, ada, bob)
	b.evaluate(ada)
	late := b.submit("ada", "1,a\n2,a\n") // which has no result against the first truth
	b.review(late, true, false)
	b.listed("", 1, ada, bob)
	b.listed("cid", 1, ada, bob, cid)
	b.listed("olga", 1, ada, bob, cid)
	b.due()
	if d := b.shown(""); d.TruthVersion != 2 || d.BoardVersion != 1 || !reflect.DeepEqual(progress(d), &record.Progress{Runs: 2, Waiting: 1}) {
		t.Errorf("everyone is shown %+v", d.Reevaluation)
	}
	if d := b.shown("olga"); !reflect.DeepEqual(progress(d), &record.Progress{Runs: 3, Waiting: 2}) {
		t.Errorf("organizers are shown %+v", d.Reevaluation)
	}
	page := string(b.Do("", http.MethodGet, b.task+"/evaluations", nil, "Accept", "text/html").Body)
	if !strings.Contains(page, "evaluated against version 2: 1 of 2 have") {
		t.Error("the page does not say how far the evaluation has come")
	}
	b.review(ada, true, true)
	b.listed("", 1, bob)
	b.review(ada, true, false)
	b.listed("", 1, ada, bob)

	b.evaluate(bob)
	b.evaluate(cid)
	b.runs["late"] = late
	for range 2 { // also while lists have yet to follow
		b.due()
		if d := b.shown("olga"); d.BoardVersion != 2 || d.Reevaluation != nil {
			t.Errorf("once all are evaluated: boardVersion %d, %+v", d.BoardVersion, d.Reevaluation)
		}
		if page := string(b.Do("", http.MethodGet, b.task+"/evaluations", nil, "Accept", "text/html").Body); strings.Contains(page, "Shown are the results against version") {
			t.Error("the page says that runs wait")
		}
	}
	if got := b.ranking("", 2, "sort=rank"); got != fmt.Sprint([]string{bob, late, ada}) {
		t.Errorf("the board is %s", got)
	}
}

// ranking returns the runs of the task's list, which must be against the version of the truth.
func (b *boards) ranking(user string, version int64, query string) string {
	b.t.Helper()
	var p struct{ Data []record.Evaluation }
	b.Want(http.StatusOK, &p, user, http.MethodGet, b.task+"/evaluations?"+query, nil)
	var runs []string
	for _, e := range p.Data {
		if e.TruthVersion != version {
			b.t.Errorf("a result against version %d", e.TruthVersion)
		}
		runs = append(runs, e.RunID)
	}
	return fmt.Sprint(runs)
}

func TestLeaderboard_OrganizersReleaseAVersion(t *testing.T) {
	b := newBoards(t)
	ada, bob := b.submit("ada", "1,a\n2,b\n"), b.submit("bob", "1,a\n2,a\n")
	b.runs = map[string]string{"ada": ada, "bob": bob}
	b.review(ada, true, false)
	b.review(bob, true, false)
	b.changeTruth("1,b\n2,a\n")
	b.evaluate(bob)
	dataset, release := "/v1/datasets/"+b.dataset, map[string]any{"boardVersion": 2}
	b.Want(http.StatusForbidden, nil, "ada", http.MethodPatch, dataset, release)
	b.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, dataset, map[string]any{"boardVersion": 3})
	b.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, dataset, map[string]any{"boardVersion": 2, "name": "Other"})
	b.listed("", 1, ada, bob)
	var d record.Dataset
	if b.Want(http.StatusOK, &d, "olga", http.MethodPatch, dataset, release); d.BoardVersion != 2 {
		t.Errorf("released: %+v", d)
	}
	b.due()
	if got := b.ranking("", 2, "sort=rank"); got != fmt.Sprint([]string{bob}) {
		t.Errorf("the board is %s", got)
	}
	for range 3 { // the progress stays until the last run is evaluated
		b.due()
		if d := b.shown(""); !reflect.DeepEqual(progress(d), &record.Progress{Runs: 2, Waiting: 1}) {
			t.Errorf("after the release everyone is shown %+v", d.Reevaluation)
		}
	}
	if page := string(b.Do("", http.MethodGet, b.task+"/evaluations", nil, "Accept", "text/html").Body); !strings.Contains(page, "Some runs have not been evaluated against it yet: 1 of 2 have.") {
		t.Error("after the release the page does not say how far the evaluation has come")
	}
	b.review(ada, false, false)
	b.due()
	if d, all := b.shown(""), b.shown("olga"); d.Reevaluation != nil || all.Reevaluation == nil {
		t.Errorf("while an unpublished run waits, everyone is shown %+v, organizers %+v", d.Reevaluation, all.Reevaluation)
	}
	b.review(ada, true, false)
	b.evaluate(ada)
	for range 2 {
		b.due()
	}
	b.listed("", 2, bob, ada)
	if d := b.shown("olga"); d.Reevaluation != nil {
		t.Errorf("%+v", d.Reevaluation)
	}
	var audit struct{ Data []record.AuditEntry }
	b.Want(http.StatusOK, &audit, "olga", http.MethodGet, b.task+"/audit-entries", nil)
	if !slices.ContainsFunc(audit.Data, func(a record.AuditEntry) bool { return a.Action == "board.released" }) {
		t.Error("no audit entry tells of the release")
	}
}

// Before the runs have been counted nobody is told of none of none, also when the new version is released at once.
func TestLeaderboard_SaysThatRunsAreBeingCounted(t *testing.T) {
	b := newBoards(t)
	ada := b.submit("ada", "1,a\n2,b\n")
	b.submit("bob", "1,a\n2,a\n")
	b.review(ada, true, false)
	says := func(user, want string) {
		t.Helper()
		page := string(b.Want(http.StatusOK, nil, user, http.MethodGet, b.task+"/evaluations", nil, "Accept", "text/html").Body)
		dataset := string(b.Want(http.StatusOK, nil, user, http.MethodGet, "/v1/datasets/"+b.dataset, nil).Body)
		if !strings.Contains(page, want) || !strings.Contains(dataset, `"reevaluation":{"startedAt"`) || strings.Contains(page, "0 of 0") || strings.Contains(dataset, `"runs":0`) {
			t.Errorf("as %q, want %q: %s\n%s", user, want, dataset, page)
		}
	}
	b.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/datasets/"+b.dataset, map[string]any{"truths": []any{inlineFile("truth.csv", "id,label\n1,b\n2,a\n")}})
	for _, user := range []string{"", "olga"} {
		says(user, "evaluated against version 2; they are being counted.")
	}
	b.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/datasets/"+b.dataset, map[string]any{"boardVersion": 2})
	for _, user := range []string{"", "olga"} {
		says(user, "Some runs have not been evaluated against it yet; they are being counted.")
		says(user, "Here is no published result against this version of the truth yet.")
	}
	b.due()
	says("", "0 of 1 have.")
	says("olga", "0 of 2 have.")
	b.review(ada, false, false)
	b.changeTruth("1,b\n2,b\n")
	says("", "evaluated against version 3.")
	says("olga", "evaluated against version 3: 0 of 2 have.")
}

// The earlier result of a run that failed against a changed truth is shown as long as the earlier version is, and its review says so.
func TestReview_SaysThatAnEarlierResultIsShown(t *testing.T) {
	b := newBoards(t)
	ada, cid := b.submit("ada", "1,a\n2,b\n"), b.submit("cid", "1,b\n2,b\n")
	b.runs = map[string]string{"ada": ada, "cid": cid}
	for _, run := range b.runs {
		b.review(run, true, false)
	}
	b.changeTruth("1,a\n2,c\n")
	b.evaluate(cid) // which fails: none of its labels is in the truth
	b.listed("", 1, ada, cid)
	notice := func(want string) {
		t.Helper()
		var r record.Review
		if b.Want(http.StatusOK, &r, "olga", http.MethodGet, "/v1/runs/"+cid+"/review", nil); !strings.Contains(r.Notice, want) {
			t.Errorf("the notice is %q, want %q", r.Notice, want)
		}
	}
	notice("failed against the changed ground truth: leaderboards show its earlier result until")
	b.evaluate(ada)
	for range 3 {
		b.due()
	}
	b.listed("", 2, ada)
	notice("the run is failed, so leaderboards show nothing of it")
}

// A truth that changes again while runs wait leaves the board as it is until the newest is evaluated.
func TestLeaderboard_WaitsForTheNewestTruth(t *testing.T) {
	b := newBoards(t)
	ada, bob := b.submit("ada", "1,a\n2,b\n"), b.submit("bob", "1,a\n2,a\n")
	b.runs = map[string]string{"ada": ada, "bob": bob}
	b.review(ada, true, false)
	b.review(bob, true, false)
	b.changeTruth("1,b\n2,a\n")
	b.evaluate(ada)
	b.changeTruth("1,b\n2,b\n")
	b.evaluate(ada)
	b.listed("", 1, ada, bob)
	b.listed("ada", 1, ada, bob)
	b.evaluate(bob) // which fails: none of its labels is in the truth
	b.due()
	b.listed("", 3, ada)
	b.listed("bob", 3, ada)
	b.changeTruth("1,a\n2,b\n")
	b.evaluate(ada)
	b.evaluate(bob)
	b.due()
	b.listed("", 4, ada, bob)
	for _, id := range []string{ada, bob} {
		items, err := b.Store.Get(t.Context(), store.Strong, record.RunKey(id))
		if err != nil {
			t.Fatal(err)
		}
		var r record.RunItem
		if err := record.Decode(items[0], &r); err != nil || r.Held || r.Listed != "" {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
