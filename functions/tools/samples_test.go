//go:build !race

package tools_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/functions/tools/significance"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// addContent makes a run of this content and evaluates it as the server does.
func (s *toolServer) addContent(truth string, e runSpec) *record.RunItem {
	s.t.Helper()
	in := func(name, content string) []scoring.File {
		return []scoring.File{{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}}
	}
	settings := scoring.Settings{Kind: measure.Kind(s.dataset.Evaluator.Kind), Measures: s.dataset.Evaluator.Measures,
		Format: measure.Format(s.dataset.RunFormat)}
	read, diagnostics, err := scoring.ReadTruth(s.t.Context(), settings, in("truth", truth))
	if err != nil || read == nil {
		s.t.Fatal(diagnostics, err)
	}
	evaluated, err := read.Read(s.t.Context(), in("run", e.content))
	if err != nil || measure.HasErrors(evaluated.Diagnostics) {
		s.t.Fatal(evaluated, err)
	}
	result := evaluated.Result
	return s.newRun(e, func(r *recordtest.Run) { r.Evaluation.Measures, r.Topics.PerTopic = result.Measures, result.PerTopic }).RunItem
}

// randomLabels returns n lines of labels. About the given share of the labels equals the label of the truth.
func randomLabels(n int, share float64, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("id,label\n")
	for i := range n {
		label := i % 3
		if random.Float64() >= share {
			label = random.IntN(3)
		}
		fmt.Fprintf(&b, "e%d,%d\n", i, label)
	}
	return b.String()
}

// TestSignificance_ComparesByMeasuresThatAreNoMeans compares submitted runs for all callers who see their scores. Only organizers
// can read the files and the truth. The other callers get a rounded p, which no choice of the input changes.
func TestSignificance_ComparesByMeasuresThatAreNoMeans(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.records.Task(recordtest.OwnedBy(s.records.Organizer("rival")))
	s.task.Register("alice", recordtest.With("mate"))
	s.task.Register("bob")
	truth := randomLabels(160, 1, 1)
	s.dataset = s.task.Dataset(recordtest.Labels("Accuracy", "F1(average=macro)"), s.records.Truths("truth.csv", truth))
	a := s.addContent(truth, runSpec{user: "alice", content: randomLabels(160, 0.8, 2)})
	b := s.addContent(truth, runSpec{user: "bob", content: randomLabels(160, 0.2, 3)})
	c := s.addContent(truth, runSpec{user: "bob", content: randomLabels(160, 0.78, 5)})
	in := object{"runs": runRefs(a, b, c), "measure": "F1(average=macro)", "correction": "none"}
	exact := answer[tools.SignificanceOutput](s, "olga", "significance", in)
	for user, may := range exampleUsers {
		out := answer[tools.SignificanceOutput](s, user, "significance", in)
		if out.Test != "bootstrap" || out.Topics != 160 || out.Rounded == may || !out.Pairs[0].Different || out.Pairs[1].Different ||
			out.Pairs[0].Difference != exact.Pairs[0].Difference || out.Runs[0].EvaluationID != "" {
			t.Errorf("%q is shown %+v", user, out)
		}
		for i, p := range out.Pairs {
			if (p.Bootstrap != nil) != may || !may && *p.P != significance.Level(*p.P) {
				t.Errorf("%q is shown %+v", user, p)
			}
			if !may && i == 0 && *p.P != 0.00001 {
				t.Errorf("p is %v", *p.P)
			}
		}
		for i, r := range out.Runs {
			of, got := exact.Runs[i].Interval, r.Interval
			if far := max(got.Low-of.Low, of.Low-got.Low, got.High-of.High, of.High-got.High); r.Mean != exact.Runs[i].Mean ||
				far > 0.03 || !may && len(fmt.Sprint(r.Interval)) > len("{0.12345 0.12345}") {
				t.Errorf("%q is shown %+v of %+v", user, r, exact.Runs[i])
			}
		}
		again := answer[tools.SignificanceOutput](s, user, "significance", withMembers(in, "seed", 7, "rounds", 200, "test", "bootstrap"))
		if reflect.DeepEqual(again, out) == may {
			t.Errorf("%q is shown by another seed %+v", user, again)
		}
		if two := answer[tools.SignificanceOutput](s, user, "significance", withMembers(in, "runs", runRefs(a, c))); !may &&
			(two.Rounds != 9375 || two.Runs[1].Interval != out.Runs[2].Interval || *two.Pairs[0].P != *out.Pairs[1].P) {
			t.Errorf("%q is shown of two runs %+v", user, two)
		}
	}
	board := answer[tools.LeaderboardOutput](s, "", "leaderboard", object{"datasetId": s.dataset.ID, "measure": "F1(average=macro)"})
	s.Want(http.StatusOK, &exact, "", http.MethodGet, board.Links.Significance, nil)
	if len(exact.Runs) != 2 || !exact.Rounded {
		t.Errorf("the leaderboard links to %+v", exact)
	}
	s.wantTexts(s.page("", "leaderboard", object{"datasetId": s.dataset.ID, "measure": "F1(average=macro)"}), "every test of each pair says")
	s.wantTexts(s.page("", "significance", in), "p is rounded up", "p at most", "Bootstrap", "samples of the examples",
		"Others than the organizers")
	s.wantRefusals("significance", map[string]refusal{
		"another test":    {withMembers(in, "test", "mcnemar"), "/test", "0 or 1"},
		"another measure": {withMembers(in, "measure", "MCC"), "/measure", "F1(average=macro)"},
		"one along":       {withMembers(in, "runs", []object{runRef(a), namedRun("own", truth)}), "/truth", "is needed"},
	})
	s.invoke(http.StatusForbidden, nil, "alice", "significance", object{"runs": []object{namedRun("own", truth), namedRun("other", truth)},
		"truth": object{"datasetId": s.dataset.ID}, "measure": "F1(average=macro)"})
	for _, hidden := range []runSpec{{hidden: true}, {blinded: true}} {
		hidden.user, hidden.content = "bob", randomLabels(160, 0.5, 5)
		unseen := s.addContent(truth, hidden)
		s.invoke(http.StatusNotFound, nil, "alice", "significance", withMembers(in, "runs", runRefs(a, unseen)))
	}
	// The entity tag does not reveal whether somebody has guessed the digest of a hidden file.
	address := s.resultURL("significance", in)
	tag := s.Want(http.StatusOK, nil, "alice", http.MethodGet, address, nil).Header.Get("ETag")
	b.Files[0].SHA256 = strings.Repeat("0", 64)
	s.records.Replace(b)
	s.Want(http.StatusNotModified, nil, "alice", http.MethodGet, address, nil, "If-None-Match", tag)
	s.nextTruthVersion()
	changed := recordtest.Get[record.TruthVersion](t, s.Store, record.TruthKey(s.dataset.ID))
	changed.Number++
	s.records.Replace(changed)
	s.wantRefusal("alice", "significance", refusal{in, "/measure", "has changed"})
}

// TestSignificance_OfEvaluationsWithoutValuesByExample computes values again. The computed values are hidden in the same way as
// stored values.
func TestSignificance_OfEvaluationsWithoutValuesByExample(t *testing.T) {
	s := newExampleServer(t, recordtest.Labels("Accuracy", "MCC"))
	var runs []*record.RunItem
	for _, content := range []string{exampleTruth, "id,label\ne0,2\ne1,1\ne2,2\ne3,2\n"} {
		runs = append(runs, s.newRun(runSpec{user: "alice", content: content}, func(r *recordtest.Run) {
			r.Evaluation.Measures["Accuracy"] = new(.5)
		}).RunItem)
	}
	for user, may := range exampleUsers {
		out := answer[tools.SignificanceOutput](s, user, "significance", object{"runs": runRefs(runs...)})
		if p := out.Pairs[0]; out.Test != "mcnemar" || out.Rounded == may || (p.McNemar != nil) != may || out.Topics != 4 ||
			p.Difference != .75 || !may && *p.P != 1 {
			t.Errorf("%q is shown %+v", user, out)
		}
	}
}

// TestSignificance_TellsNothingOfFilesThatItReadsForOthers: even if a run cannot be read any more, the problem does not show its
// content.
func TestSignificance_TellsNothingOfFilesThatItReadsForOthers(t *testing.T) {
	s := newExampleServer(t, recordtest.Labels("Accuracy", "MCC"))
	runs := []*record.RunItem{s.addMeasured("alice", []float64{1, 1, 0, 1})}
	runs = append(runs, s.newRun(runSpec{user: "bob", content: "id,label\ne0,secret\ne9,1\n"}, func(r *recordtest.Run) {
		r.Evaluation.Measures["MCC"] = new(0.5)
	}).RunItem)
	in := object{"runs": runRefs(runs...), "measure": "MCC"}
	s.wantRefusal("alice", "significance", refusal{in, "/runs/1", "cannot be read any more"})
	for user, may := range exampleUsers {
		answered := string(s.invoke(http.StatusUnprocessableEntity, nil, user, "significance", in).Body)
		if strings.Contains(answered, "e9") != may {
			t.Errorf("%q is shown %s", user, answered)
		}
	}
}

// TestSignificance_ReadsNothingInVain: if there are too many examples for values by example, there are also too many for samples.
func TestSignificance_ReadsNothingInVain(t *testing.T) {
	s := newExampleServer(t, recordtest.Labels("Accuracy", "MCC"))
	run := func() *record.RunItem {
		return s.newRun(runSpec{content: "not read"}, func(r *recordtest.Run) {
			r.Evaluation.Measures["MCC"] = new(0.5)
			r.Evaluation.Reasons = map[string]string{measure.PerTopicReason: "there are 10,001 examples"}
		}).RunItem
	}
	in := object{"runs": runRefs(run(), run()), "measure": "MCC"}
	s.wantRefusal("olga", "significance", refusal{in, "/measure", "there are 10,001 examples"})
}

// TestSignificance_ComparesTextsAndSpans: everybody who sees the evaluations sees their values by example. Some measures have one
// value for all examples.
func TestSignificance_ComparesTextsAndSpans(t *testing.T) {
	write := func(kind string, n int, share float64) string {
		random := rand.New(rand.NewPCG(uint64(100*share), 0))
		var b strings.Builder
		if kind == "text" {
			b.WriteString("id,label\n")
		}
		for i := range n {
			right := random.Float64() < share
			switch {
			case kind == "text" && right:
				fmt.Fprintf(&b, "%d,the cat %d sat on the mat\n", i, i)
			case kind == "text":
				fmt.Fprintf(&b, "%d,the cat sat in a hat\n", i)
			case right:
				b.WriteString("Anna B-PER\nsings O\n\n")
			default:
				b.WriteString("Anna O\nsings B-PER\n\n")
			}
		}
		return b.String()
	}
	for kind, c := range map[string]struct{ whole, mean string }{"text": {"BLEU", "TokenF1"}, "spans": {"F1(average=micro)", "DocumentF1"}} {
		s := newToolServer(t, record.Public)
		s.task.Register("alice")
		truth := write(kind, 80, 1)
		s.dataset = s.task.Dataset(func(d *record.DatasetItem) {
			recordtest.Labels(c.whole, c.mean)(d)
			d.Evaluator.Kind = kind
			if kind == "spans" {
				d.RunFormat = record.RunFormat{Kind: "conll"}
			}
		}, s.records.Truths("truth", truth))
		runs := runRefs(s.addContent(truth, runSpec{content: write(kind, 80, 0.9)}), s.addContent(truth, runSpec{content: write(kind, 80, 0.3)}),
			s.addContent(truth, runSpec{content: write(kind, 80, 0.88)}))
		for _, user := range []string{"", "alice", "olga"} {
			out := answer[tools.SignificanceOutput](s, user, "significance", object{"runs": runs, "rounds": 500})
			if p := out.Pairs; out.Measure != c.whole || out.Test != "bootstrap" || out.Rounded || out.Rounds != 500 || out.Topics != 80 ||
				!p[0].Different || p[1].Different || p[0].Bootstrap.P != 2./501 {
				t.Errorf("%s: %q is shown %+v", kind, user, out)
			}
			for test, want := range map[string]string{"": "randomization", "bootstrap": "bootstrap"} {
				in := object{"runs": runs, "measure": c.mean}
				if test != "" {
					in["test"] = test
				}
				out = answer[tools.SignificanceOutput](s, user, "significance", in)
				if out.Test != want || !out.Pairs[0].Different {
					t.Errorf("%s: %q is shown %+v", kind, user, out)
				}
			}
			s.wantRefusal(user, "topics", refusal{object{"runs": runs}, "/measure", "the tool significance"})
		}
	}
}

// TestSignificance_BootstrapsMeans uses stored values by example and by topic: the request need not name a truth.
func TestSignificance_BootstrapsMeans(t *testing.T) {
	s := newExampleServer(t, recordtest.Labels("Accuracy", "MCC"))
	values := []float64{1, 0, 1, 1, 0, 1, 1, 1}
	runs := runRefs(s.addMeasured("alice", values), s.addMeasured("bob", []float64{1, 0, 0, 1, 0, 0, 0, 0}))
	in := object{"runs": runs, "measure": "Accuracy", "test": "bootstrap"}
	out := answer[tools.SignificanceOutput](s, "olga", "significance", in)
	if p := out.Pairs[0]; out.Test != "bootstrap" || out.Rounded || out.Topics != 8 || p.Difference != 0.5 || p.Bootstrap.Interval.Low < 0 ||
		out.Runs[0].EvaluationID == "" {
		t.Errorf("%+v", out)
	}
	ranked := newToolServer(t, record.Public)
	a, _ := ranked.addEvaluatedRun(runSpec{ap: topicValues(.5, .7, .9)})
	b, _ := ranked.addEvaluatedRun(runSpec{ap: topicValues(.1, .2, .6)})
	runs = runRefs(a, b)
	out = answer[tools.SignificanceOutput](ranked, "", "significance", object{"runs": runs, "test": "bootstrap"})
	if out.Topics != 3 || !near(out.Pairs[0].Difference, .4) || out.Pairs[0].Bootstrap.Interval.Low <= 0 {
		t.Errorf("%+v", out)
	}
	ranked.wantTexts(ranked.page("", "significance", object{"runs": runs, "test": "bootstrap"}), "samples of the topics")
}

// TestTools_RoundToShortNumbers: rounded numbers have no digits from rounding errors.
func TestTools_RoundToShortNumbers(t *testing.T) {
	s := newExampleServer(t, recordtest.Labels("Accuracy", "MCC"))
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		values := make([]float64, 50+random.IntN(400))
		for i := range values {
			values[i] = float64(random.IntN(2))
		}
		runs := runRefs(s.addMeasured("alice", values), s.addMeasured("bob", slices.Concat(values[1:], values[:1])))
		for _, r := range answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runs}).Runs {
			for _, x := range []float64{r.Interval.Low, r.Interval.High} {
				if text := strconv.FormatFloat(x, 'g', -1, 64); len(text) > len("-0.12345") {
					t.Errorf("%s has more digits than it was rounded to", text)
				}
			}
		}
	}
}

// TestSignificance_KeepsFewScores refuses runs with many scores, because all scores stay in memory until the end of the
// comparison.
func TestSignificance_KeepsFewScores(t *testing.T) {
	s := newToolServer(t, record.Public)
	run := func(examples, others int) string {
		var b strings.Builder
		b.WriteString("id,a,b")
		for i := range others {
			fmt.Fprintf(&b, ",%d", i)
		}
		for i := range examples {
			fmt.Fprintf(&b, "\n%d,%d,1%s", i, i%3, strings.Repeat(",0", others))
		}
		return b.String()
	}
	truth := "id,label"
	for i := range 1001 {
		truth += fmt.Sprintf("\n%d,%s", i, string("ab"[i%2]))
	}
	in := object{"measure": "AUC(average=macro)", "rounds": 100, "truth": withMembers(inlineFiles("truth.csv", truth), "kind", "probabilities",
		"format", object{"kind": "csv", "idField": "id", "valueField": "label"})}
	few, many := namedRun("few", run(1001, 0)), namedRun("many", run(1001, 998))
	s.invoke(http.StatusOK, nil, "", "significance", withMembers(in, "runs", []object{few, namedRun("other", run(1001, 1))}))
	for _, runs := range [][]object{{few, many}, {many, few}} {
		s.wantRefusal("", "significance", refusal{withMembers(in, "runs", runs), "/measure", "more than 1000000 scores"})
	}
}
