package retrieval

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// anyMeasure draws a measure of a family with any of its parameters.
func anyMeasure(t *rapid.T, f measure.Family) measure.Measure {
	var params []string
	for _, p := range f.Parameters {
		if !rapid.Bool().Draw(t, p.Name+" given") {
			continue
		}
		value := map[string]*rapid.Generator[string]{
			"integer": rapid.SampledFrom([]string{"1", "2", "3", "4"}),
			"number":  rapid.SampledFrom([]string{"0.25", "0.5", "0.95"}),
			"flag":    rapid.SampledFrom([]string{"True", "False"}),
			"gains":   rapid.SampledFrom([]string{"{0:0.5,2:7}", "'1=3.25,3=1'", "{0:-1,1:-2,4:0}"}),
			"choice":  rapid.SampledFrom(append(p.Choices, "")),
		}[p.Domain].Filter(func(s string) bool { return s != "" }).Draw(t, p.Name)
		params = append(params, p.Name+"="+value)
	}
	text := f.Name + "(" + strings.Join(params, ",") + ")"
	switch f.Cutoff {
	case measure.RequiredRecall:
		text += "@" + rapid.SampledFrom([]string{"0", "0.1", "0.25", "0.5", "0.7", "1"}).Draw(t, "recall")
	case measure.RequiredDepth:
		text += fmt.Sprintf("@%d", rapid.IntRange(1, 12).Draw(t, "depth"))
	case measure.OptionalDepth:
		if rapid.Bool().Draw(t, "cut") {
			text += fmt.Sprintf("@%d", rapid.IntRange(1, 12).Draw(t, "depth"))
		}
	}
	m, err := measure.Parse(measure.Retrieval, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEvaluate_AgreesWithTheDefinitions(t *testing.T) {
	topic := rapid.SampledFrom([]string{"1", "10", "2", "tü"})
	doc := rapid.SampledFrom([]string{"a", "b", "B", "ab", "é", "d0", "d1", "d10", "d2", "9", "~"})
	nightlytest.Check(t, func(t *rapid.T) {
		o := oracle{judged: map[string]map[string]int{}, run: map[string][]retrieved{}}
		var qrels, run []string
		type pair struct{ topic, doc string }
		pairs := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) pair { return pair{topic.Draw(t, "topic"), doc.Draw(t, "doc")} }), 1,
			30, rapid.ID)
		for _, p := range pairs.Draw(t, "judged") {
			if o.judged[p.topic] == nil {
				o.judged[p.topic] = map[string]int{}
			}
			grade := rapid.IntRange(-2, 4).Draw(t, "grade")
			o.judged[p.topic][p.doc] = grade
			qrels = append(qrels, fmt.Sprintf("%s 0 %s %d\n", p.topic, p.doc, grade))
		}
		overlap := false
		for i, p := range pairs.Draw(t, "retrieved") {
			score := rapid.OneOf(rapid.Float64Range(-1e9, 1e9),
				rapid.SampledFrom([]float64{math.Copysign(0, -1), 0, 0.5, 1})).Draw(t, "score")
			o.run[p.topic] = append(o.run[p.topic], retrieved{p.doc, score})
			run = append(run, fmt.Sprintf("%s Q0 %s %d %v tag\n", p.topic, p.doc, i, score))
			overlap = overlap || o.judged[p.topic] != nil
		}
		if !overlap {
			return
		}
		var measures []measure.Measure
		for _, f := range measure.EvaluatorOf(measure.Retrieval).Families {
			measures = append(measures, anyMeasure(t, f))
		}
		half := rapid.IntRange(1, len(run)).Draw(t, "first file")
		files := []measure.File{measuretest.File("run1", strings.Join(run[:half], ""))}
		if half < len(run) {
			files = append(files, measuretest.File("run2", strings.Join(run[half:], "")))
		}
		truth, diagnostics, err := ReadQrels(t.Context(), measuretest.File("qrels", strings.Join(qrels, "")))
		if err != nil || truth == nil {
			t.Fatal(diagnostics, err)
		}
		result, diagnostics, err := truth.Evaluate(t.Context(), measures, files...)
		if err != nil || result.Measures == nil {
			t.Fatal(diagnostics, err)
		}
		if len(result.PerTopic) != len(o.judged) {
			t.Fatalf("values of %d topics, want %d", len(result.PerTopic), len(o.judged))
		}
		for _, m := range measures {
			total := 0.0
			for topic := range o.judged {
				want := o.value(m, topic)
				total += want
				if got := result.PerTopic[topic][m.String()]; !(math.Abs(got-want) < 1e-9) {
					t.Fatalf("%s of %s is %v, want %v", m, topic, got, want)
				}
			}
			if !strings.HasPrefix(m.Name, "Num") {
				total /= float64(len(o.judged))
			}
			if m.Name == "GMAP" {
				total = 1
				for topic := range o.judged {
					total *= math.Pow(o.value(m, topic), 1/float64(len(o.judged)))
				}
			}
			if got := *result.Measures[m.String()]; !(math.Abs(got-total) < 1e-9) {
				t.Fatalf("%s is %v, want %v", m, got, total)
			}
		}
	})
}
