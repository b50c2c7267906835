//go:build browser

package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/webpage/browsertest"
)

// measured makes a dataset with the measures AP and P@2 and with a public baseline. It returns the task and the dataset, and the form of
// the dataset.
func (s *testServer) measured(t *testing.T) (task, dataset string, p *consolePage) {
	t.Helper()
	owner := s.token(t, "owner")
	task = s.task(t, owner, "Lakes")
	dataset = s.dataset(t, owner, task, "1 0 lake 1\n2 0 lake 1\n", map[string]any{"publish": "onCompletion",
		"evaluator": map[string]any{"kind": "retrieval", "measures": []any{"AP", "P@2"}}})
	file := inline("run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	file["datasetId"] = dataset
	s.post(t, owner, task+"/submissions", map[string]any{"type": "upload", "baseline": true, "title": "Entry", "files": []any{file}})
	s.awaitRuns(t, owner, task)
	p = s.signedIn(t, "owner", "/datasets/"+dataset+"/edit")
	p.Sees("Save the dataset")
	return strings.TrimPrefix(task, "/v1"), dataset, p
}

// TestConsole_OrdersMeasures moves the second measure of a dataset up, and gives it a title and two decimals. Leaderboards must show it
// first, and no run may be evaluated again.
func TestConsole_OrdersMeasures(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, dataset, p := s.measured(t)
	p.Press("Move P@2 up")
	p.Sees("P@2 is number 1 of 2, and ranks.")
	p.awaitFocus("Move P@2 up")
	p.Press("Move P@2 down")
	p.awaitFocus("Move P@2 down")
	p.Press("Move P@2 up")
	p.awaitFocus("Move P@2 up")
	p.Press("How leaderboards show it: P@2")
	p.Fill("P@2 > Title", "First two")
	p.Fill("P@2 > Decimals", "2")
	p.Check(p.url+"/", "blob:")
	p.Press("Save the dataset")
	p.Sees("P@2 becomes the measure that ranks, instead of AP.")
	p.Press("Save the dataset, with these effects")
	p.Sees("Saved.")
	var saved struct {
		TruthVersion int
		Evaluator    struct{ Measures []string }
	}
	s.get(t, s.token(t, "owner"), "/v1/datasets/"+dataset, &saved)
	if saved.TruthVersion != 1 || strings.Join(saved.Evaluator.Measures, " ") != "AP P@2" {
		t.Errorf("the dataset has %+v", saved)
	}
	p.Visit(task + "/leaderboard")
	p.Await(`[...document.querySelectorAll("main thead button")].map(b => b.textContent).join() === "First two,AP"`)
	p.Await(`[...document.querySelectorAll("main tbody td.number")].slice(1).map(c => c.firstChild.textContent).join() === "0.25,0.5000"`)
	p.Sees("Rank by First two.")
	p.Visit(task)
	p.Sees("First two P@2 (ranks)")
}

// TestConsole_ShowsFaultsOfMeasuresAtTheirRows saves a measure that does not exist, and then a folded field with a wrong value. The row
// must have the fault and the focus, and the field must unfold.
func TestConsole_ShowsFaultsOfMeasuresAtTheirRows(t *testing.T) {
	t.Parallel()
	_, _, p := useShared(t).measured(t)
	p.Fill("Add a measure", "Lakes@3")
	p.Press("Add a measure > Add")
	p.Press("Move Lakes@3 up")
	p.Press("Save the dataset")
	p.Sees("look at what is marked above")
	p.awaitFocus("fault")
	p.Await(`document.querySelector(".rows > li:nth-child(2) .fault")?.textContent.includes("Lakes@3")`)
	p.Press("Remove Lakes@3")
	p.Await(`!document.querySelector(".fault")`)
	for _, wrong := range []struct{ field, value, selector string }{
		{"AP > Decimals", "13", "input[type=number]:invalid"}, {"AP > Title", "\u202eAP", "[aria-invalid=true]"},
	} {
		p.Press("How leaderboards show it: AP")
		p.Fill(wrong.field, wrong.value)
		p.Press("How leaderboards show it: AP")
		p.Await(`!document.querySelector(".rows details[open]")`)
		p.Press("Save the dataset")
		p.Await(`document.querySelector(".rows li:first-child details[open]") && document.activeElement.matches("` + wrong.selector + `")`)
		p.Fill(wrong.field, "")
		p.Press("How leaderboards show it: AP")
	}
}

// TestConsole_KeepsColumnsInStep moves a measure while somebody else adds another one. The form must show the new order with the new
// measure, and save it.
func TestConsole_KeepsColumnsInStep(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	_, dataset, p := s.measured(t)
	path := "/v1/datasets/" + dataset
	p.Press("Move P@2 up")
	s.call(t, s.token(t, "owner"), http.MethodPatch, path,
		map[string]any{"evaluator": map[string]any{"measures": []any{"AP", "P@2", "RR"}}}, nil)
	p.returnOften()
	p.Sees("Somebody else saved: AP, P@2, RR.")
	p.Await(`[...document.querySelectorAll(".rows > li > div > code")].map(c => c.textContent).join() === "P@2,AP,RR"`)
	p.Press("Save the dataset")
	p.Press("Save the dataset, with these effects")
	p.Sees("Saved.")
	var saved struct{ Columns []struct{ Key string } }
	s.get(t, s.token(t, "owner"), path, &saved)
	if want := []struct{ Key string }{{"P@2"}, {"AP"}, {"RR"}}; !slices.Equal(saved.Columns, want) {
		t.Errorf("the dataset has %+v", saved)
	}
}

// TestConsole_SaysThatLowerIsBetter adds a dataset with an evaluator of the organizers, for whose measure lower values are better.
func TestConsole_SaysThatLowerIsBetter(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/datasets/new")
	p.Fill("Name", "Waters")
	p.Fill("What participants submit", "worker")
	p.Fill("Image of the evaluator", "registry.example/loss:1")
	p.Press("How leaderboards show it: Score")
	p.Fill("Lower is better", "true")
	p.Press("Add the dataset")
	p.Sees("The dataset is there.")
	var made struct {
		Data []struct{ Columns []record.Column }
	}
	s.get(t, owner, "/v1/datasets?filter[taskId]="+id(task), &made)
	if c := made.Data[0].Columns[0]; c.Key != "Score" || c.LowerIsBetter == nil || !*c.LowerIsBetter {
		t.Errorf("the dataset has %+v", c)
	}
	p.Visit(strings.TrimPrefix(task, "/v1"))
	p.Sees("Measured by the organizers' evaluator. Lower is better.")
}

// TestConsole_ShowsEachColumnFromItsTime opens a leaderboard with a column that is seen at once and one that is seen after the close. A
// visitor must see only the first before the close, and both after it. The organizers must read what others do not see.
func TestConsole_ShowsEachColumnFromItsTime(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, dataset, p := s.measured(t)
	s.call(t, s.token(t, "owner"), http.MethodPatch, "/v1/datasets/"+dataset, map[string]any{
		"columns":     []any{map[string]any{"key": "AP"}, map[string]any{"key": "P@2", "from": "close"}},
		"submissions": map[string]any{"closesAt": time.Now().Add(12 * time.Second)}}, nil)
	visitor := s.open(t, "/console#"+task+"/leaderboard", browsertest.DeskLight)
	visitor.Sees("More columns are shown later: P@2 after the last close.")
	visitor.Await(headings("AP"))
	visitor.Check(p.url + "/")
	p.Visit(task + "/leaderboard")
	p.Sees("Others do not see these columns now: P@2 (shown after the last close).")
	p.Await(headings("AP,P@2"))
	p.Press("As others see it")
	p.Await(headings("AP"))
	visitor.Await(headings("AP,P@2"))
	visitor.lacksText("More columns are shown later")
	p.Await(headings("AP,P@2"))
}

// headings is true if the leaderboard has exactly these columns.
func headings(columns string) string {
	return `[...document.querySelectorAll("main thead th:nth-child(n+4)")].map(c => c.textContent).join() === "` + columns + `"`
}

// TestConsole_RanksNothingInColumnsOfTeams publishes a run whose only column its team sees. The team must see its result without a rank,
// and a heading that does not sort. A visitor must read that teams see only their own results.
func TestConsole_RanksNothingInColumnsOfTeams(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	run := s.submitTo(t, "ada", task, open, "Entry")
	s.awaitRuns(t, owner, task)
	s.call(t, owner, http.MethodPatch, "/v1"+run+"/review", map[string]any{"published": true, "blinded": false}, nil)
	columns := []any{map[string]any{"key": "AP", "audience": "team"}}
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"columns": columns}, nil)
	board := strings.TrimPrefix(task, "/v1") + "/leaderboard?dataset=" + open
	p := s.signedIn(t, "ada", board)
	p.Sees("The entries have no rank: a team sees only the results of its own runs now.")
	p.Await(headings("AP"))
	p.Await(`!document.querySelector("main thead button")`)
	p.Check(p.url + "/")
	p.Visit(run)
	p.Sees("Scores")
	p.lacksText("(ranks)")
	p = s.signedIn(t, "owner", board)
	p.Sees("Others do not see these columns now: AP (only the team of each run sees it).")
	s.open(t, "/console#"+board, browsertest.DeskLight).Sees("A team sees only the results of its own runs on this dataset")
}

// unchanged is true if the form of the page has no changes that are not saved.
const unchanged = `![...document.querySelectorAll("main form button")].some(b => ["Start over", "Cancel"].includes(b.textContent))`

// TestConsole_ChoosesWhoSeesMeasures chooses an instant for all measures at once, then only organizers for the first, and adds a measure.
// The new measure must have the rule of the first, and the choice for all must say that the measures differ.
func TestConsole_ChoosesWhoSeesMeasures(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, dataset, p := s.measured(t)
	var saved struct{ Columns []record.Column }
	p.Press("When scores are seen, and which runs count")
	p.Fill("When scores are seen", "instant")
	p.Press("Save the dataset")
	p.Await(`document.activeElement.matches("input[type=datetime-local]:invalid")`)
	p.Fill("Shown from", "2100-01-01T12:00")
	p.Check(p.url+"/", "blob:")
	p.Press("Save the dataset")
	p.Sees("What this will do")
	p.Press("Save the dataset, with these effects")
	p.Await(unchanged)
	s.get(t, s.token(t, "owner"), "/v1/datasets/"+dataset, &saved)
	for _, c := range saved.Columns {
		if at, ok := c.From.At(); !ok || at.Year() < 2099 {
			t.Errorf("%s is shown from %q", c.Key, c.From)
		}
	}
	p.Press("How leaderboards show it: AP")
	p.Fill("AP > Who sees it", "team")
	p.Fill("AP > From", "close")
	p.Await(`[...document.querySelectorAll("select")].some(s =>
s.selectedOptions[0].text === "Different for each measure: see the measures above")`)
	p.Fill("Add a measure", "RR")
	p.Press("Add a measure > Add")
	p.Press("Save the dataset")
	p.Press("Save the dataset, with these effects")
	p.Await(unchanged)
	s.get(t, s.token(t, "owner"), "/v1/datasets/"+dataset, &saved)
	if c := saved.Columns; len(c) != 3 || c[0].Audience != record.ForTeam || c[2].Audience != record.ForTeam || c[2].From != record.FromClose {
		t.Errorf("the dataset has %+v", saved)
	}
	p.Visit(task)
	p.Sees("Only the team of each run sees it, after the last close.")
	p.Check(p.url+"/", "blob:")
}
