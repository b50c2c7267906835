package tools_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/functions/tools/significance"
	"assay/shared/domain/record"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// R prints these values for its data set sleep (Student 1908). scipy gives the exact p of the rank sums, which have ties. The
// tests of package significance have more examples.
func TestSignificance_AgreesWithR(t *testing.T) {
	s := newToolServer(t, record.Public)
	a, _ := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)})
	b, _ := s.addEvaluatedRun(runSpec{user: "bob", ap: topicValues(1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)})
	out := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runRefs(a, b)})
	p := out.Pairs[0]
	if len(out.Pairs) != 1 || out.Topics != 10 || !near(p.T.Statistic, -4.062127683382037) || !near(p.T.P, 0.002832890197384273) ||
		!near(*p.CohensD, -1.2845575625910546) {
		t.Errorf("%+v %+v, d = %v", out, p.T, *p.CohensD)
	}
	if p.Wilcoxon.Plus != 0 || !near(p.Wilcoxon.P, 0.00390625) || !p.Randomization.Exact || p.Randomization.P != 2./512 {
		t.Errorf("%+v %+v", p.Wilcoxon, p.Randomization)
	}
	if *p.Holm.T != p.T.P || *p.P != p.Randomization.P || !p.Different {
		t.Errorf("one pair is corrected: %+v", p)
	}
}

// TestSignificance_CorrectsOverAllPairs compares three runs. The third differs greatly from the others.
func TestSignificance_CorrectsOverAllPairs(t *testing.T) {
	s := newToolServer(t, record.Public)
	base := []float64{.50, .52, .48, .55, .45, .51, .49, .53}
	var like, far []float64
	for i, v := range base {
		like = append(like, v+[]float64{.02, -.01}[i%2])
		far = append(far, v-.3+float64(i)/100)
	}
	a, _ := s.addEvaluatedRun(runSpec{user: "ada", label: "first", public: true, ap: topicValues(base...)})
	b, _ := s.addEvaluatedRun(runSpec{user: "bob", label: "second", public: true, ap: topicValues(like...)})
	c, _ := s.addEvaluatedRun(runSpec{user: "cid", label: "third", public: true, ap: topicValues(far...)})
	out := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runRefs(a, b, c), "test": "t"})
	if len(out.Pairs) != 3 {
		t.Fatalf("%+v", out)
	}
	ab := out.Pairs[0]
	ac := out.Pairs[1]
	bc := out.Pairs[2]
	chances := []float64{ab.T.P, ac.T.P, bc.T.P}
	holm := significance.Holm(chances)
	bonferroni := significance.Bonferroni(chances)
	bh := significance.BenjaminiHochberg(chances)
	for i, p := range out.Pairs {
		if *p.Holm.T != holm[i] || *p.Bonferroni.T != bonferroni[i] || *p.BH.T != bh[i] {
			t.Errorf("p of %+v is corrected to %v, %v and %v", p, *p.Holm.T, *p.Bonferroni.T, *p.BH.T)
		}
	}
	if ab.Different || !ac.Different || !bc.Different || ac.Difference <= 0 {
		t.Errorf("%+v", out.Pairs)
	}
	if want := "team of ada: first is better than team of cid: third; team of bob: second is better than team of cid: third; 1 other pair " +
		"cannot be distinguished on 8 topics"; !strings.HasPrefix(out.Conclusion, want) {
		t.Errorf("it says %q, not %q", out.Conclusion, want)
	}
	for correction, want := range map[string]float64{"none": ac.T.P, "bonferroni": bonferroni[1], "benjamini-hochberg": bh[1]} {
		s.invoke(http.StatusOK, &out, "", "significance", object{"runs": runRefs(a, b, c), "test": "t", "correction": correction})
		if !near(*out.Pairs[1].P, want) {
			t.Errorf("%s: p = %v, want %v", correction, *out.Pairs[1].P, want)
		}
	}
}

func TestSignificance_UndefinedTestsAreNullWithAReason(t *testing.T) {
	s := newToolServer(t, record.Public)
	same := topicValues(.1, .2, .3)
	a, _ := s.addEvaluatedRun(runSpec{user: "ada", ap: same})
	b, _ := s.addEvaluatedRun(runSpec{user: "bob", ap: map[string]float64{"1": .1, "2": .2, "3": .3, "4": .9}})
	out := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runRefs(a, b), "test": "wilcoxon"})
	p := out.Pairs[0]
	if out.Topics != 3 || out.LeftOut != 1 {
		t.Errorf("%d topics, %d left out", out.Topics, out.LeftOut)
	}
	if p.T != nil || p.Wilcoxon != nil || p.CohensD != nil || p.Holm.T != nil || p.P != nil || p.Different || p.Randomization == nil ||
		p.Randomization.P != 1 {
		t.Errorf("%+v", p)
	}
	for _, name := range []string{"t", "wilcoxon", "cohensD"} {
		if p.Reasons[name] == "" {
			t.Errorf("no reason for %s: %v", name, p.Reasons)
		}
	}
	if !strings.Contains(out.Conclusion, "cannot be distinguished on 3 topics") {
		t.Error(out.Conclusion)
	}
	s.wantTexts(s.page("", "significance", object{"runs": runRefs(a, b)}), "<td>–</td>")
	// The undefined test counts as a test: for three pairs the lowest p is multiplied by 3, and the next by 2.
	c, _ := s.addEvaluatedRun(runSpec{user: "cid", ap: topicValues(.4, .6, .7)})
	three := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runRefs(a, b, c)})
	if q := three.Pairs[1]; !near(*q.Holm.T, min(1, 3*q.T.P)) {
		t.Errorf("Holm: %v of %v", *q.Holm.T, q.T.P)
	}
	// With three topics no combination of signs is rare enough, not even for two runs.
	s.invoke(http.StatusOK, &out, "", "significance", object{"runs": runRefs(a, b)})
	if !strings.HasSuffix(out.Conclusion, "no p is below 0.2500. Compare the runs on more topics.") {
		t.Error(out.Conclusion)
	}
	if !strings.HasSuffix(three.Conclusion, "no p is below 0.7500. Compare the runs on more topics.") {
		t.Error(three.Conclusion)
	}
}

func TestSignificance_RefusesInvalidInputs(t *testing.T) {
	s := newToolServer(t, record.Public)
	a, _ := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.1, .2)})
	b, _ := s.addEvaluatedRun(runSpec{user: "bob", ap: map[string]float64{"7": .1}})
	c, _ := s.addEvaluatedRun(runSpec{user: "cid", ap: topicValues(.3, 1e301)})
	large := map[string]float64{}
	for i := range 3000 {
		large[fmt.Sprint(i)] = float64(i%7) / 7
	}
	d, _ := s.addEvaluatedRun(runSpec{user: "eve", ap: large})
	e, _ := s.addEvaluatedRun(runSpec{user: "fay", ap: large})
	s.wantRefusals("significance", map[string]refusal{
		"no common topic":    {object{"runs": runRefs(a, b)}, "/runs", ""},
		"one run":            {object{"runs": runRefs(a)}, "/runs", ""},
		"without values":     {object{"runs": runRefs(a, b), "measure": "RR"}, "/measure", ""},
		"unknown measure":    {object{"runs": runRefs(a, b), "measure": "nDCG@10"}, "/measure", ""},
		"vast":               {object{"runs": runRefs(a, c)}, "/runs/1", "too large"},
		"too many rounds":    {object{"runs": runRefs(d, e, a), "rounds": 100_001}, "/rounds", ""},
		"unknown test":       {object{"runs": runRefs(a, c), "test": "u"}, "/test", ""},
		"unknown correction": {object{"runs": runRefs(a, c), "correction": "x"}, "/correction", ""},
		"geometric mean": {object{"runs": []object{inlineFiles("a.txt", exampleRun), inlineFiles("b.txt", exampleRun)},
			"truth": inlineFiles("q.txt", exampleJudgments), "measure": "GMAP"}, "/measure", "compare by AP"},
	})
	out := answer[tools.SignificanceOutput](s, "", "significance", object{"runs": runRefs(d, e), "rounds": 200})
	if out.Rounds != 200 {
		t.Errorf("%d rounds", out.Rounds)
	}
}

// TestSignificance_LargestPage checks the size of a page of 20 runs, and that long names do not become markup.
func TestSignificance_LargestPage(t *testing.T) {
	s := newToolServer(t, record.Public)
	random := rand.New(rand.NewPCG(1, 1))
	var all []*record.RunItem
	for i := range 20 {
		topics := map[string]float64{}
		for topic := range 50 {
			topics[fmt.Sprintf("topic-%d", topic)] = random.Float64() * (1 - float64(i)/30)
		}
		r, _ := s.addEvaluatedRun(runSpec{user: fmt.Sprint("user", i), label: injections[i%len(injections)], public: true, ap: topics})
		all = append(all, r)
	}
	s.checkPage("significance", object{"runs": runRefs(all...)})
}
