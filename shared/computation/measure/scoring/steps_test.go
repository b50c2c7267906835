package scoring_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
)

// large is a truth and a run of each kind whose evaluation takes many blocks of steps.
type large struct {
	settings   scoring.Settings
	truth, run string
	// least is a lower bound for the steps of the measures, without the steps of reading the run.
	least int
	// same lists measures that share their counts.
	same []string
}

// repeated returns n lines of examples. The verbs of the line are the number of the example and a number below ten.
func repeated(n int, format string, value func(i int) int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, value(i))
	}
	return b.String()
}

func largeOf(kind measure.Kind) large {
	csv := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "value"}
	sets := csv
	sets.Separator = " "
	jsonl := measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "value"}
	first := func(i int) int { return i * 7 % 10 }
	second := func(i int) int { return i * 3 % 10 }
	const n = 40_000
	of := large{least: n}
	add := func(format measure.Format, measures ...string) {
		of.settings = scoring.Settings{Kind: kind, Format: format, Measures: measures}
	}
	values := func(format string) {
		of.truth = "id,value\n" + repeated(n, format, first)
		of.run = "id,value\n" + repeated(n, format, second)
	}
	switch kind {
	case measure.Retrieval:
		add(measure.Format{Kind: measure.TRECRun}, "nDCG@10", "AP", "Bpref", "Compat")
		of.truth = repeated(n, "1 0 d%d %d\n", first)
		of.run = repeated(n, "1 Q0 d%[1]d 1 %[2]d.%06[1]d x\n", second)
	case measure.Diversity:
		add(measure.Format{Kind: measure.TRECRun}, "alpha_nDCG@20", "ERR_IA@20", "StRecall@20")
		of.truth = repeated(n, "1 %[2]d d%[1]d 1\n", first)
		of.run = repeated(n, "1 Q0 d%[1]d 1 %[2]d.%06[1]d x\n", second)
	case measure.Classification:
		add(csv, "Kappa(weights=linear)", "MacroMAE", "F1(average=macro)")
		values("e%d,%d\n")
		of.same = averages("macro", 40)
	case measure.Multilabel:
		first = func(i int) int { return i * 7 % (2 * measure.MaxClasses) } // too many labels for a confusion matrix
		add(sets, "F1(average=samples)", "Jaccard(average=macro)", "HammingLoss")
		values("e%[1]d,%[2]d a b c d e f g h i j k l m n o p q r s t\n")
		of.same = averages("samples", 40)
	case measure.Regression:
		add(csv, "RMSE", "Kendall", "MedianAE", "CCC")
		values("e%[1]d,%[2]d.%06[1]d\n")
		of.same = []string{"MSE", "RMSE", "MAE"}
	case measure.Clustering:
		add(csv, "ARI", "VMeasure")
		values("e%d,%d\n")
		of.same = []string{"ARI", "VMeasure", "NMI", "BCubedF", "BCubedP", "BCubedR", "Purity", "Homogeneity", "Completeness"}
	case measure.Probabilities:
		add(csv, "AUC", "LogLoss", "F1(positive=1)")
		of.truth = "id,value\n" + repeated(n, "e%d,%d\n", func(i int) int { return i % 2 })
		of.run = "id,value\n" + repeated(n, "e%[1]d,0.%[2]d%[1]d\n", second)
		of.same = []string{"AUC", "AP", "AUC(positive=1)", "AP(positive=1)"}
	case measure.Text:
		add(jsonl, "ROUGEL", "BLEU", "chrF", "TokenF1")
		text := strings.Repeat("a red fox ran off ", 50)
		of.truth = repeated(100, `{"id":%d,"value":["`+text+`","%d"]}`+"\n", first)
		of.run = repeated(100, `{"id":%d,"value":"`+text+`%d"}`+"\n", second)
		for beta := range 10 {
			of.same = append(of.same, fmt.Sprintf("chrF(beta=%d)", beta+1))
		}
	case measure.Spans:
		add(measure.Format{Kind: measure.CoNLL}, "F1(average=micro)", "DocumentF1", "F1(average=macro,scheme=IOB2)")
		token := "t%d B-%d\nu I-X\n"
		of.truth, of.run = repeated(n, token, first), repeated(n, token, second)
		of.same = []string{"F1(average=micro)", "Precision(average=micro)", "Recall(average=micro)", "IoU(average=micro)",
			"F1(average=micro,overlap=any)", "F1(average=macro)"}
	}
	return of
}

// usualOf returns largeOf, with a thousand documents for each topic in rankings.
func usualOf(kind measure.Kind) large {
	of := largeOf(kind)
	if !kind.Ranks() {
		return of
	}
	of.truth = ""
	of.run = ""
	for topic := range 100 {
		of.truth += repeated(50, fmt.Sprintf("%d %%[2]d d%%[1]d 1\n", topic), func(i int) int { return i % 10 })
		of.run += repeated(1000, fmt.Sprintf("%d Q0 document-%%06[1]d %%[2]d %%[2]d.%%06[1]d x\n", topic), func(i int) int { return 1000 - i })
	}
	return of
}

// averages returns n measures with one average.
func averages(average string, n int) []string {
	list := []string{fmt.Sprintf("F1(average=%s)", average), fmt.Sprintf("Precision(average=%s)", average)}
	for len(list) < n {
		list = append(list, fmt.Sprintf("F(beta=%d,average=%s)", len(list), average))
	}
	return list
}

// counted is a context that ends after a number of looks at it.
type counted struct {
	context.Context
	counter      *steps.Counter
	looks, last  atomic.Int64
	total, apart atomic.Int64 // steps at the last look, and the most steps between two looks
}

func (c *counted) Err() error {
	total := c.counter.Total()
	c.apart.Store(max(c.apart.Load(), total-c.total.Swap(total)))
	if c.looks.Add(1) > c.last.Load() {
		return context.Canceled
	}
	return nil
}

// evaluation holds the costs of evaluating a run.
type evaluation struct {
	looks int64 // looks at the context
	steps int64
	after int64 // steps after the run was read
	apart int64 // the most steps between two looks
	err   error
}

// evaluate evaluates the run with a context that ends after a number of looks.
func (of large) evaluate(t *testing.T, truth *scoring.Evaluator, last int64) (found evaluation) {
	t.Helper()
	counter := steps.New(math.MaxInt64, nil)
	ctx := &counted{Context: steps.With(t.Context(), counter), counter: counter}
	ctx.last.Store(last)
	var read int64
	run := scoring.File{Name: "run", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(of.run), atEnd(func() { read = counter.Total() }))), nil
	}}
	e, err := truth.Read(ctx, []scoring.File{run})
	if err == nil && measure.HasErrors(e.Diagnostics) {
		t.Fatal(e.Diagnostics[0])
	}
	found.err = err
	found.apart = ctx.apart.Load()
	found.looks, found.steps = ctx.looks.Load(), counter.Total()
	found.after = found.steps - read
	return found
}

// atEnd is an empty reader that reports when it is read.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func (of large) read(t *testing.T, measures ...string) *scoring.Evaluator {
	t.Helper()
	settings := of.settings
	if measures != nil {
		settings.Measures = measures
	}
	file := scoring.File{Name: "truth", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(of.truth)), nil }}
	truth, diagnostics, err := scoring.ReadTruth(t.Context(), settings, []scoring.File{file})
	if truth == nil {
		t.Fatal(diagnostics, err)
	}
	return truth
}

// TestRead_EndsWithItsContext ends the context at different looks, from the first to the last. Between two looks there must be at most a
// few milliseconds of work. Each counter may look once more.
func TestRead_EndsWithItsContext(t *testing.T) {
	const (
		counters  = 40
		points    = 5
		mostApart = 5_500_000
	)
	for _, kind := range measure.Kinds() {
		t.Run(kind, func(t *testing.T) {
			of := largeOf(measure.Kind(kind))
			truth := of.read(t)
			whole := of.evaluate(t, truth, math.MaxInt64)
			if whole.err != nil || whole.after < int64(of.least) || whole.apart > mostApart {
				t.Fatalf("%+v; want %d steps after the run was read at least, and %d between two looks at most", whole, of.least, mostApart)
			}
			for point := range int64(points) {
				last := whole.looks * point / points
				if got := of.evaluate(t, truth, last); !errors.Is(got.err, context.Canceled) || got.looks > last+counters {
					t.Errorf("a context that ends at look %d of %d: %+v", last, whole.looks, got)
				}
			}
		})
	}
}

// TestValidateRun_EndsWithItsContext also compares the run with the known part of the truth.
func TestValidateRun_EndsWithItsContext(t *testing.T) {
	for _, kind := range measure.Kinds() {
		of := largeOf(measure.Kind(kind))
		run := []scoring.File{{Name: "run", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(of.run)), nil }}}
		known := of.read(t).Known(true, false)
		for name, check := range map[string]func(context.Context) error{
			"ValidateRun": func(ctx context.Context) error {
				_, err := scoring.ValidateRun(ctx, of.settings, run)
				return err
			},
			"Compare": func(ctx context.Context) error {
				_, err := known.Compare(ctx, run)
				return err
			},
		} {
			counter := steps.New(math.MaxInt64, nil)
			whole := &counted{Context: steps.With(t.Context(), counter), counter: counter}
			whole.last.Store(math.MaxInt64)
			if err := check(whole); err != nil || counter.Total() < int64(len(of.run)) {
				t.Errorf("%s of %s: %d steps for %d bytes, %v", name, kind, counter.Total(), len(of.run), err)
			}
			for _, last := range []int64{0, whole.looks.Load() / 2, whole.looks.Load() - 1} {
				cut := &counted{Context: t.Context(), counter: counter}
				cut.last.Store(last)
				if err := check(cut); !errors.Is(err, context.Canceled) {
					t.Errorf("%s of %s ends at look %d of %d: %v", name, kind, last, whole.looks.Load(), err)
				}
			}
		}
	}
}

// TestRead_CountsOnceForMeasuresOfOneAverage compares the steps of many measures with the steps of one measure.
func TestRead_CountsOnceForMeasuresOfOneAverage(t *testing.T) {
	for _, kind := range measure.Kinds() {
		of := largeOf(measure.Kind(kind))
		if len(of.same) == 0 {
			continue
		}
		one := of.evaluate(t, of.read(t, of.same[0]), math.MaxInt64)
		all := of.evaluate(t, of.read(t, of.same...), math.MaxInt64)
		each := (all.steps - one.steps) / int64(len(of.same)-1)
		if one.err != nil || all.err != nil || each > one.after/10 {
			t.Errorf("%s: %d steps for each of %d more measures, and %d for the first", kind, each, len(of.same)-1, one.after)
		}
	}
}

// TestSteps_AreAboutThoseOfARun compares Steps of a truth with the steps of evaluating runs.
func TestSteps_AreAboutThoseOfARun(t *testing.T) {
	const factor = 3
	for _, kind := range measure.Kinds() {
		of := usualOf(measure.Kind(kind))
		truth := of.read(t)
		told := int64(truth.Steps())
		got := of.evaluate(t, truth, math.MaxInt64)
		if got.err != nil || got.steps > factor*told || told > factor*got.steps {
			t.Errorf("%s: told %d, and a run takes %d steps, %v", kind, told, got.steps, got.err)
		}
	}
}
