package tools_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/domain/record"
)

// TestRuns_HaveNamesThatTheirCallersSee: other callers know an anonymous team only by its alias. They see a label only if they
// see the run itself.
func TestRuns_HaveNamesThatTheirCallersSee(t *testing.T) {
	s := newToolServer(t, record.Public)
	for _, c := range []struct {
		run  runSpec
		want string // for callers other than the owner and the organizers
		full string // for the owner and the organizers
	}{
		{runSpec{}, "team of alice", "team of alice: mine"},
		{runSpec{anonymous: true}, "Nocturnal Otter", "team of alice (alias Nocturnal Otter): mine"},
		{runSpec{public: true}, "team of alice: mine", "team of alice: mine"},
	} {
		c.run.label, c.run.ap = "mine", topicValues(.5, 1)
		run, _ := s.addEvaluatedRun(c.run)
		for user, want := range map[string]string{"": c.want, "alice": c.full, "olga": c.full} {
			if got := answer[tools.TopicsOutput](s, user, "topics", object{"runs": runRefs(run)}).Runs[0].Name; got != want {
				t.Errorf("%+v has the name %q for %q, want %q", c.run, got, user, want)
			}
		}
	}
}

// TestTools_AnswerHiddenInputsAsMissing covers the members that the pairs of stores in the tests of package functions do not
// cover.
func TestTools_AnswerHiddenInputsAsMissing(t *testing.T) {
	s := newToolServer(t, record.Private)
	run, _ := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(.5, 1)})
	other, _ := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(1, .5)})
	inline := inlineFiles("run.txt", datasetRun)
	dataset := func(id string) object { return object{"datasetId": id} }
	for _, c := range []struct {
		tool, pointer, id string
		input             func(id string) object
	}{
		{"validator", "/datasetId", s.dataset.ID, func(id string) object { return object{"run": inline, "datasetId": id} }},
		{"validator", "/truth/datasetId", s.dataset.ID, func(id string) object { return object{"truth": dataset(id)} }},
		{"diffir", "/runs/0/runId", run.ID, func(id string) object {
			return object{"runs": []object{{"runId": id}, runRef(other)}, "order": "measure"}
		}},
		{"serp", "/texts/datasetId", s.dataset.ID, func(id string) object { return object{"run": inline, "texts": dataset(id)} }},
		{"converter", "/run/runId", run.ID, func(id string) object { return object{"run": object{"runId": id}, "to": "csv"} }},
		{"converter", "/qrels/datasetId", s.dataset.ID, func(id string) object { return object{"qrels": dataset(id), "to": "csv"} }},
	} {
		s.invoke(http.StatusOK, nil, "olga", c.tool, c.input(c.id))
		for _, user := range []string{"", "unrelated", "robot"} {
			answer := func(id string) string {
				return string(s.invoke(http.StatusNotFound, nil, user, c.tool, c.input(id), "X-Request-Id", "same").Body)
			}
			hidden, missing := answer(c.id), answer(record.NewID(s.Now()))
			if hidden != missing || !strings.Contains(hidden, fmt.Sprintf(`"pointer":%q`, c.pointer)) {
				t.Errorf("%s as %q: what is hidden is\n%s\nand what is missing\n%s", c.tool, user, hidden, missing)
			}
		}
	}
}

// Values on different datasets, or against different truths, are not comparable. The dataset says which values of its worker are
// better.
func TestResolver_RefusesIncomparableRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	old, _ := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(.5)})
	s.nextTruthVersion()
	newer, _ := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(.5)})
	s.dataset = s.newWorkerDataset()
	own, _ := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(.5), rr: new(.5)})
	for _, c := range []struct {
		runs []object
		says string
	}{{runRefs(old, newer), "different versions"}, {runRefs(newer, own), "another dataset"}} {
		s.wantRefusal("olga", "evaluator", refusal{object{"runs": c.runs}, "/runs/1", c.says})
	}
	if out := answer[tools.TopicsOutput](s, "", "topics", object{"runs": runRefs(own), "measure": "AP"}); !out.LowerIsBetter {
		t.Error("the measure of an image has not the direction that the dataset says")
	}
	for _, user := range []string{"olga", "root", "robot"} { // no tool can run the image
		s.wantRefusal(user, "evaluator", refusal{object{"runs": runRefs(own), "truth": object{"datasetId": s.dataset.ID}}, "/truth", ""})
	}
}
