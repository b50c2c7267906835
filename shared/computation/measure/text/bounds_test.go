package text

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/steps"
)

// TestEvaluation_CountsOnceForAllMeasures asks for as many measures as an evaluator may have.
func TestEvaluation_CountsOnceForAllMeasures(t *testing.T) {
	var names []string
	for beta := 1; beta <= 10; beta++ {
		for order := 6; order <= 10; order++ {
			names = append(names, fmt.Sprintf("chrF(beta=%d,char_order=%d,word_order=4)", beta, order))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 32 << 10 {
		text.WriteByte("abcdefghijklmnopqrstuvwxyz "[random.IntN(27)])
	}
	e := newRunScorer(t.Context(), steps.Of(t.Context()), measuretest.Parse(t, measure.Text, names...), 1)
	if used := measuretest.Allocated(func() { e.compare(0, []string{text.String()}, text.String()) }); used > 64<<20 {
		t.Errorf("texts of 32 KiB allocate %d bytes", used)
	}
}

// TestEvaluation_KeepsNoValuesOfManyExamples asks for every variant of ROUGE.
func TestEvaluation_KeepsNoValuesOfManyExamples(t *testing.T) {
	var names []string
	for _, name := range []string{"ROUGE1", "ROUGE2", "ROUGEL", "ROUGELsum"} {
		for _, score := range []string{"precision", "recall", "fmeasure"} {
			names = append(names, fmt.Sprintf("%s(score=%s)", name, score), fmt.Sprintf("%s(score=%s,stem=True)", name, score))
		}
	}
	asked := measuretest.Parse(t, measure.Text, names...)
	if used := measuretest.Allocated(func() { newRunScorer(t.Context(), steps.Of(t.Context()), asked, 1_000_000) }); used > 1<<20 {
		t.Errorf("a million examples allocate %d bytes before the first", used)
	}
}

// TestEvaluation_StopsWithinAnExample compares one example with many long references.
func TestEvaluation_StopsWithinAnExample(t *testing.T) {
	lines := strings.Repeat("a\n", 500)
	references := make([]string, 100)
	for i := range references {
		references[i] = lines
	}
	e := newRunScorer(t.Context(), steps.Of(t.Context()), measuretest.Parse(t, measure.Text, "ROUGELsum", "ROUGELsum(stem=True)"), 1)
	e.bound(t.Context(), 100_000)
	if fault := e.compare(0, references, lines); fault == "" {
		t.Error("there is no fault")
	}
	if n := e.common.counter.Total(); n > 2*e.most {
		t.Errorf("it took %d steps", n)
	}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	e.bound(given, maxSteps)
	e.compare(0, references, lines)
	if n := e.common.counter.Total(); n > 0 {
		t.Errorf("it took %d steps once nobody waited", n)
	}
}
