package text

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
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

// unlikeLines returns a text and a reference with n lines each. Each two lines have a word in common, and no line of the text has all words
// of a line of the reference.
func unlikeLines(n int) (text, reference string) {
	var texts, references strings.Builder
	for i := range n {
		fmt.Fprintf(&texts, "w%d w%d a b\n", i+1, i)
		fmt.Fprintf(&references, "a w%d\n", i)
	}
	return texts.String(), references.String()
}

// TestEvaluation_FitsARequest evaluates 192 KiB of texts by ROUGELsum, in lines of few words, and bounds the steps to a tenth of a second.
func TestEvaluation_FitsARequest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for words := 1; words < 4; words++ {
		text := func() string {
			var b strings.Builder
			for i := 1; b.Len() < 64<<10; i++ {
				fmt.Fprintf(&b, "w%d%s", random.IntN(1000), map[bool]string{true: "\n", false: " "}[i%words == 0])
			}
			return b.String()
		}
		e := newRunScorer(t.Context(), steps.Of(t.Context()), measuretest.Parse(t, measure.Text, "ROUGELsum"), 3)
		for i := range 3 {
			if fault := e.compare(i, []string{text()}, text()); fault != "" {
				t.Error(fault)
			}
		}
		if n := e.common.counter.Total(); n > 30_000_000 {
			t.Errorf("lines of %d words take %d steps", words, n)
		}
	}
}

// TestHits_AreThoseOfAllLines compares with the definition: each line of the reference with each line of the text.
func TestHits_AreThoseOfAllLines(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		line := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 5), func(words []string) string {
			return strings.Join(words, " ")
		})
		lines := rapid.Map(rapid.SliceOfN(line, 0, 6), func(lines []string) string { return strings.Join(lines, "\n") })
		text, reference := lines.Draw(t, "text"), lines.Draw(t, "reference")
		r := &rouge{common: &subsequences{counter: steps.Of(context.Background())}}
		r.part("ROUGELsum", "recall")
		r.compare(steps.Of(context.Background()), []string{reference}, text)
		marked, left := map[string]int{}, map[string]int{}
		for _, word := range strings.Fields(text) {
			left[word]++
		}
		n, want := 0, 0
		for one := range strings.SplitSeq(reference, "\n") {
			rows := strings.Fields(one)
			n += len(rows)
			in := make([]bool, len(rows))
			for other := range strings.SplitSeq(text, "\n") {
				markSubsequence(rows, strings.Fields(other), in)
			}
			for i, word := range rows {
				if in[i] && marked[word] < left[word] {
					marked[word]++
					want++
				}
			}
		}
		if got := r.parts[ofLines].best.recall; n > 0 && math.Abs(got-float64(want)/float64(n)) > 1e-12 {
			t.Fatalf("the recall is %v, want %d of %d", got, want, n)
		}
	})
}

// markSubsequence marks a longest common subsequence in rows with a table of lengths, like rouge-score.
func markSubsequence(rows, columns []string, marked []bool) {
	table := make([][]int, len(rows)+1)
	for i := range table {
		table[i] = make([]int, len(columns)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
			case rows[i-1] == columns[j-1]:
				table[i][j] = table[i-1][j-1] + 1
			default:
				table[i][j] = max(table[i-1][j], table[i][j-1])
			}
		}
	}
	for i, j := len(rows), len(columns); i > 0 && j > 0; {
		switch {
		case rows[i-1] == columns[j-1]:
			marked[i-1] = true
			i--
			j--
		case table[i][j-1] > table[i-1][j]:
			j--
		default:
			i--
		}
	}
}

// TestEvaluation_StopsWithinAnExample compares one example with many long references.
func TestEvaluation_StopsWithinAnExample(t *testing.T) {
	text, reference := unlikeLines(500)
	references := slices.Repeat([]string{reference}, 100)
	e := newRunScorer(t.Context(), steps.Of(t.Context()), measuretest.Parse(t, measure.Text, "ROUGELsum", "ROUGELsum(stem=True)"), 1)
	e.bound(t.Context(), 100_000)
	if fault := e.compare(0, references, text); fault == "" {
		t.Error("there is no fault")
	}
	if n := e.common.counter.Total(); n > 2*e.most {
		t.Errorf("it took %d steps", n)
	}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	e.bound(given, bounds.SubsequenceSteps)
	e.compare(0, references, text)
	if n := e.common.counter.Total(); n > 0 {
		t.Errorf("it took %d steps once nobody waited", n)
	}
}
