package functions_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// leaderboards is a platform with a validation dataset and three teams. Their runs are evaluated when they are submitted.
type leaderboards struct {
	*platform
	runs map[string]string // listed runs, by user
}

func newLeaderboards(t *testing.T) *leaderboards {
	t.Helper()
	l := &leaderboards{platform: newPlatform(t, map[string]any{"registration": map[string]any{"mode": "open"}}), runs: map[string]string{}}
	l.newDataset(map[string]any{"split": "validation", "truths": []any{servertest.Inline("truth.csv", "id,label\n1,a\n2,b\n")}})
	for _, user := range []string{"ada", "bob", "cid"} {
		l.register(user, map[string]any{"affiliation": "University of " + user})
	}
	return l
}

// enter submits a run of the user with these lines, and evaluates it.
func (l *leaderboards) enter(user, lines string) (runID string) {
	l.t.Helper()
	body := servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.csv", "id,label\n"+lines))
	body["visibility"], body["title"] = "public", "Entry of "+user
	runID = l.submit(user, body).RunIDs[0]
	l.evaluate(runID)
	return runID
}

// enterPublished enters runs of ada and bob and publishes them.
func (l *leaderboards) enterPublished() (ada, bob string) {
	l.t.Helper()
	ada, bob = l.enter("ada", "1,a\n2,b\n"), l.enter("bob", "1,a\n2,a\n")
	l.runs = map[string]string{"ada": ada, "bob": bob}
	l.review(ada, true, false)
	l.review(bob, true, false)
	return ada, bob
}

func (l *leaderboards) review(runID string, published, blinded bool) {
	l.t.Helper()
	l.change("olga", "/v1/runs/"+runID+"/review", map[string]any{"published": published, "blinded": blinded})
}

// changeTruth stores another truth. The runs then wait to be evaluated again.
func (l *leaderboards) changeTruth(lines string) {
	l.t.Helper()
	l.change("olga", l.dataset, map[string]any{"truths": []any{servertest.Inline("truth.csv", "id,label\n"+lines)}})
	l.nextMinute()
}

// page returns the page of the leaderboard as the user sees it.
func (l *leaderboards) page(user, query string) string {
	l.t.Helper()
	return string(l.Want(http.StatusOK, nil, user, http.MethodGet, l.task+"/evaluations?"+query, nil, "Accept", "text/html").Body)
}

func (l *leaderboards) shown(user string) record.Dataset {
	l.t.Helper()
	return servertest.Get[record.Dataset](l.Server, user, l.dataset)
}

// progress returns the progress of the evaluation against a new truth, or nil if the dataset does not show it.
func progress(d record.Dataset) *record.Progress {
	if d.Reevaluation == nil {
		return nil
	}
	return d.Reevaluation.Progress
}

// listed requires that every list, as the user sees it, has these runs, and that each was evaluated against the version of the
// truth.
func (l *leaderboards) listed(user string, version int64, ranked ...string) {
	l.t.Helper()
	dataset := "filter[datasetId]=" + servertest.ID(l.dataset)
	for _, path := range []string{
		"/v1/evaluations?" + dataset, "/v1/evaluations?sort=rank&" + dataset, "/v1/evaluations?sort=Accuracy&" + dataset, l.task + "/evaluations",
		"/v1/evaluations?filter[runId]=" + strings.Join(slices.Collect(maps.Values(l.runs)), ","),
		l.task + "/evaluations?sort=rank", l.task + "/evaluations?best=true", l.task + "/evaluations?sort=Accuracy&" + dataset,
	} {
		runs := l.against(user, version, path)
		l.same(path, user, runs, ranked, strings.Contains(path, "sort") || strings.Contains(path, "best"))
	}
	csv := string(l.Do(user, http.MethodGet, l.task+"/evaluations?sort=rank", nil, "Accept", "text/csv").Body)
	page := l.page(user, "best=false")
	for name, id := range l.runs {
		if wanted := slices.Contains(ranked, id); strings.Contains(csv, id) != wanted || strings.Contains(page, "Entry of "+name) != wanted {
			l.t.Errorf("as %q, the table of text or the page has the run of %s wrongly:\n%s", user, name, csv)
		}
	}
	var board struct {
		TruthVersion int64
		Entries      []struct{ RunID string }
	}
	l.Want(http.StatusOK, &board, user, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": servertest.ID(l.dataset)})
	var runs []string
	for _, e := range board.Entries {
		runs = append(runs, e.RunID)
	}
	l.same("the tool for leaderboards", user, runs, ranked, true)
	if board.TruthVersion != version {
		l.t.Errorf("the tool for leaderboards has version %d of the truth, want %d", board.TruthVersion, version)
	}
}

func (l *leaderboards) same(where, user string, got, want []string, sorted bool) {
	l.t.Helper()
	want = slices.Clone(want)
	if !sorted {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("%s as %q has the runs %v, want %v", where, user, got, want)
	}
}

// against returns the runs of a list. All results must be against the truth version.
func (l *leaderboards) against(user string, version int64, path string) (runs []string) {
	l.t.Helper()
	for _, e := range servertest.List[record.Evaluation](l.Server, user, path) {
		if e.TruthVersion != version {
			l.t.Errorf("%s as %q has a result against version %d of the truth, want %d", path, user, e.TruthVersion, version)
		}
		runs = append(runs, e.RunID)
	}
	return runs
}

// While runs are evaluated against a changed truth, every list shows the results against the version before. Then all lists
// change.
func TestLeaderboard_ShowsTheLastCompleteVersion(t *testing.T) {
	l := newLeaderboards(t)
	ada, bob := l.enterPublished()
	cid := l.enter("cid", "1,b\n2,a\n")
	l.runs["cid"] = cid
	if d := l.shown(""); d.BoardVersion != 1 || d.Reevaluation != nil {
		t.Fatalf("%+v", d)
	}
	l.listed("", 1, ada, bob)
	l.listed("cid", 1, ada, bob, cid)

	l.changeTruth("1,b\n2,a\n")
	l.listed("", 1, ada, bob)
	l.evaluate(ada)
	late := l.enter("ada", "1,a\n2,a\n") // it has no result against the first truth
	l.review(late, true, false)
	l.listed("", 1, ada, bob)
	l.listed("cid", 1, ada, bob, cid)
	l.listed("olga", 1, ada, bob, cid)
	l.nextMinute()
	if d := l.shown(""); d.TruthVersion != 2 || d.BoardVersion != 1 || !reflect.DeepEqual(progress(d), &record.Progress{Runs: 2, Waiting: 1}) {
		t.Errorf("everyone is shown %+v", d.Reevaluation)
	}
	if d := l.shown("olga"); !reflect.DeepEqual(progress(d), &record.Progress{Runs: 3, Waiting: 2}) {
		t.Errorf("organizers are shown %+v", d.Reevaluation)
	}
	if !strings.Contains(l.page("", ""), "evaluated against version 2: 1 of 2 have") {
		t.Error("the page does not say how far the evaluation has come")
	}
	l.review(ada, true, true)
	l.listed("", 1, bob)
	l.review(ada, true, false)
	l.listed("", 1, ada, bob)

	l.evaluate(bob)
	l.evaluate(cid)
	l.runs["late"] = late
	for range 2 { // also before lists are updated
		l.nextMinute()
		if d := l.shown("olga"); d.BoardVersion != 2 || d.Reevaluation != nil {
			t.Errorf("once all are evaluated: boardVersion %d, %+v", d.BoardVersion, d.Reevaluation)
		}
		if strings.Contains(l.page("", ""), "Shown are the results against version") {
			t.Error("the page says that runs wait")
		}
	}
	l.same("the leaderboard", "", l.against("", 2, l.task+"/evaluations?sort=rank"), []string{bob, late, ada}, true)
}

func TestLeaderboard_OrganizersReleaseAVersion(t *testing.T) {
	l := newLeaderboards(t)
	ada, bob := l.enterPublished()
	l.changeTruth("1,b\n2,a\n")
	l.evaluate(bob)
	dataset, release := l.dataset, map[string]any{"boardVersion": 2}
	l.Want(http.StatusForbidden, nil, "ada", http.MethodPatch, dataset, release)
	l.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, dataset, map[string]any{"boardVersion": 3})
	l.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, dataset, map[string]any{"boardVersion": 2, "name": "Other"})
	l.listed("", 1, ada, bob)
	var d record.Dataset
	l.Want(http.StatusOK, &d, "olga", http.MethodPatch, dataset, release)
	if d.BoardVersion != 2 {
		t.Errorf("released: %+v", d)
	}
	l.nextMinute()
	l.same("the leaderboard", "", l.against("", 2, l.task+"/evaluations?sort=rank"), []string{bob}, true)
	for range 3 { // the progress is shown until the last run is evaluated
		l.nextMinute()
		if d := l.shown(""); !reflect.DeepEqual(progress(d), &record.Progress{Runs: 2, Waiting: 1}) {
			t.Errorf("after the release everyone is shown %+v", d.Reevaluation)
		}
	}
	if !strings.Contains(l.page("", ""), "Some runs have not been evaluated against it yet: 1 of 2 have.") {
		t.Error("after the release the page does not say how far the evaluation has come")
	}
	l.review(ada, false, false)
	l.nextMinute()
	if d, all := l.shown(""), l.shown("olga"); d.Reevaluation != nil || all.Reevaluation == nil {
		t.Errorf("while an unpublished run waits, everyone is shown %+v, organizers %+v", d.Reevaluation, all.Reevaluation)
	}
	l.review(ada, true, false)
	l.evaluate(ada)
	for range 2 {
		l.nextMinute()
	}
	l.listed("", 2, bob, ada)
	if d := l.shown("olga"); d.Reevaluation != nil {
		t.Errorf("%+v", d.Reevaluation)
	}
	if !strings.Contains(actions(l.auditEntries("olga", l.task+"/audit-entries")), "board.released") {
		t.Error("there is no audit entry of the release")
	}
}

// Until the runs have been counted, no answer says 0 of 0, even if the new version is released at once.
func TestLeaderboard_SaysThatRunsAreBeingCounted(t *testing.T) {
	l := newLeaderboards(t)
	ada := l.enter("ada", "1,a\n2,b\n")
	l.enter("bob", "1,a\n2,a\n")
	l.review(ada, true, false)
	says := func(user, want string) {
		t.Helper()
		page := l.page(user, "")
		dataset := string(l.Want(http.StatusOK, nil, user, http.MethodGet, l.dataset, nil).Body)
		if !strings.Contains(page, want) || !strings.Contains(dataset, `"reevaluation":{"startedAt"`) || strings.Contains(page, "0 of 0") ||
			strings.Contains(dataset, `"runs":0`) {
			t.Errorf("as %q, want %q: %s\n%s", user, want, dataset, page)
		}
	}
	l.change("olga", l.dataset, map[string]any{"truths": []any{servertest.Inline("truth.csv", "id,label\n1,b\n2,a\n")}})
	for _, user := range []string{"", "olga"} {
		says(user, "evaluated against version 2; they are being counted.")
	}
	l.change("olga", l.dataset, map[string]any{"boardVersion": 2})
	for _, user := range []string{"", "olga"} {
		says(user, "Some runs have not been evaluated against it yet; they are being counted.")
	}
	l.nextMinute()
	says("", "0 of 1 have.")
	says("olga", "0 of 2 have.")
	l.review(ada, false, false)
	l.changeTruth("1,b\n2,b\n")
	says("", "evaluated against version 3.")
	says("olga", "evaluated against version 3: 0 of 2 have.")
}

// If a run failed against a changed truth, its earlier result is shown as long as the earlier version is. Its review says so.
func TestReview_SaysThatAnEarlierResultIsShown(t *testing.T) {
	l := newLeaderboards(t)
	ada, cid := l.enter("ada", "1,a\n2,b\n"), l.enter("cid", "1,b\n2,b\n")
	l.runs = map[string]string{"ada": ada, "cid": cid}
	for _, run := range l.runs {
		l.review(run, true, false)
	}
	l.changeTruth("1,a\n2,c\n")
	for _, user := range []string{"cid", "olga"} {
		if r := servertest.Get[record.Run](l.Server, user, "/v1/runs/"+cid); !strings.Contains(r.Notice, "It is evaluated again") {
			t.Errorf("%s reads of the waiting run: %q", user, r.Notice)
		}
	}
	l.evaluate(cid) // fails: the truth has none of its labels
	for _, user := range []string{"cid", "olga"} {
		r := servertest.Get[record.Run](l.Server, user, "/v1/runs/"+cid)
		if !strings.Contains(r.Notice, "It failed when it was evaluated again") {
			t.Errorf("%s reads of the run: %q", user, r.Notice)
		}
	}
	l.listed("", 1, ada, cid)
	notice := func(want string) {
		t.Helper()
		if r := servertest.Get[record.Review](l.Server, "olga", "/v1/runs/"+cid+"/review"); !strings.Contains(r.Notice, want) {
			t.Errorf("the notice is %q, want %q", r.Notice, want)
		}
	}
	notice("failed against the changed ground truth: leaderboards show its earlier result until")
	l.evaluate(ada)
	for range 3 {
		l.nextMinute()
	}
	l.listed("", 2, ada)
	notice("the run failed, so leaderboards show nothing of it")
}

// If a truth changes again while runs wait, the leaderboard does not change until the newest truth is evaluated.
func TestLeaderboard_WaitsForTheNewestTruth(t *testing.T) {
	l := newLeaderboards(t)
	ada, bob := l.enterPublished()
	l.changeTruth("1,b\n2,a\n")
	l.evaluate(ada)
	l.changeTruth("1,b\n2,b\n")
	l.evaluate(ada)
	l.listed("", 1, ada, bob)
	l.listed("ada", 1, ada, bob)
	l.evaluate(bob) // fails: the truth has none of its labels
	l.nextMinute()
	l.listed("", 3, ada)
	l.listed("bob", 3, ada)
	l.changeTruth("1,a\n2,b\n")
	l.evaluate(ada)
	l.evaluate(bob)
	l.nextMinute()
	l.listed("", 4, ada, bob)
	for _, id := range []string{ada, bob} {
		if r := recordtest.Get[record.RunItem](t, l.Store, record.RunKey(id)); r.Held || r.Listed != "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestLeaderboard_FollowsTheColumnsOfANewEvaluator replaces the only measure, which was for organizers, by one for everyone. Lists show the
// evaluations once they are of the new measure.
func TestLeaderboard_FollowsTheColumnsOfANewEvaluator(t *testing.T) {
	l := newLeaderboards(t)
	l.change("olga", l.dataset, map[string]any{"columns": []any{map[string]any{"key": "Accuracy", "audience": "organizers"}}})
	ada, bob := l.enterPublished()
	l.nextMinute()
	count := func(path string) int {
		var list struct{ Data []record.Evaluation }
		body := l.Do("", http.MethodGet, path, nil).Body
		if len(body) > 0 {
			if err := json.Unmarshal(body, &list); err != nil {
				t.Fatal(err)
			}
		}
		return len(list.Data)
	}
	all, board := l.task+"/evaluations", l.task+"/evaluations?sort=rank"
	if count(all) != 0 || count(board) != 0 {
		t.Errorf("%d and %d entries are listed while the measure is for organizers", count(all), count(board))
	}
	l.change("olga", l.dataset, map[string]any{"evaluator": map[string]any{"measures": []any{"F1(average=macro)"}}, "columns": nil})
	l.nextMinute()
	l.evaluate(ada)
	l.evaluate(bob)
	for range 4 {
		l.nextMinute()
	}
	if d := l.shown("olga"); d.BoardVersion != d.TruthVersion || d.TruthVersion != 2 {
		t.Fatalf("the leaderboard shows version %d of %d", d.BoardVersion, d.TruthVersion)
	}
	if count(all) != 2 || count(board) != 2 {
		t.Errorf("%d and %d entries are listed", count(all), count(board))
	}
}
