package retrieval

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
	"assay/shared/nightlytest"

	"pgregory.net/rapid"
)

// The oracle computes measures from maps and sorted slices, by counting from scratch at every rank. It shares no code
// with the evaluator.

type retrieved struct {
	doc   string
	score float64
}

type oracle struct {
	judged map[string]map[string]int // grades by topic and document
	run    map[string][]retrieved    // in any order
}

// ranked returns the grades in the order of the ranking; ok is false for documents without a grade.
func (o oracle) ranked(topic string, judgedOnly bool) (grades []int, ok []bool) {
	list := slices.Clone(o.run[topic])
	sort.Slice(list, func(i, j int) bool {
		if list[i].score == list[j].score {
			return list[i].doc > list[j].doc
		}
		return list[i].score > list[j].score
	})
	for _, d := range list {
		g, found := o.judged[topic][d.doc]
		if judgedOnly && (!found || g < 0) {
			continue
		}
		grades, ok = append(grades, g), append(ok, found)
	}
	return grades, ok
}

func (o oracle) highest() int {
	highest := 0
	for _, topic := range o.judged {
		for _, g := range topic {
			highest = max(highest, g)
		}
	}
	return highest
}

func (o oracle) value(m measure.Measure, topic string) float64 {
	grades, known := o.ranked(topic, m.Flag("judged_only"))
	rel, depth := int(m.Number("rel")), m.Depth()
	if depth == 0 {
		depth = len(grades)
	}
	depth = min(depth, len(grades))
	relevant := func(i int) bool { return known[i] && grades[i] >= rel }
	nonRelevant := func(i int) bool { return known[i] && grades[i] >= 0 && grades[i] < rel }
	count := func(to int, is func(int) bool) float64 {
		n := 0.0
		for i := range to {
			if is(i) {
				n++
			}
		}
		return n
	}
	var ideal []int
	all, non := 0.0, 0.0
	for _, g := range o.judged[topic] {
		ideal = append(ideal, g)
		if g >= rel {
			all++
		} else if g >= 0 {
			non++
		}
	}
	sort.Sort(sort.Reverse(sort.IntSlice(ideal)))
	over := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return a / b
	}
	best := func(level float64) (highest float64) {
		for i := range depth {
			if count(i+1, relevant) >= math.Floor(level*all+0.5) {
				highest = max(highest, count(i+1, relevant)/float64(i+1))
			}
		}
		return highest
	}
	sum := 0.0
	setP := over(count(depth, relevant), float64(depth))
	setR := over(count(depth, relevant), all)
	switch m.Name {
	case "AP", "GMAP":
		for i := range depth {
			if relevant(i) {
				sum += count(i+1, relevant) / float64(i+1)
			}
		}
		if m.Name == "GMAP" {
			return max(over(sum, all), 1e-5)
		}
		return over(sum, all)
	case "RR":
		for i := range depth {
			if relevant(i) {
				return 1 / float64(i+1)
			}
		}
		return 0
	case "nDCG":
		gain := func(g int) float64 {
			if own, ok := m.Gains("gains")[g]; ok {
				return own
			}
			if m.Param("dcg") == "exp-log2" {
				return math.Pow(2, float64(max(g, 0))) - 1
			}
			return float64(max(g, 0))
		}
		best := 0.0
		for i := range depth {
			if known[i] {
				sum += gain(grades[i]) / math.Log2(float64(i+2))
			}
		}
		sort.SliceStable(ideal, func(i, j int) bool { return gain(ideal[i]) > gain(ideal[j]) })
		for i, g := range ideal {
			if gain(g) <= 0 {
				break
			}
			if m.Depth() == 0 || i < m.Depth() {
				best += gain(g) / math.Log2(float64(i+2))
			}
		}
		return over(sum, best)
	case "P":
		return count(depth, relevant) / float64(m.Depth())
	case "R", "SetR":
		return setR
	case "Rprec":
		return over(count(min(int(all), len(grades)), relevant), all)
	case "Success":
		return min(count(depth, relevant), 1)
	case "Bpref":
		for i := range depth {
			if above := count(i, nonRelevant); relevant(i) && above == 0 {
				sum++
			} else if relevant(i) {
				sum += 1 - min(above, all)/min(non, all)
			}
		}
		return over(sum, all)
	case "infAP":
		const e = 1e-5
		for i := range depth {
			j := float64(i)
			above := count(i, relevant)
			non := count(i, nonRelevant)
			pool := count(i, func(i int) bool { return known[i] && grades[i] < 0 })
			if relevant(i) && i == 0 {
				sum++
			} else if relevant(i) {
				sum += 1/(j+1) + j/(j+1)*((above+non+pool)/j)*((above+e)/(above+non+2*e))
			}
		}
		return over(sum, all)
	case "IPrec":
		return best(m.Recall())
	case "IAP":
		for level := range 11 {
			sum += best(float64(level)/10) / 11
		}
		return sum
	case "Compat":
		return o.compatibility(m, topic)
	case "SetP":
		if !m.Flag("relative") {
			return setP
		}
		return over(count(depth, relevant), min(float64(depth), all))
	case "SetAP":
		return setP * setR
	case "SetF":
		x := m.Number("beta")
		return over((x+1)*setP*setR, x*setP+setR)
	case "Judged":
		return over(count(depth, func(i int) bool { return known[i] && grades[i] >= 0 }), float64(depth))
	case "RBP":
		for i := range depth {
			gain := over(float64(max(grades[i], 0)), float64(o.highest()))
			if rel > 0 {
				gain = count(i+1, relevant) - count(i, relevant)
			}
			sum += gain * math.Pow(m.Number("p"), float64(i))
		}
		return (1 - m.Number("p")) * sum
	case "ERR":
		stop := func(i int) float64 { return (math.Pow(2, float64(max(grades[i], 0))) - 1) / 16 }
		for i := range depth {
			chance := stop(i)
			for j := range i {
				chance *= 1 - stop(j)
			}
			sum += chance / float64(i+1)
		}
		return sum
	case "NumQ":
		return 1
	case "NumRel":
		return all
	case "NumRet":
		if rel > 0 {
			return count(depth, relevant)
		}
		return float64(depth)
	}
	return math.NaN()
}

// compatibility puts the ideal ranking together, and counts what the first documents of both have in common.
func (o oracle) compatibility(m measure.Measure, topic string) float64 {
	list := slices.Clone(o.run[topic])
	sort.Slice(list, func(i, j int) bool {
		return list[i].score > list[j].score || list[i].score == list[j].score && list[i].doc > list[j].doc
	})
	rank, ideal := map[string]int{}, []string{}
	for i, d := range list {
		rank[d.doc] = i + 1
	}
	for doc, g := range o.judged[topic] {
		if g > 0 {
			ideal = append(ideal, doc)
		}
		if rank[doc] == 0 {
			rank[doc] = 1000
		}
	}
	sort.Slice(ideal, func(i, j int) bool {
		a, b := o.judged[topic][ideal[i]], o.judged[topic][ideal[j]]
		return a > b || a == b && rank[ideal[i]] < rank[ideal[j]]
	})
	overlap := func(depth int) (n float64) {
		for _, doc := range ideal[:min(depth, len(ideal))] {
			if rank[doc] <= depth {
				n++
			}
		}
		return n / float64(depth)
	}
	sum := 0.0
	self := 0.0
	weights := 0.0
	for depth := 1; depth <= max(len(ideal), len(list)); depth++ {
		weight := math.Pow(m.Number("p"), float64(depth-1))
		sum += weight * overlap(depth)
		self += weight * min(1, float64(len(ideal))/float64(depth))
		weights += weight
	}
	if len(ideal) == 0 {
		return 0
	}
	if m.Flag("normalize") {
		return sum / self
	}
	return sum / weights
}

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
