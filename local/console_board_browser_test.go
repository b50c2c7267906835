//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/webpage/browsertest"
)

// board makes a task with a dataset and opens its leaderboard.
func (s *testServer) board(t *testing.T) *consolePage {
	t.Helper()
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n2 0 lake 1\n", map[string]any{"name": "Waters"})
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/leaderboard")
	p.Sees("No run has a result.")
	return p
}

// TestConsole_ShowsNoOtherResultsWhenAToolFails refuses the public view. The page must not show the organizer's results under its name.
func TestConsole_ShowsNoOtherResultsWhenAToolFails(t *testing.T) {
	t.Parallel()
	p := useShared(t).board(t)
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = request => request.url.includes("/v1/tools/")
? Promise.resolve(new Response('{"detail":"This is refused."}', {status: 403})) : real(request); }`)
	p.Press("As others see it")
	p.Sees("This is refused.")
	if browsertest.Evaluate[bool](p.Page, `document.body.innerText.includes("No run has a result.")`) {
		t.Error("the leaderboard of another view is still shown")
	}
}

// TestConsole_DownloadsAllPagesOfALeaderboard answers the table in two pages. The download must be one table of the shown view.
func TestConsole_DownloadsAllPagesOfALeaderboard(t *testing.T) {
	t.Parallel()
	p, task := useShared(t).organizedTask(t, 1)
	p.Fill("Select this one", "true")
	p.Press("Unblind and publish 1 run")
	p.Press("Yes, go on")
	p.Sees("1 run is published.")
	p.Visit(task + "/leaderboard?view=public")
	p.Sees("Download CSV")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.asked = [];
window.fetch = request => {
	if (request.headers.get("Accept") !== "text/csv") return real(request);
	const next = asked.push(request.url) === 1 ? {Link: '<' + new URL(request.url).pathname + '?offset=200>; rel="next"'} : {};
	return Promise.resolve(new Response("rank,team\n" + asked.length + ",Otters\n", {headers: next}));
};
const create = URL.createObjectURL; URL.createObjectURL = blob => { blob.text().then(text => window.saved = text); return create(blob); } }`)
	p.Press("Download CSV")
	p.Await(`window.saved !== undefined`)
	if got := browsertest.Evaluate[string](p.Page, `window.saved`); got != "rank,team\n1,Otters\n2,Otters\n" {
		t.Errorf("the table is %q", got)
	}
	if first := browsertest.Evaluate[string](p.Page, `asked[0]`); !strings.Contains(first, "view=public") {
		t.Errorf("the table was asked for by %s", first)
	}
}

// TestConsole_OpensTheLeaderboardOfTheTest opens the leaderboard of a task whose newest dataset is no test split. It must show the test
// split.
func TestConsole_OpensTheLeaderboardOfTheTest(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Final", "split": "test"})
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Practice"})
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/leaderboard")
	p.Sees("Practice")
	if shown := browsertest.Evaluate[string](p.Page, `document.querySelector("main [aria-pressed=true]").textContent`); shown != "Final" {
		t.Errorf("the leaderboard of %q is shown", shown)
	}
}

// TestConsole_LinksOnlyToRunsThatItShows opens a board with a published run of a private submission, and compares the run, as a user who
// does not see the run.
func TestConsole_LinksOnlyToRunsThatItShows(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	runs := []string{s.submitTo(t, "ada", task, open, "First"), s.submitTo(t, "ada", task, open, "Second")}
	s.awaitRuns(t, owner, task)
	for _, run := range runs {
		s.call(t, owner, http.MethodPatch, "/v1"+run+"/review", map[string]any{"published": true, "blinded": false}, nil)
	}
	p := s.signedIn(t, "eve", strings.TrimPrefix(task, "/v1")+"/leaderboard")
	p.Press("All runs")
	p.Await(`document.querySelectorAll("main tbody tr").length === 2`)
	p.Sees("(private)")
	p.Await(`!document.querySelector("main a[href^='#/runs/']")`)
	p.Visit("/compare?tool=diffir&runs=" + strings.TrimPrefix(runs[0], "/runs/") + "," + strings.TrimPrefix(runs[1], "/runs/"))
	p.Sees("At least one of these runs belongs to a private submission.")
	p.Await(`!document.querySelector("main a[href^='#/runs/']")`)
	p.lacks("Fuse these runs to one")
	p = s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/leaderboard")
	p.Await(`document.querySelector("main a[href^='#/runs/']") !== null`)
}

// TestConsole_ShowsABoardOnceItsDatasetCloses opens the leaderboard of a dataset that shows scores after its close, and waits for the
// close.
func TestConsole_ShowsABoardOnceItsDatasetCloses(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	screen := strings.TrimPrefix(task, "/v1")
	p := s.signedIn(t, "owner", screen)
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"columns": []any{map[string]any{"key": "AP", "from": "close"}},
		"submissions": map[string]any{"closesAt": time.Now().Add(5 * time.Second)}})
	p.Visit(screen + "/leaderboard?view=public")
	p.Sees("Nothing is shown before")
	p.Sees("Others see the result of a run once it is published, unless the organizers have blinded it")
}

// TestConsole_DropsChoicesThatADatasetLacks opens the final runs of a dataset, then another dataset that takes none, then a link with a
// measure and a version that the dataset lacks. Each must show the board.
func TestConsole_DropsChoicesThatADatasetLacks(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Practice"})
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Contest", "split": "test", "finalRuns": 1})
	screen := strings.TrimPrefix(task, "/v1") + "/leaderboard"
	p := s.signedIn(t, "owner", screen)
	p.Press("Final runs")
	p.Await(`location.hash.includes("show=final")`)
	p.Press("Practice")
	p.Await(`location.hash.includes("dataset=") && !location.hash.includes("show=")`)
	p.Sees("No run has a result.")
	p.lacksText("takes none")
	p.Visit(screen + "?sort=P%4077&against=9&columns=P%4077")
	p.Sees("No run has a result.")
	p.Await(`!location.hash.includes("sort=") && !location.hash.includes("against=")`)
}
