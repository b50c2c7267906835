package tools

import (
	"fmt"
	"strings"
	"testing"

	"assay/shared/webpage"

	"github.com/a-h/templ"
)

// TestTopics_RoundingMakesNoOutlier has runs whose values are .3 but for rounding: quartiles that are equal leave no room
// for any difference, and neither does the mean of which nine in ten topics are no worse.
func TestTopics_RoundingMakesNoOutlier(t *testing.T) {
	const above = 0.30000000000000004
	by := make([]map[string]float64, 7)
	var topics []string
	for topic := range 11 {
		topics = append(topics, fmt.Sprint(topic))
		for run := range by {
			if topic == 0 {
				by[run] = map[string]float64{"one differs": []float64{.3, .31}[run/6]}
			}
			by[run][fmt.Sprint(topic)] = above
			if topic == 0 && run != 2 {
				by[run][fmt.Sprint(topic)] = .3
			}
		}
	}
	out := TopicsOutput{Sort: sortTopic}
	out.describeTopics(by, topics)
	for _, line := range out.Topics {
		if line.Hard || len(line.Outliers) > 0 {
			t.Errorf("hard from %v: %+v", out.HardFrom, line)
		}
	}
	if line := describeTopic("one differs", by); fmt.Sprint(line.Outliers) != "[6]" {
		t.Errorf("%+v", line)
	}
}

// TestTopics_WorstAreHard has more topics at the worst mean than one in ten, and then all of them.
func TestTopics_WorstAreHard(t *testing.T) {
	for _, less := range []bool{false, true} {
		for worst, want := range map[int]int{1: 1, 3: 3, 10: 0} {
			by := []map[string]float64{{}}
			var topics []string
			for topic := range 10 {
				name, value := fmt.Sprint(topic), 0.
				if topic >= worst {
					value = .5
				}
				if less {
					value = -value
				}
				by[0][name], topics = value, append(topics, name)
			}
			out := TopicsOutput{Sort: sortTopic, LowerIsBetter: less}
			out.describeTopics(by, topics)
			hard := 0
			for _, line := range out.Topics {
				if line.Hard {
					hard++
				}
			}
			if hard != want {
				t.Errorf("%d of 10 topics are the worst, less is better: %v; %d are hard from %v, want %d", worst, less, hard, out.HardFrom, want)
			}
		}
	}
}

// Pages distinguish runs whose names are cut to the same text, and say what makes a topic hard.
func TestPages_DistinguishClippedNames(t *testing.T) {
	long := strings.Repeat("Tina Team: BM25 ", 20)
	zero := 0.
	topics := TopicsOutput{Measure: "AP", Count: 2, Sort: sortHardest, HardFrom: 0, Runs: []TopicsRun{
		{Name: long + "one"}, {Name: long + "two"}, {Name: "c"}, {Name: "d"}},
		Topics: []TopicsLine{{Topic: "1", Values: []*float64{&zero, &zero, &zero, &zero}, Outliers: []int{0, 1}, Hard: true}}}
	different := SignificanceOutput{Test: byT, Runs: []SignificanceRun{{Name: long + "one"}, {Name: long + "two"}}, Pairs: []SignificancePair{
		{First: 0, Second: 1, Different: true, Difference: 1}}}
	different.phrases = different.conclude()
	diffir := DiffirOutput{Measure: "AP", Runs: []DiffirRun{{Name: long + "one"}, {Name: long + "two"}, {Name: "c"}}}
	for _, c := range []struct {
		page templ.Component
		most int
		n    int
	}{
		{topicsPage(&topics), 24, 2},                         // heading and outlier
		{significancePage(&different), 100, 1},               // the conclusion
		{significancePage(&different), 24, 1},                // the table of pairs
		{diffirTopics(diffirView{diffir, 0}), maxRunName, 1}, // heading
	} {
		var b strings.Builder
		if err := c.page.Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		for _, number := range []string{"1", "2"} {
			if got := strings.Count(b.String(), number+" <bdi>"+webpage.Truncate(long, c.most)+"</bdi>"); got != c.n {
				t.Errorf("run %s stands %d times within %d bytes, want %d", number, got, c.most, c.n)
			}
		}
	}
	v := diffirView{diffir, 0}
	if got := v.runNames([]string{long + "one", long + "two"}); !strings.HasPrefix(got, "1 ") || !strings.Contains(got, ", 2 ") {
		t.Errorf("a document is gone from %s", got)
	}
	var means strings.Builder
	if err := different.means().Render(t.Context(), &means); err != nil || !strings.Contains(means.String(), "1. Tina") ||
		!strings.Contains(means.String(), "2. Tina") {
		t.Errorf("%v: %s", err, means.String())
	}
	if got := topics.summary(); !strings.Contains(got, "Hard: 1 topic, with a mean over the runs of 0.0000, the worst of all.") {
		t.Error(got)
	}
	topics.HardFrom = 0.1
	if got := topics.summary(); !strings.Contains(got, "with a mean over the runs below 0.1000, or the worst of all.") {
		t.Error(got)
	}
}
