package tools_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/domain/record"
)

// topicOrder lists the names in the order of the answer. Hard topics have an exclamation mark.
func topicOrder(out tools.TopicsOutput) string {
	var names []string
	for _, t := range out.Topics {
		if t.Hard {
			t.Topic += "!"
		}
		names = append(names, t.Topic)
	}
	return strings.Join(names, " ")
}

// TestTopics_ByHand compares five runs on four topics: topic 2 is hard, on topic 10 one run is an outlier, and topic x has one value.
func TestTopics_ByHand(t *testing.T) {
	s := newToolServer(t, record.Public)
	var all []*record.RunItem
	for i, values := range []map[string]float64{
		{"1": .5, "2": .1, "10": .8},
		{"1": .5, "2": .1, "10": .8},
		{"1": .6, "2": .2, "10": .9},
		{"1": .6, "2": .2, "10": .9},
		{"1": .4, "2": .29, "10": .1, "x": .9},
	} {
		run, _ := s.addEvaluatedRun(runSpec{user: fmt.Sprint("user", i), ap: values})
		all = append(all, run)
	}
	out := answer[tools.TopicsOutput](s, "", "topics", object{"runs": runRefs(all...)})
	// Means are .52, .178, .7 and .9. The tenth percentile is .178 + .3 * (.52 - .178).
	if got := topicOrder(out); got != "2! 1 10 x" || !near(out.HardFrom, .2806) || !near(out.Mean, .5745) || out.Count != 4 {
		t.Errorf("%s, hard from %v, mean %v", got, out.HardFrom, out.Mean)
	}
	ten := out.Topics[2]
	if !near(ten.Mean, .7) || ten.Min != .1 || ten.Max != .9 || !near(ten.Spread, .8) || !slices.Equal(ten.Outliers, []int{4}) {
		t.Errorf("%+v", ten)
	}
	for _, i := range []int{0, 1, 3} { // quartiles of topic 1 are .5 and .6, so that .4 is within; x has one value
		if len(out.Topics[i].Outliers) > 0 {
			t.Errorf("%+v", out.Topics[i])
		}
	}
	if x := out.Topics[3]; x.Values[0] != nil || *x.Values[4] != .9 || x.Spread != 0 {
		t.Errorf("%+v", x)
	}
	if !near(*out.Runs[0].Mean, 1.4/3) || !near(*out.Runs[4].Mean, 1.69/4) {
		t.Errorf("%v %v", *out.Runs[0].Mean, *out.Runs[4].Mean)
	}
	for order, want := range map[string]string{"topic": "1 2! 10 x", "spread": "10 1 2! x"} {
		s.invoke(http.StatusOK, &out, "", "topics", object{"runs": runRefs(all...), "sort": order})
		if got := topicOrder(out); got != want {
			t.Errorf("by %s: %s, want %s", order, got, want)
		}
	}
	s.invoke(http.StatusOK, &out, "", "topics", object{"runs": runRefs(all...), "limit": 2})
	if got := topicOrder(out); got != "2! 1" || out.Count != 4 || !near(out.Mean, .5745) {
		t.Errorf("limited: %s of %d", got, out.Count)
	}
}

// TestTopics_WhereLessIsBetter expects the greatest mean first, and hard topics above the ninetieth percentile.
func TestTopics_WhereLessIsBetter(t *testing.T) {
	s := newToolServer(t, record.Public)
	run, evaluation := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(1, 2, 9)})
	evaluation.Evaluator.Kind = record.EvaluatorWorker // the dataset says in which direction values of its worker are better
	s.records.Replace(evaluation)
	s.dataset.Evaluator = record.Evaluator{Kind: record.EvaluatorWorker, Measures: []string{"AP"}}
	s.dataset.Columns = []record.Column{{Key: "AP", LowerIsBetter: new(true)}}
	s.records.Replace(s.dataset.DatasetItem)
	out := answer[tools.TopicsOutput](s, "", "topics", object{"runs": runRefs(run)})
	if got := topicOrder(out); got != "3! 2 1" || !out.LowerIsBetter {
		t.Errorf("%s: %+v", got, out)
	}
}

func TestTopics_RefusesInvalidInputs(t *testing.T) {
	s := newToolServer(t, record.Public)
	a, _ := s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.1, .2)})
	s.wantRefusals("topics", map[string]refusal{
		"unknown order":    {object{"runs": runRefs(a), "sort": "worst"}, "/sort", ""},
		"too many topics":  {object{"runs": runRefs(a), "limit": 301}, "/limit", ""},
		"no topic's value": {object{"runs": runRefs(a), "measure": "RR"}, "/measure", ""},
		"no run":           {object{"runs": []object{}}, "/runs", ""},
	})
}

// TestTopics_LargestPage checks the size of a page of 20 runs on 300 topics, and that names do not become markup.
func TestTopics_LargestPage(t *testing.T) {
	s := newToolServer(t, record.Public)
	var all []*record.RunItem
	for i := range 20 {
		topics := map[string]float64{}
		for topic := range 320 {
			topics[fmt.Sprintf("%s %d", injections[topic%len(injections)], topic)] = float64((i*31+topic*17)%97) / 97
		}
		run, _ := s.addEvaluatedRun(runSpec{user: fmt.Sprint("user", i), label: injections[i%len(injections)], public: true, ap: topics})
		all = append(all, run)
	}
	s.checkPage("topics", object{"runs": runRefs(all...), "limit": 300})
	s.checkPage("topics", object{"runs": runRefs(all[:4]...), "limit": 300})
}

// Charts and tables have numbers instead of names that are too long, and the page has a list of the numbers and names.
func TestPages_NumberLongRunNames(t *testing.T) {
	s := newToolServer(t, record.Public)
	names := []string{strings.Repeat("dense ", 15) + "one", strings.Repeat("dense ", 15) + "two"}
	var runs []object
	for i, name := range names {
		entered, _ := s.addEvaluatedRun(runSpec{user: name, public: true, ap: topicValues(.1*float64(i), .2, .3), rr: new(.5)})
		run := runRef(entered)
		run["name"] = name
		runs = append(runs, run)
	}
	for tool, want := range map[string]string{
		"significance": `(?s)<details open>.*<td class="number">1</td><th scope="row"><bdi>` + names[0] +
			`</bdi>.*<td class="number">2</td><th scope="row"><bdi>` + names[1] + `</bdi>`,
		"topics": "<li><bdi>" + names[0] + "</bdi></li><li><bdi>" + names[1] + "</bdi></li>",
	} {
		page := s.page("", tool, object{"runs": runs, "measure": "AP"})
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("the page of %s lacks %s", tool, want)
		}
	}
}
