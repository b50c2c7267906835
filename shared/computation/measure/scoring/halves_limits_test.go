package scoring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// halfOf returns the half of the i-th id of a large truth: of ten ids, three are public and one is ignored. All values are in both halves.
func halfOf(i int) string {
	switch i * 7919 % 1009 % 10 {
	case 0:
		return "ignored"
	case 1, 2, 3:
		return "public"
	}
	return "private"
}

// halvedOf returns usualOf with a file of halves.
func halvedOf(kind measure.Kind) large {
	of := usualOf(kind)
	var text strings.Builder
	text.WriteString(map[string]string{measure.CSV: "id,half\n"}[of.settings.Format.Kind])
	line := map[string]string{measure.CSV: "%s,%s\n", measure.JSONL: `{"id":%q,"half":%q}` + "\n", measure.TRECRun: "%s %s\n"}[of.settings.Format.Kind]
	seen := map[string]bool{"id": true}
	for truth := range strings.Lines(of.truth) {
		if id := idOf(truth); !seen[id] {
			fmt.Fprintf(&text, line, id, halfOf(len(seen)))
			seen[id] = true
		}
	}
	of.settings.Halves = []scoring.File{file("halves", text.String())}
	return of
}

// TestHalves_CountTheirSteps compares the steps of a run with halves with the steps of the run as a whole, and with the estimate.
func TestHalves_CountTheirSteps(t *testing.T) {
	const factor = 3
	for _, kind := range measure.Kinds() {
		if kind == string(measure.Spans) { // usualOf has tokens, which have no ids
			continue
		}
		of := halvedOf(measure.Kind(kind))
		truth := of.read(t)
		told := int64(truth.Steps())
		got := of.evaluate(t, truth, math.MaxInt64)
		if got.err != nil || got.steps > factor*told || told > factor*got.steps {
			t.Errorf("%s: told %d, and a run takes %d steps, %v", kind, told, got.steps, got.err)
		}
		whole := usualOf(measure.Kind(kind))
		if most := 3 * whole.evaluate(t, whole.read(t), math.MaxInt64).steps; got.steps > most {
			t.Errorf("%s: a run with halves takes %d steps; want at most %d", kind, got.steps, most)
		}
		for point := range int64(3) {
			last := got.looks * point / 3
			if cut := of.evaluate(t, truth, last); !errors.Is(cut.err, context.Canceled) {
				t.Errorf("%s: a context that ends at look %d of %d: %+v", kind, last, got.looks, cut)
			}
		}
	}
}

// TestReadTruth_OfHalvesEndsWithItsContext ends the context while the truth and its halves are read.
func TestReadTruth_OfHalvesEndsWithItsContext(t *testing.T) {
	of := halvedOf(measure.Classification)
	counter := steps.New(math.MaxInt64, nil)
	whole := &counted{Context: steps.With(t.Context(), counter), counter: counter}
	whole.last.Store(math.MaxInt64)
	read := func(ctx context.Context) error {
		_, _, err := scoring.ReadTruth(ctx, of.settings, []scoring.File{file("truth", of.truth)})
		return err
	}
	if err := read(whole); err != nil || counter.Total() < 4*int64(len(of.truth))/2 {
		t.Fatalf("%d steps for %d bytes, %v", counter.Total(), len(of.truth), err)
	}
	for point := range int64(10) {
		cut := &counted{Context: t.Context(), counter: counter}
		cut.last.Store(whole.looks.Load() * point / 10)
		if err := read(cut); !errors.Is(err, context.Canceled) {
			t.Errorf("reading ends at look %d of %d: %v", cut.last.Load(), whole.looks.Load(), err)
		}
	}
}

// TestHalves_CountTheirMemory compares Bytes, MemoryOfTruth and Memory with the memory of truths with halves and of their runs.
func TestHalves_CountTheirMemory(t *testing.T) {
	labels := scoring.Settings{Kind: measure.Classification, Measures: []string{"Accuracy"}, HalfField: "half",
		Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "x"}}
	clusters := labels
	clusters.Kind, clusters.Measures = measure.Clustering, []string{"ARI"}
	rankings := retrievalSettings
	const many = 1000
	var topics strings.Builder
	for i := range many {
		fmt.Fprintln(&topics, i, halfOf(i))
	}
	rankings.Halves = []scoring.File{file("halves", topics.String())}
	const textBytes = 6 << 20
	for name, c := range map[string]struct {
		settings   scoring.Settings
		header     string
		truth, run func(i int) string
	}{
		"labels": {labels, "id,x,half\n", func(i int) string { return fmt.Sprintf("%d,a,%s\n", i, halfOf(i)) },
			func(i int) string { return fmt.Sprintf("%d,a,\n", i) }},
		"clusters": {clusters, "id,x,half\n", func(i int) string { return fmt.Sprintf("%d,%d,%s\n", i, i, halfOf(i)) },
			func(i int) string { return fmt.Sprintf("%d,%d,\n", i, i) }},
		"rankings": {rankings, "", func(i int) string { return fmt.Sprintf("%d 0 %d 1\n", i/many, i%many) },
			func(i int) string { return fmt.Sprintf("%d 0 %d 1 1 a\n", i/many, i%many) }},
	} {
		t.Run(name, func(t *testing.T) {
			var truthText, runText bytes.Buffer
			truthText.WriteString(c.header)
			runText.WriteString(c.header)
			for i := 0; truthText.Len() < textBytes; i++ {
				truthText.WriteString(c.truth(i))
				runText.WriteString(c.run(i))
			}
			size := func(text *bytes.Buffer) lines.Size {
				size, err := lines.Count(t.Context(), bytes.NewReader(text.Bytes()), math.MaxInt64)
				if err != nil {
					t.Fatal(err)
				}
				return size
			}
			countedTruth := c.settings.MemoryOfTruth(size(&truthText))
			countedRun := c.settings.Memory(size(&runText))
			ofTruth := []scoring.File{file("truth", truthText.String())}
			ofRun := []scoring.File{file("run", runText.String())}
			peakOf := func(do func()) int64 {
				before := measuretest.PeakMemory()()
				peak := measuretest.PeakMemory()
				do()
				return int64(peak() - before)
			}
			var truth *scoring.Evaluator
			before := heap()
			took := peakOf(func() {
				var found []measure.Diagnostic
				var err error
				truth, found, err = scoring.ReadTruth(t.Context(), c.settings, ofTruth)
				if truth == nil {
					t.Fatal(found, err)
				}
			})
			if took > countedTruth {
				t.Errorf("reading the truth takes %d MiB, and %d are counted", took>>20, countedTruth>>20)
			}
			runtime.KeepAlive(ofTruth)
			if holds, got := heap()-before, truth.Bytes(); got < holds*2/3 || got > holds*3/2 {
				t.Errorf("Bytes returns %d, and %d are taken", got, holds)
			}
			took = peakOf(func() {
				e, err := truth.Read(t.Context(), ofRun)
				if err != nil || measure.HasErrors(e.Diagnostics) {
					t.Fatal(e, err)
				}
				runtime.KeepAlive(e)
			})
			if took > countedRun {
				t.Errorf("reading a run takes %d MiB, and %d are counted", took>>20, countedRun>>20)
			}
			runtime.KeepAlive(truth)
		})
	}
}

// TestHalves_HaveValuesByExampleOfFewExamples evaluates a truth whose examples are too many, and whose halves are small enough.
func TestHalves_HaveValuesByExampleOfFewExamples(t *testing.T) {
	s := labelled("Accuracy")
	s.HalfField = "Usage"
	for n, want := range map[int]int{measure.MaxExamples: measure.MaxExamples - 1, measure.MaxExamples + 1: 0} {
		text := "id,label,Usage\n0,a,ignored\n" + repeated(n-1, "x%[1]d,%[2]d,Public\n", func(int) int { return 1 })
		text = strings.Replace(text, "Public", "Private", n/2)
		truth := readHalves(t, s, text)
		e, err := truth.Read(t.Context(), []scoring.File{file("run", text)})
		if err != nil || len(e.Result.PerTopic) != want || (e.Result.Reasons[measure.PerTopicReason] == "") != (want > 0) {
			t.Errorf("%d examples: %d have values, %v, %v", n, len(e.Result.PerTopic), e.Result.Reasons, err)
		}
	}
}

// TestHalves_ResamplePublicExamples compares a sample with the value of the first measure.
func TestHalves_ResamplePublicExamples(t *testing.T) {
	s := labelled("Accuracy", "Kappa")
	s.HalfField = "Usage"
	truth := readHalves(t, s, "id,label,Usage\n1,a,Public\n2,b,Private\n3,b,Public\n4,b,Public\n")
	e, err := truth.Read(t.Context(), []scoring.File{file("run", "id,label\n4,b\n3,a\n2,a\n1,a\n")})
	if err != nil || e.Examples != 3 {
		t.Fatal(e, err)
	}
	for want, sample := range map[float64][]int{*e.Result.Measures["public:Accuracy"]: {0, 1, 2}, 1: {0, 2, 2}, 0: {1, 1, 1}} {
		if got := e.Resample(steps.Of(t.Context()), sample); got == nil || *got != want {
			t.Errorf("the sample %v has %v, want %v", sample, got, want)
		}
	}
}

// TestRead_EndsIfTheRunChanges evaluates a run whose file has a fault when it is opened again.
func TestRead_EndsIfTheRunChanges(t *testing.T) {
	s := labelled("Accuracy")
	s.HalfField = "Usage"
	truth := readHalves(t, s, "id,label,Usage\n1,a,Public\n2,b,Private\n")
	opened := 0
	run := scoring.File{Name: "run", Open: func() (io.ReadCloser, error) {
		opened++
		return file("run", []string{"id,label\n1,a\n2,b\n", "id,label\n1,a\n2,b\n", "id,label\n1,a\n"}[opened-1]).Open()
	}}
	if _, err := truth.Read(t.Context(), []scoring.File{run}); err == nil || !strings.Contains(err.Error(), "have changed") {
		t.Errorf("opened %d times: %v", opened, err)
	}
}

// TestPortray_CountsHalves describes truths with halves, and the measures that have no best value in one of them.
func TestPortray_CountsHalves(t *testing.T) {
	labels := labelled("Accuracy", "F1(positive=yes)")
	labels.HalfField = "Usage"
	topics := settingsOf(measure.Retrieval, measure.TRECRun, "AP", "P@2")
	topics.Halves = []scoring.File{file("halves", "1 public\n2 private\n")}
	for _, c := range []struct {
		settings        scoring.Settings
		truth, contents string
		warnings        []string
	}{
		{labels, "id,label,Usage\n1,yes,Public\n2,no,Private\n3,no,Private\n4,yes,Ignored\n",
			`4 items, 2 labels ("yes" 2, "no" 2); 1 public, 2 private, 1 ignored`, []string{
				`private:F1(positive=yes) has no value where the truth is scored against itself: no example of the truth has the label "yes"`}},
		{topics, "1 0 a 1\n1 0 b 1\n2 0 c 1\n", "2 topics, 3 judgments, 3 relevant; 1 public, 1 private, 0 ignored", []string{
			"private:P@2 cannot reach its best value 1: the truth scored against itself gets 0.5"}},
	} {
		p, err := readTruth(t, c.settings, c.truth).Portray(t.Context(), []scoring.File{file("truth", c.truth)}, nil)
		if err != nil || p.Contents != c.contents || !slices.Equal(p.Warnings, c.warnings) {
			t.Errorf("got %+v, %v, want %+v", p, err, c)
		}
	}
}

func TestCheck_ReportsSettingsOfHalves(t *testing.T) {
	halves := []scoring.File{file("halves", "")}
	tokens := settingsOf(measure.Spans, measure.CoNLL, "DocumentF1")
	for name, c := range map[string]struct {
		settings scoring.Settings
		change   func(*scoring.Settings)
		want     []string
	}{
		"a field":          {classificationSettings, func(s *scoring.Settings) { s.HalfField = "Usage" }, nil},
		"a file":           {classificationSettings, func(s *scoring.Settings) { s.Halves = halves }, nil},
		"a file of topics": {retrievalSettings, func(s *scoring.Settings) { s.Halves = halves }, nil},
		"both": {classificationSettings, func(s *scoring.Settings) { s.HalfField, s.Halves = "Usage", halves },
			[]string{"/evaluator/halfField the halves are in a file of their own: leave it out; a merge patch keeps it unless it sets it to null"}},
		"the field of the label": {classificationSettings, func(s *scoring.Settings) { s.HalfField = "label" },
			[]string{"/evaluator/halfField must be another field than those of the id and of the value"}},
		"a file whose ids are in the field half": {classificationSettings,
			func(s *scoring.Settings) { s.Halves, s.Format.IDField = halves, "half" },
			[]string{"/runFormat/idField must be another field than half, which has the half of an id in a file of halves"}},
		"a field of rankings": {retrievalSettings, func(s *scoring.Settings) { s.HalfField = "Usage" },
			[]string{"/evaluator/halfField the fields of trec-run have no names: give a file with a topic and its half in each line"}},
		"halves of tokens": {tokens, func(s *scoring.Settings) { s.Halves = halves },
			[]string{"/truths the tokens of conll have no ids, and so no halves: leave out the file of halves"}},
		"a field of tokens": {tokens, func(s *scoring.Settings) { s.HalfField = "Usage" }, []string{"/evaluator/halfField the tokens of conll " +
			"have no ids, and so no halves: leave it out; a merge patch keeps it unless it sets it to null"}},
		"extra ids of tokens": {tokens, func(s *scoring.Settings) { s.ExtraIDs = measure.RefuseExtraIDs }, []string{
			"/extraIds the tokens of conll have no ids: leave it out; a merge patch keeps it unless it sets it to null"}},
		"ignored ids": {classificationSettings, func(s *scoring.Settings) { s.ExtraIDs = measure.IgnoreExtraIDs }, nil},
		"other words": {classificationSettings, func(s *scoring.Settings) { s.ExtraIDs = "warn" },
			[]string{"/extraIds must be refuse or ignore"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.change(&c.settings)
			got := lists.Map(scoring.Check(c.settings), func(f problem.Field) string { return f.Pointer + " " + f.Detail })
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
