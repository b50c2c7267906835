package tools_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/functions/tools/inputs"
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
	"assay/shared/visibility"
)

// resolver resolves inputs as the user.
func (s *toolServer) resolver(user string) *inputs.Resolver {
	caller := access.Caller{Admin: user == "root", Worker: user == "robot"}
	if user != "" {
		caller.ID = recordtest.UserID(user)
	}
	return inputs.NewResolver(&api.Call{
		Env: s.Env, Store: s.Store, Viewer: visibility.Viewer{Store: s.Store, Caller: caller, Consistency: store.Strong}})
}

// readable is what the user may have of a run and of its dataset, in letters, and what the run is called.
func (s *toolServer) readable(user string, run *record.RunItem) string {
	ctx := s.t.Context()
	letters, name := "", ""
	refs := []inputs.RunReference{{RunID: run.ID}}
	if runs, err := s.resolver(user).Runs(ctx, "/runs", refs); err == nil {
		letters, name = letters+"F", runs[0].Name // files
	}
	if r, err := s.resolver(user).Results(ctx, inputs.ResultsRequest{Runs: refs, MeasurePointer: "/measures"}); err == nil {
		letters, name = letters+"V", r.Runs[0].Name // values
	}
	if _, err := s.resolver(user).Results(ctx, inputs.ResultsRequest{
		Runs: refs, Measures: []string{"P@1"}, MeasurePointer: "/measures"}); err == nil {
		letters += "C" // values that are computed, which the evaluation does not have
	}
	if _, err := s.resolver(user).Truth(ctx, "/truth", inputs.TruthReference{DatasetID: run.DatasetID}); err == nil {
		letters += "T"
	}
	if _, err := s.resolver(user).Texts(ctx, "/texts", &inputs.TextsReference{DatasetID: run.DatasetID}, nil); err == nil {
		letters += "I" // inputs
	}
	if ranking, err := s.resolver(user).Ranking(ctx, inputs.RankingRequest{DatasetID: run.DatasetID, Limit: 200}); err == nil {
		letters += "B" // board
		for _, e := range ranking.Entries {
			if e.RunID == run.ID {
				letters += "!" // with the run
			}
		}
	}
	return strings.TrimSpace(letters + " " + strings.Replace(name, "team of alice: mine", "mine", 1))
}

// callers are those of the matrix of rights: otto is a member of another organizer, and robot a worker.
var callers = []string{"", "otto", "robot", "alice", "olga", "root"}

func TestResolver_FollowsTheRightsOfResources(t *testing.T) {
	for name, c := range map[string]struct {
		task record.Visibility
		run  runSpec
		want [6]string // by callers
	}{
		"published": {record.Public, runSpec{public: true}, [6]string{"FVIB! mine", "FVIB! mine", "FVCTIB! mine", "FVIB! mine",
			"FVCTIB! mine", "FVCTIB! mine"}},
		"by its values": {record.Public, runSpec{}, [6]string{"VIB! team of alice", "VIB! team of alice", "VTIB! team of alice",
			"FVIB! mine", "FVCTIB! mine", "FVCTIB! mine"}},
		"anonymous": {record.Public, runSpec{anonymous: true}, [6]string{
			"VIB! Nocturnal Otter", "VIB! Nocturnal Otter", "VTIB! Nocturnal Otter", "FVIB! mine", "FVCTIB! mine", "FVCTIB! mine"}},
		"not published": {record.Public, runSpec{public: true, hidden: true}, [6]string{
			"IB", "IB", "TIB", "FVIB! mine", "FVCTIB! mine", "FVCTIB! mine"}},
		"blinded": {record.Public, runSpec{public: true, blinded: true}, [6]string{
			"IB", "IB", "TIB", "FIB mine", "FVCTIB! mine", "FVCTIB! mine"}},
		"of a private task":  {record.Private, runSpec{public: true}, [6]string{"", "", "", "FV mine", "FVCTIB! mine", "FVCTIB! mine"}},
		"private altogether": {record.Private, runSpec{hidden: true}, [6]string{"", "", "", "FV mine", "FVCTIB! mine", "FVCTIB! mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newToolServer(t, c.task)
			s.records.Organizer("otto")
			c.run.label, c.run.ap = "mine", topicValues(.5, 1)
			run, _ := s.addEvaluatedRun(c.run)
			for i, user := range callers {
				if got := s.readable(user, run); got != c.want[i] {
					t.Errorf("%q gets %q, want %q", user, got, c.want[i])
				}
			}
		})
	}
}

// A hidden run or dataset is answered as a missing one, wherever a tool takes it.
func TestTools_AnswerHiddenInputsAsMissing(t *testing.T) {
	s := newToolServer(t, record.Private)
	run, _ := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(.5, 1)})
	other, _ := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(1, .5)})
	inline := inlineFiles("run.txt", datasetRun)
	ofRun := func(id string) object { return object{"runId": id} }
	ofDataset := func(id string) object { return object{"datasetId": id} }
	for _, c := range []struct {
		tool, pointer, id string
		input             func(id string) object
	}{
		{"evaluator", "/runs/0/runId", run.ID, func(id string) object { return object{"runs": []object{ofRun(id)}} }},
		{"evaluator", "/truth/datasetId", s.dataset.ID, func(id string) object {
			return object{"runs": []object{inline}, "truth": ofDataset(id)}
		}},
		{"validator", "/run/runId", run.ID, func(id string) object { return object{"run": ofRun(id)} }},
		{"validator", "/datasetId", s.dataset.ID, func(id string) object { return object{"run": inline, "datasetId": id} }},
		{"validator", "/truth/datasetId", s.dataset.ID, func(id string) object { return object{"truth": ofDataset(id)} }},
		{"diffir", "/runs/1/runId", run.ID, func(id string) object { return object{"runs": []object{inline, ofRun(id)}} }},
		{"diffir", "/runs/0/runId", run.ID, func(id string) object {
			return object{"runs": []object{ofRun(id), runRef(other)}, "order": "measure"}
		}},
		{"diffir", "/texts/datasetId", s.dataset.ID, func(id string) object {
			return object{"runs": []object{inline, inline}, "texts": ofDataset(id)}
		}},
		{"serp", "/run/runId", run.ID, func(id string) object { return object{"run": ofRun(id)} }},
		{"serp", "/texts/datasetId", s.dataset.ID, func(id string) object { return object{"run": inline, "texts": ofDataset(id)} }},
		{"serp", "/truth/datasetId", s.dataset.ID, func(id string) object { return object{"run": inline, "truth": ofDataset(id)} }},
		{"leaderboard", "/datasetId", s.dataset.ID, ofDataset},
		{"significance", "/runs/0/runId", run.ID, func(id string) object { return object{"runs": []object{ofRun(id), runRef(other)}} }},
		{"topics", "/runs/0/runId", run.ID, func(id string) object { return object{"runs": []object{ofRun(id)}} }},
		{"fusion", "/runs/1/runId", run.ID, func(id string) object { return object{"runs": []object{inline, ofRun(id)}} }},
		{"converter", "/run/runId", run.ID, func(id string) object { return object{"run": ofRun(id), "to": "csv"} }},
		{"converter", "/qrels/datasetId", s.dataset.ID, func(id string) object { return object{"qrels": ofDataset(id), "to": "csv"} }},
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

// Values on different datasets, or against different truths, do not compare; and what an image measured has its own direction.
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
	}{{runRefs(old, newer), "different truths"}, {runRefs(newer, own), "another dataset"}} {
		s.wantRefusal("olga", "evaluator", refusal{object{"runs": c.runs}, "/runs/1", c.says})
	}
	r, err := s.resolver("").Results(t.Context(), inputs.ResultsRequest{
		Runs: []inputs.RunReference{{RunID: own.ID}}, MeasurePointer: "/measures"})
	if err != nil {
		t.Fatal(err)
	}
	if !r.LowerIsBetter("RR") || r.LowerIsBetter("AP") {
		t.Error("the measures of an image have not the direction that the dataset says")
	}
	for _, user := range []string{"olga", "root", "robot"} { // no tool can run the image
		s.wantRefusal(user, "evaluator", refusal{object{"runs": runRefs(own), "truth": object{"datasetId": s.dataset.ID}}, "/truth", ""})
	}
}

// A caller who may no longer see an input gets 404, and not 304, for an answer that is still the same.
func TestResult_ChecksRightsBeforeTheEntityTag(t *testing.T) {
	for name, change := range map[string]func(*record.AccessAttributes){
		"blinded":   func(s *record.AccessAttributes) { s.Blinded = true },
		"withdrawn": func(s *record.AccessAttributes) { s.Published = false },
	} {
		for tool, input := range map[string]func(run object) object{
			"evaluator": func(run object) object { return object{"runs": []object{run}} },
			"topics":    func(run object) object { return object{"runs": []object{run}} },
			"serp":      func(run object) object { return object{"run": run} },
			"converter": func(run object) object { return object{"run": run, "to": "csv"} },
		} {
			s := newToolServer(t, record.Public)
			run, e := s.addEvaluatedRun(runSpec{public: true, ap: topicValues(.5, 1)})
			path := s.resultURL(tool, input(runRef(run)))
			tag := s.Want(http.StatusOK, nil, "bob", http.MethodGet, path, nil).Header.Get("ETag")
			s.Want(http.StatusNotModified, nil, "bob", http.MethodGet, path, nil, "If-None-Match", tag)
			change(&run.Access)
			change(&e.Access)
			s.records.Replace(run)
			s.records.Replace(e)
			for _, has := range []string{tag, "*"} {
				if a := s.Do("bob", http.MethodGet, path, nil, "If-None-Match", has); a.Status != http.StatusNotFound {
					t.Errorf("%s of a run that is %s, with the tag %s: %d", tool, name, has, a.Status)
				}
			}
		}
	}
}
