//go:build !race

package tools_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/functions/tools/significance"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/testing/nightlytest"
)

// exampleUsers lists all kinds of callers, and whether they may know values by example of olga's task.
var exampleUsers = map[string]bool{
	"": false, "unrelated": false, "alice": false, "bob": false, "mate": false, "rival": false, "robot": false, "olga": true, "root": true,
}

// newExampleServer serves a task with a dataset of labels or of numbers. alice, with mate in her team, and bob take part in the
// task. rival organizes another task.
func newExampleServer(t *testing.T, option func(*record.DatasetItem)) *toolServer {
	s := newToolServer(t, record.Public)
	s.records.Task(recordtest.OwnedBy(s.records.Organizer("rival")))
	s.task.Register("alice", recordtest.With("mate"))
	s.task.Register("bob")
	s.dataset = s.task.Dataset(option, s.records.Truths("truth.csv", exampleTruth))
	return s
}

const exampleTruth = "id,label\ne0,1\ne1,2\ne2,1\ne3,2\n"

func numbers(d *record.DatasetItem) {
	recordtest.Labels("MAE", "RMSE")(d)
	d.Evaluator.Kind = "regression"
}

// addMeasured makes a run with these values by example of the measure that ranks the dataset.
func (s *toolServer) addMeasured(user string, values []float64) *record.RunItem {
	s.t.Helper()
	return s.newRun(runSpec{user: user, content: "id,label\ne0,1\ne1,2\ne2,2\ne3,2\n"}, func(r *recordtest.Run) {
		sum := 0.0
		r.Topics.PerTopic = map[string]map[string]float64{}
		for i, x := range values {
			sum += x
			r.Topics.PerTopic[fmt.Sprintf("e%d", i)] = map[string]float64{s.dataset.Primary().Key: x}
		}
		r.Evaluation.Measures[s.dataset.Primary().Key] = new(sum / float64(len(values)))
		r.Topics.Classes = &measure.Classes{Labels: []measure.Class{{Label: "telltale", Support: len(values)}}, Matrix: [][]int{{len(values)}}}
	}).RunItem
}

func TestTools_ShowValuesByExampleToOrganizers(t *testing.T) {
	for name, option := range map[string]func(*record.DatasetItem){"labels": recordtest.Labels("Accuracy", "MCC"), "numbers": numbers} {
		s := newExampleServer(t, option)
		values := []float64{1, 0, 1, 1, 0, 1, 0, 0}
		if name == "numbers" {
			values = []float64{1.5, 0.25, 1, 3, 0, 1.75, 2, 0.5}
		}
		other := slices.Clone(values)
		slices.Reverse(other)
		runs := runRefs(s.addMeasured("alice", values), s.addMeasured("bob", other))
		for user, may := range exampleUsers {
			e := answer[tools.EvaluatorOutput](s, user, "evaluator", object{"runs": runs, "perTopic": true})
			for _, r := range e.Runs {
				if (len(r.PerTopic) == len(values)) != may || (r.Classes != nil) != may || len(r.Intervals) != 1 {
					t.Errorf("%s: %q is shown %+v", name, user, r)
				}
			}
			drawn := string(s.invoke(http.StatusOK, nil, user, "evaluator", object{"runs": runs[:1]}, "Accept", "image/svg+xml").Body)
			if strings.Contains(drawn, "telltale") != may || strings.Contains(drawn, "Confusion matrix of ") != may {
				t.Errorf("%s: %q is shown %s", name, user, drawn)
			}
			status := http.StatusForbidden
			if may {
				status = http.StatusOK
			}
			s.invoke(status, nil, user, "topics", object{"runs": runs})
			out := answer[tools.SignificanceOutput](s, user, "significance", object{"runs": runs})
			if p := out.Pairs[0]; out.Rounded == may || (p.CohensD != nil || p.T != nil || p.Wilcoxon != nil || p.Randomization != nil ||
				p.McNemar != nil) != may || p.P == nil || out.Topics != len(values) || out.LeftOut != 0 {
				t.Errorf("%s: %q is shown %+v", name, user, out)
			}
			board := s.leaderboard(user)
			if len(board.Entries) != 2 || board.Entries[0].Interval == nil || board.Links.Topics != "" || board.Links.Significance == "" ||
				board.Rounds != 0 || board.Compared != 2 {
				t.Errorf("%s: %q is shown %+v", name, user, board)
			}
		}
	}
}

// ofServer matches the parts of an answer that differ between servers: ids of records and the address of the server.
var ofServer = regexp.MustCompile(`01[0-9A-HJKMNP-TV-Z]{24}|127\.0\.0\.1:\d+`)

// TestTools_TellNothingOfSingleExamples compares pairs of servers. Their runs have the same values for different examples, so the
// measures are equal. For all inputs, only organizers can tell from the answers which server sent them.
func TestTools_TellNothingOfSingleExamples(t *testing.T) {
	for name, option := range map[string]func(*record.DatasetItem){"labels": recordtest.Labels("Accuracy", "MCC"), "numbers": numbers} {
		const n = 40
		random := rand.New(rand.NewPCG(3, 4))
		var values [3][n]float64
		for run := range values {
			for i := range n {
				values[run][i] = float64(random.IntN(2))
				if name == "numbers" {
					values[run][i] = float64(random.IntN(64)) / 8
				}
			}
		}
		var servers [2]*toolServer
		for i := range servers {
			s := newExampleServer(t, option)
			order := random.Perm(n)
			for run, user := range []string{"alice", "bob", "olga"} {
				var own []float64
				for _, from := range order {
					own = append(own, values[run][from])
				}
				s.addMeasured(user, own)
			}
			servers[i] = s
		}
		for user, may := range exampleUsers {
			var found []string
			compare := func(tool string, input func(s *toolServer, runs []object) object, headers ...string) {
				var bodies [2][]byte
				for i, s := range servers {
					var runs []object
					for _, e := range s.leaderboard(user).Entries {
						runs = append(runs, object{"runId": e.RunID})
					}
					a := s.Do(user, http.MethodPost, "/v1/tools/"+tool, input(s, runs), append(headers, "X-Request-Id", "same")...)
					bodies[i] = ofServer.ReplaceAll(a.Body, []byte("x"))
				}
				if !bytes.Equal(bodies[0], bodies[1]) {
					same := 0
					for same < min(len(bodies[0]), len(bodies[1])) && bodies[0][same] == bodies[1][same] {
						same++
					}
					found = append(found, fmt.Sprintf("%s %v tells %.200q and %.200q", tool, headers, bodies[0][same:], bodies[1][same:]))
				}
			}
			for seed := range nightlytest.Count(2, 4) {
				for _, test := range []string{"", "t", "mcnemar", "wilcoxon", "randomization", "bootstrap"} {
					compare("significance", func(_ *toolServer, runs []object) object {
						in := object{"runs": runs, "seed": seed}
						if test != "" {
							in["test"] = test
						}
						return in
					})
				}
				compare("leaderboard", func(s *toolServer, _ []object) object { return object{"datasetId": s.dataset.ID, "seed": seed} })
				compare("evaluator", func(_ *toolServer, runs []object) object { return object{"runs": runs, "seed": seed, "perTopic": true} })
			}
			compare("significance", func(_ *toolServer, runs []object) object { return object{"runs": runs} }, "Accept", "text/html")
			compare("topics", func(_ *toolServer, runs []object) object { return object{"runs": runs} })
			if (len(found) > 0) != may {
				t.Errorf("%s: of %q: %s", name, user, strings.Join(found, "\n"))
			}
		}
	}
}

// TestSignificance_TellsLevelsOfP compares labels of two runs that differ on more and more examples while their scores stay the
// same.
func TestSignificance_TellsLevelsOfP(t *testing.T) {
	s := newExampleServer(t, recordtest.Labels("Accuracy", "MCC"))
	pair := func(first, second int) []object {
		var a, b []float64
		for i := range 60 {
			x, y := 0., 0.
			if i < first {
				x = 1
			} else if i < first+second {
				y = 1
			}
			a, b = append(a, x), append(b, y)
		}
		return runRefs(s.addMeasured("alice", a), s.addMeasured("bob", b))
	}
	for counts, want := range map[[2]int]float64{{12, 0}: 0.001, {13, 1}: 0.01, {14, 2}: 0.01, {16, 4}: 0.04, {18, 6}: 0.04, {24, 12}: 0.2,
		{5, 5}: 1, {0, 0}: 1, {40, 2}: 0.00001} {
		runs := pair(counts[0], counts[1])
		out := answer[tools.SignificanceOutput](s, "alice", "significance", object{"runs": runs, "correction": "none"})
		if p := out.Pairs[0]; *p.P != want || out.Test != "mcnemar" || p.Different != (want < 0.05) || p.Reasons["cohensD"] == "" {
			t.Errorf("%v: alice is shown %+v", counts, out)
		}
		exact := answer[tools.SignificanceOutput](s, "olga", "significance", object{"runs": runs, "correction": "none"})
		if p := exact.Pairs[0]; counts[0] > 0 && (p.McNemar.First != counts[0] || p.McNemar.Second != counts[1] || *p.P != p.McNemar.P ||
			p.McNemar.P > want || exact.Test != "mcnemar") {
			t.Errorf("%v: olga is shown %+v", counts, exact)
		}
	}
	s.wantTexts(s.page("", "significance", object{"runs": pair(30, 5)}), "p is rounded up", "McNemar", "60 examples",
		"Others than the organizers", "p, rounded up here, below 0.05).")
	s.wantTexts(s.page("", "significance", object{"runs": pair(24, 12)}), "cannot be distinguished",
		"p, rounded up here, below 0.05). Organizers see exact p, which can distinguish more pairs.")
	s.wantRefusal("alice", "significance", refusal{object{"runs": pair(3, 5), "test": "t"}, "/test", "mcnemar"})
	s.wantRefusal("alice", "significance", refusal{object{"runs": pair(3, 5), "test": "bootstrap"}, "/test", "mcnemar"})
}

// labelFiles returns a truth of random labels, and runs that predict a correct label with the given probabilities.
func labelFiles(n int, chances ...float64) (truth object, runs []object) {
	random := rand.New(rand.NewPCG(5, 6))
	lines := func(label func(i int) int) string {
		var b strings.Builder
		b.WriteString("id,label\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%d\n", i, label(i))
		}
		return b.String()
	}
	actual := make([]int, n)
	truth = inlineFiles("truth.csv", lines(func(i int) int {
		actual[i] = random.IntN(3)
		return actual[i]
	}))
	truth["kind"] = "classification"
	truth["format"] = object{"kind": "csv", "idField": "id", "valueField": "label"}
	for i, chance := range chances {
		runs = append(runs, namedRun(fmt.Sprint("run ", i), lines(func(i int) int {
			if random.Float64() < chance {
				return actual[i]
			}
			return random.IntN(3)
		})))
	}
	return truth, runs
}

func TestSignificance_OfLabelsThatComeAlong(t *testing.T) {
	s := newToolServer(t, record.Public)
	truth, runs := labelFiles(300, 0.8, 0.78, 0.3)
	out := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runs, "truth": truth, "measure": "Accuracy"})
	ab, ac := out.Pairs[0], out.Pairs[1]
	if out.Rounded || out.Test != "mcnemar" || out.Topics != 300 || ab.Different || !ac.Different || ac.McNemar.First <= ac.McNemar.Second ||
		ac.T == nil || ac.Randomization == nil || ac.Bootstrap != nil {
		t.Errorf("%+v", out)
	}
	for _, name := range []string{"F1(average=macro)", "Kappa", "MCC"} {
		out = answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runs, "truth": truth, "measure": name, "rounds": 500})
		ab, ac = out.Pairs[0], out.Pairs[1]
		if out.Test != "bootstrap" || out.Rounds != 500 || out.Topics != 300 || ab.Different || !ac.Different || ac.T != nil ||
			ab.Bootstrap.Interval.Low >= 0 || ab.Bootstrap.Interval.High <= 0 || ac.Bootstrap.Interval.Low <= 0 || ac.Bootstrap.P != 2./501 ||
			out.Runs[0].Interval.Low >= out.Runs[0].Mean || out.Runs[0].Interval.High <= out.Runs[0].Mean ||
			!near(ac.Difference, out.Runs[0].Mean-out.Runs[2].Mean) {
			t.Errorf("%s: %+v %+v", name, out, ac.Bootstrap)
		}
	}
	s.wantTexts(s.page("", "significance", object{"runs": runs, "truth": truth, "measure": "MCC"}), "Bootstrap", "samples of the examples")
	// For a measure that is a mean, the bootstrap agrees with the values by example.
	means := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runs, "truth": truth, "measure": "Accuracy"})
	drawn := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runs, "truth": truth, "measure": "Accuracy",
		"test": "bootstrap"})
	for i := range runs {
		a, b := means.Runs[i].Interval, drawn.Runs[i].Interval
		if d := max(a.Low-b.Low, b.Low-a.Low, a.High-b.High, b.High-a.High); d > 0.01 {
			t.Errorf("the interval of run %d is %+v by its values and %+v by samples", i, a, b)
		}
	}
	s.wantRefusals("significance", map[string]refusal{
		"rounds":   {object{"runs": runs, "truth": truth, "measure": "MCC", "rounds": 100_000}, "/rounds", "33333 samples"},
		"another":  {object{"runs": runs, "truth": truth, "measure": "MCC", "test": "t"}, "/test", "leave test out for the bootstrap"},
		"mcnemar":  {object{"runs": runs, "truth": truth, "measure": "MCC", "test": "mcnemar"}, "/test", "0 or 1"},
		"no zeros": {object{"runs": exampleRankings(), "truth": exampleQrels(), "measure": "AP", "test": "mcnemar"}, "/test", "0 or 1"},
	})
}

func exampleRankings() []object {
	return []object{namedRun("a", trecRun("1 ab", "2 ba")), namedRun("b", trecRun("1 ba", "2 ba"))}
}

func exampleQrels() object { return inlineFiles("qrels.txt", "1 0 a 1\n2 0 a 1\n") }

// TestEvaluator_ShowsExamplesOfTruthsThatComeAlong: a caller who sends the truth may know which predictions are correct.
func TestEvaluator_ShowsExamplesOfTruthsThatComeAlong(t *testing.T) {
	s := newToolServer(t, record.Public)
	truth, runs := labelFiles(5, 1, 0)
	in := object{"runs": runs, "truth": truth, "measures": []string{"Accuracy", "MCC"}}
	if out := answer[tools.EvaluatorOutput](s, "", "evaluator", in); out.Runs[0].PerTopic != nil || len(out.Runs[0].Classes.Labels) == 0 {
		t.Errorf("%+v", out.Runs[0])
	}
	for n, want := range map[int]string{1: "columns: predicted labels", 2: ">1.0000<"} { // the matrix of one run, and bars for several
		drawn := s.invoke(http.StatusOK, nil, "", "evaluator", withMembers(in, "runs", runs[:n]), "Accept", "image/svg+xml")
		if !strings.Contains(string(drawn.Body), want) || strings.Contains(string(drawn.Body), "Confusion") != (n == 1) {
			t.Errorf("of %d runs it draws %s", n, drawn.Body)
		}
	}
	out := answer[tools.EvaluatorOutput](s, "", "evaluator", withMembers(in, "perTopic", true))
	if first := out.Runs[0]; len(first.PerTopic) != 5 || len(first.PerTopic["3"]) != 1 || first.PerTopic["3"]["Accuracy"] != 1 {
		t.Errorf("%+v", first)
	}
}

// Intervals from the normal distribution can end outside the range of a measure, and pages with them say so. Those from the bootstrap,
// which only organizers are shown, and not on leaderboards, cannot.
func TestIntervals_CanEndOutsideTheRange(t *testing.T) {
	s := newExampleServer(t, recordtest.Labels("Accuracy"))
	right := make([]float64, 20)
	for i := range right[1:] {
		right[i+1] = 1
	}
	runs := runRefs(s.addMeasured("alice", right), s.addMeasured("bob", right))
	check := func(user, tool string, input object, i significance.Interval, normal bool) {
		t.Helper()
		says := strings.Contains(s.page(user, tool, input), "can end outside the range of the measure")
		if (i.High > 1) != normal || says != normal {
			t.Errorf("%s shows %q the interval %+v, and its page says that it can end outside the range: %v", tool, user, i, says)
		}
	}
	for user, may := range exampleUsers {
		board := s.leaderboard(user)
		check(user, "leaderboard", object{"datasetId": s.dataset.ID}, *board.Entries[0].Interval, true)
		if !strings.Contains(board.GroupsNote, "p is rounded up here, but not where organizers compare runs") {
			t.Errorf("groups: %q", board.GroupsNote)
		}
		compared := object{"runs": runs}
		out := answer[tools.SignificanceOutput](s, user, "significance", compared)
		check(user, "significance", compared, out.Runs[0].Interval, !may)
		normal := strings.Contains(out.IntervalsNote, "the normal distribution")
		if same := out.IntervalsNote == board.IntervalsNote; normal == may || same == may {
			t.Errorf("%s: intervals of the comparison: %q, of the leaderboard: %q", user, out.IntervalsNote, board.IntervalsNote)
		}
	}
}
