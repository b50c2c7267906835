package functions_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// valued is a number of the test: the value of a column of a run, or of a topic. All are different.
type valued struct{ run, column int }

var (
	ofRuns   = regexp.MustCompile(`0\.7[0-9][0-9]1`)
	ofTopics = regexp.MustCompile(`0\.8[0-9][0-9]1`)
)

// number returns the number, which begins with the digit. No mean of the numbers of two adjacent runs is another number.
func (v valued) number(digit int) float64 {
	return float64(digit)/10 + float64(v.column)/100 + float64(v.run)/1000 + 0.0001
}

// numbersIn returns the numbers of runs and topics in a text.
func numbersIn(text []byte) map[string]bool {
	found := map[string]bool{}
	for _, of := range []*regexp.Regexp{ofRuns, ofTopics} {
		for _, number := range of.FindAll(text, -1) {
			found[string(number)] = true
		}
	}
	return found
}

// ruledColumns have every audience and every kind of instant.
func ruledColumns(instant record.Instant) []record.Column {
	return []record.Column{
		{Key: "RR", Audience: record.ForOrganizers},
		{Key: "P@5", From: record.FromClose},
		{Key: "AP"},
		{Key: "P@10", Audience: record.ForTeam},
		{Key: "nDCG@10", From: record.From(instant.String())},
		{Key: "Rprec", From: record.FromPublication},
	}
}

// world is a dataset with runs of every review, each with values of all columns.
type world struct {
	*phases
	columns []record.Column
	runs    []*recordtest.Run
}

func newWorld(t *testing.T) *world {
	w := &world{}
	w.phases = newPhases(t, func(d *record.DatasetItem) {
		w.columns = ruledColumns(record.At(time.Now().Add(time.Hour)))
		var names []string
		for _, c := range w.columns {
			names = append(names, c.Key)
		}
		recordtest.Measures(names...)(d)
		d.Columns = w.columns
		d.Submissions.ClosesAt = new(record.At(time.Now().Add(2 * time.Hour)))
	})
	for _, r := range []struct {
		user    string
		options []recordtest.RunOption
	}{
		{"ada", []recordtest.RunOption{recordtest.Published, recordtest.Public}},
		{"ada", nil},
		{"ada", []recordtest.RunOption{recordtest.Published, recordtest.Blinded}},
		{"bob", []recordtest.RunOption{recordtest.Published}},
		{"bob", []recordtest.RunOption{recordtest.Blinded}},
		{olga, []recordtest.RunOption{recordtest.Baseline, recordtest.Published}},
	} {
		n := len(w.runs)
		withValues := func(run *recordtest.Run) {
			run.Topics.PerTopic = map[string]map[string]float64{"q1": {}}
			for i, c := range w.columns {
				v := valued{n, i}
				run.Evaluation.Measures[c.Key] = new(v.number(7))
				run.Topics.PerTopic["q1"][c.Key] = v.number(8)
			}
		}
		w.runs = append(w.runs, w.dataset.Run(r.user, append([]recordtest.RunOption{withValues}, r.options...)...))
	}
	return w
}

// expected returns the numbers of runs, or of topics, that the caller sees, as the sentences of the documents say.
func (w *world) expected(user string, now time.Time, digit int) map[string]bool {
	seen := map[string]bool{}
	for n, run := range w.runs {
		own := user == "ada" && n < 3 || user == "bob" && (n == 3 || n == 4)
		for i, c := range w.columns {
			at, isInstant := c.From.At()
			begun := c.From == "" || isInstant && !now.Before(at.Time) || c.From == record.FromPublication && run.Access.Published ||
				c.From == record.FromClose && !now.Before(w.dataset.Submissions.ClosesAt.Time)
			byReview := !run.Access.Blinded && (own || run.Access.Published)
			forCaller := c.Audience == "" || c.Audience == record.ForTeam && own
			if user == olga || user == "root" || byReview && begun && forCaller {
				seen[fmt.Sprintf("%.4f", valued{n, i}.number(digit))] = true
			}
		}
	}
	return seen
}

// TestColumns_AreSeenByOneRule asks each path that shows values, as each caller and at three instants. Each value is a number of its own. A
// path that shows all values has exactly those that the rule shows, and no other path has one more.
func TestColumns_AreSeenByOneRule(t *testing.T) {
	w := newWorld(t)
	for _, ahead := range []time.Duration{0, 90 * time.Minute, 3 * time.Hour} {
		w.ahead.Store(int64(ahead))
		w.runDue()
		for _, user := range []string{"", "unrelated", "ada", "bob", olga, "root"} {
			w.checkWhole(t, user)
			w.checkOthers(t, user)
		}
	}
}

// checkWhole asks the paths that show all values.
func (w *world) checkWhole(t *testing.T, user string) {
	t.Helper()
	want := w.expected(user, w.Now(), 7)
	dataset := "filter[datasetId]=" + w.dataset.ID
	board := w.dataset.Board()
	whole := w.dataset.Path() + "/leaderboard"
	for _, ask := range [][2]string{
		{"/v1/evaluations?limit=100&" + dataset, "application/json"}, {"/v1/evaluations?limit=100&" + dataset, "text/csv"},
		{board, "application/json"}, {board + "?sort=rank", "application/json"}, {board + "?sort=AP", "text/csv"},
		{board + "?best=false&" + dataset, "text/html"}, {whole, "text/csv"}, {whole + "?sort=AP", "application/jsonl"},
	} {
		got := numbersIn(w.Do(user, http.MethodGet, ask[0], nil, "Accept", ask[1]).Body)
		if !maps.Equal(got, want) {
			t.Errorf("%s as %s, for %q after %v:\n got %v\nwant %v", ask[0], ask[1], user, time.Duration(w.ahead.Load()), sorted(got), sorted(want))
		}
	}
	single := map[string]bool{}
	for _, r := range w.runs {
		for number := range numbersIn(w.Do(user, http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil).Body) {
			single[number] = true
		}
	}
	both := maps.Clone(want)
	maps.Copy(both, w.expected(user, w.Now(), 8))
	if !maps.Equal(single, both) {
		t.Errorf("single evaluations for %q:\n got %v\nwant %v", user, sorted(single), sorted(both))
	}
	tool := w.Do(user, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": w.dataset.ID, "best": false})
	if got := numbersIn(tool.Body); !maps.Equal(got, want) {
		t.Errorf("the tool's leaderboard for %q:\n got %v\nwant %v", user, sorted(got), sorted(want))
	}
}

// checkOthers asks for orders by each column, comparisons of runs and everything else. No answer has a number beyond the rule, and an order
// by a column that the caller does not see is refused like one by a column that does not exist.
func (w *world) checkOthers(t *testing.T, user string) {
	t.Helper()
	seen := w.expected(user, w.Now(), 7)
	maps.Copy(seen, w.expected(user, w.Now(), 8))
	check := func(what string, body []byte) {
		t.Helper()
		for number := range numbersIn(body) {
			if !seen[number] {
				t.Errorf("%s shows %s to %q after %v:\n%s", what, number, user, time.Duration(w.ahead.Load()), body)
			}
		}
	}
	others := w.expected("", w.Now(), 7)
	for i, c := range w.columns {
		sortable := user == olga || user == "root" || others[fmt.Sprintf("%.4f", valued{0, i}.number(7))]
		a := w.Do(user, http.MethodGet, w.dataset.Board()+"?sort="+url.QueryEscape(c.Key), nil)
		unknown := w.Do(user, http.MethodGet, w.dataset.Board()+"?sort=Bpref", nil)
		if (a.Status == http.StatusOK) != sortable || !sortable && detailOf(a.Body) != detailOf(unknown.Body) {
			t.Errorf("sorted by %s, %q gets %d %s", c.Key, user, a.Status, a.Body)
		}
		check("sort="+c.Key, a.Body)
		tool := w.Do(user, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": w.dataset.ID, "measure": c.Key})
		if (tool.Status == http.StatusOK) != sortable {
			t.Errorf("the tool sorted by %s, %q: %d %s", c.Key, user, tool.Status, tool.Body)
		}
		check("the tool by "+c.Key, tool.Body)
		for _, n := range []int{0, 1, 2, 3, 4} {
			runs := []any{map[string]any{"runId": w.runs[n].ID}, map[string]any{"runId": w.runs[(n+1)%6].ID}}
			for _, name := range []string{"significance", "topics"} {
				in := map[string]any{"runs": runs, "measure": c.Key}
				check(name+" by "+c.Key, w.Do(user, http.MethodPost, "/v1/tools/"+name, in).Body)
				in["runs"] = runs[:1]
				check(name+" by "+c.Key, w.Do(user, http.MethodPost, "/v1/tools/"+name, in).Body)
			}
		}
	}
	for _, r := range w.runs {
		for _, path := range []string{"/v1/runs/" + r.ID, "/v1/runs/" + r.ID + "/review", "/v1/submissions/" + r.SubmissionID,
			"/v1/evaluations/" + r.EvaluationID} {
			check(path, w.Do(user, http.MethodGet, path, nil).Body)
			check(path, w.Do(user, http.MethodGet, path, nil, "Accept", "text/html").Body)
		}
	}
	for _, path := range []string{w.task.Path(), w.dataset.Path(), "/", "/v1/runs", "/v1/audit"} {
		check(path, w.Do(user, http.MethodGet, path, nil).Body)
	}
}

func detailOf(body []byte) string {
	var p struct{ Detail string }
	_ = json.Unmarshal(body, &p)
	return p.Detail
}

func sorted(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), " ") }

// TestColumns_OrderNothingByValuesThatTheTeamDoesNotSee sorts by a column that waits for the publication of each review. Runs of the team
// that are not published come last, without a rank, whatever their values are.
func TestColumns_OrderNothingByValuesThatTheTeamDoesNotSee(t *testing.T) {
	for _, hidden := range []float64{0.1, 0.9} {
		f := newPhases(t, recordtest.Measures("AP", "RR"), func(d *record.DatasetItem) {
			d.Columns = []record.Column{{Key: "AP", From: record.FromPublication}, {Key: "RR"}}
		})
		byTopic := func(value float64) recordtest.RunOption {
			return func(r *recordtest.Run) {
				r.Topics.PerTopic = map[string]map[string]float64{}
				for i := range 8 {
					r.Topics.PerTopic[fmt.Sprint(i)] = map[string]float64{"AP": value + float64(i)/1000}
				}
			}
		}
		shown := f.dataset.Run("ada", recordtest.Published, recordtest.Value("AP", 0.5), byTopic(0.5))
		own := f.dataset.Run("ada", recordtest.Value("AP", hidden), byTopic(hidden))
		for _, best := range []string{"false", "true"} {
			var list struct{ Data []record.Evaluation }
			f.Want(http.StatusOK, &list, "ada", http.MethodGet, f.dataset.Board()+"?sort=AP&best="+best, nil)
			if list.Data[0].RunID != shown.ID || list.Data[0].Rank != 1 {
				t.Errorf("best=%s: %+v", best, list.Data)
			}
			if best == "false" && (len(list.Data) != 2 || list.Data[1].RunID != own.ID || list.Data[1].Rank != 0) {
				t.Errorf("the run that is not published is %+v", list.Data)
			}
		}
		var tool struct{ Entries []map[string]any }
		f.Want(http.StatusOK, &tool, "ada", http.MethodPost, "/v1/tools/leaderboard", map[string]any{
			"datasetId": f.dataset.ID, "measure": "AP", "best": false})
		if last := tool.Entries[1]; last["runId"] != own.ID || last["group"] != nil || last["interval"] != nil || last["rank"] != nil {
			t.Errorf("the tool's entry of the run that is not published is %v", last)
		}
	}
}
