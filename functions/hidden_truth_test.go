//go:build !race

package functions_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/background/evaluator"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

// modelTruth is a truth of a blinded split in two forms. Their public parts are equal, and the rest differs. Its runs are
// evaluated against both forms, and end in the same state against both.
type modelTruth struct {
	name                    string
	kind, measure           string
	idsPublic, labelsPublic bool
	contents                [2]string
	runs                    []string
	says                    string // in a diagnostic for the owner of a run
}

var modelTruths = []modelTruth{
	{"topics", "retrieval", "AP", true, false, [2]string{"1 0 a 1\n1 0 b 0\n2 0 a 1\n", "1 0 c 0\n1 0 b 2\n1 0 e 1\n2 0 d 1\n"},
		[]string{"1 Q0 a 1 2.5 x\n", "3 Q0 a 1 2.5 x\n", "1 Q0 a 1 2.5 x\n2 Q0 c 1 2.5 x\n7 Q0 c 1 2.5 x\n"},
		`the topics of the truth are \"1\", \"2\"`},
	{"nothing of a ranking", "retrieval", "AP", false, false, [2]string{"1 0 a 1\n1 0 b 0\n2 0 a 1\n", "1 0 c 1\n4 0 d 1\n5 0 d 1\n"},
		[]string{"1 Q0 a 1 2.5 x\n", "1 Q0 a 2 2.5 x\n1 Q0 b 1 1.5 x\n2 Q0 c 1 2.5 x\n"}, "rank and score contradict"},
	{"ids", "classification", "Accuracy", true, false, [2]string{"id,label\na,pos\nb,neg\nc,pos\n", "id,label\na,bad\nb,pos\nc,ugly\n"},
		[]string{"id,label\na,pos\n", "id,label\nz,pos\n", "id,label\na,pos\nb,good\nc,neg\nd,neg\n"}, `\"d\"`},
	{"labels", "classification", "Accuracy", false, true, [2]string{
		"id,label\na,pos\nb,neg\nc,pos\n", "id,label\na,neg\nd,pos\ne,pos\nf,neg\n"},
		[]string{"id,label\na,pos\nb,good\n", "id,label\na,Pos\nb,Neg\n", "id,label\na,neg\nz,neg\n"},
		`among the 2 of the truth (\"neg\", \"pos\")`},
	{"ids and labels", "classification", "Accuracy", true, true, [2]string{
		"id,label\na,pos\nb,neg\nc,pos\n", "id,label\na,neg\nb,pos\nc,neg\n"},
		[]string{"id,label\na,pos\nb,good\n", "id,label\na,Pos\nb,Neg\n", "id,label\nz,neg\n", "id,label\na,neg\nb,neg\nc,neg\n"}, `\"good\"`},
	{"nothing of a classification", "classification", "Accuracy", false, false, [2]string{
		"id,label\na,pos\nb,neg\nc,pos\n", "id,label\na,bad\nd,pos\nd2,pos\ne,ugly\n"},
		[]string{"id,label\na,pos\nb,good\n", "id,label\na,pos\n\n"}, ""},
	{"items of a regression", "regression", "RMSE", true, false, [2]string{"id,label\na,1\nb,2\nc,3.5\n", "id,label\na,-7\nb,200\nc,0\n"},
		[]string{"id,label\na,1\nb,2\nc,3.5\n", "id,label\na,1\nd,2\n", "id,label\nz,2\n"}, `\"d\"`},
	{manyFailures, "retrieval", "AP", false, false, [2]string{"1 0 a 1\n", "2 0 a 1\n"}, []string{
		"1 Q0 a 1 2.5 x\n", "2 Q0 a 1 2.5 x\n", "1 Q0 a 1 2.5 x and more\n"},
		"runs of your team had failed 5 times"},
}

// manyFailures names the truth whose runs have failed so often that their diagnostics say only that. These runs are bob's, so that ada's
// keep their diagnostics.
const manyFailures = "more failures than are shown"

// set gives the dataset the truth, or the other form of the truth if withhold is true.
func (t *modelTruth) set(d *record.DatasetItem, withhold bool) {
	d.IDsPublic = t.idsPublic
	d.LabelsPublic = t.labelsPublic
	d.Inputs = nil
	d.Reevaluation = nil
	d.Diagnostics = nil
	d.Evaluator = record.Evaluator{Kind: t.kind, Measures: []string{t.measure}}
	waits := len(d.Columns) > 0 && d.Columns[0].From == record.FromClose
	d.Columns = nil
	if waits {
		recordtest.AfterClose(d)
	}
	if t.kind != "retrieval" {
		d.RunFormat = record.RunFormat{Kind: "csv", IDField: "id", ValueField: "label"}
	}
	content := t.contents[0]
	if withhold {
		content = t.contents[1]
	}
	d.Truths = []record.File{modelFile("truth", content)}
	d.TruthReport = &record.TruthReport{Contents: content, Warnings: []string{content}}
}

// TestAnswers_AreEqualWhateverTheHiddenTruth evaluates the same runs, blinded or under embargo, against pairs of truths. For
// every operation, their owner and others must get answers that are equal byte for byte, except for data that the organizers
// declared public.
func TestAnswers_AreEqualWhateverTheHiddenTruth(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Now = func() time.Time { return modelTime }
	embargoed := func(dataset int) bool { return dataset%2 == 0 }
	m := &model{tasks: []modelTask{{"open", "olga", false, len(modelTruths), embargoed, record.Column{}}}, truths: modelTruths}
	for _, user := range []string{"ada", "bob"} {
		m.members = append(m.members, modelRegistration{user: user, state: record.Accepted})
	}
	said := map[string]string{} // required texts of runs, by path
	for i, truth := range modelTruths {
		for n, run := range truth.runs {
			said[fmt.Sprint("/v1/runs/", modelID("run", len(m.entries)))] = truth.name
			user := "ada"
			if truth.name == manyFailures {
				user = "bob"
			}
			m.entries = append(m.entries, modelEntry{name: truth.name, user: user, dataset: i, public: n%2 == 0, published: n%3 == 0,
				blinded: n%2 == 1 || !embargoed(i), embargoed: embargoed(i), state: record.Queued, run: run})
		}
	}
	m.putObjects(t, s)
	evaluated := func(caller string, withhold bool) store.Store {
		t.Helper()
		w := &evaluator.Worker{Store: m.store(t, caller, withhold), Files: s.Files, Now: s.Now, Log: s.Log, Holder: "test"}
		for i := range m.entries {
			r := new(record.RunItem)
			r.ID = modelID("run", i)
			if _, err := w.Evaluate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return w.Store
	}
	requests := m.requests(s)
	owners := slices.DeleteFunc(slices.Clone(requests), func(r modelRequest) bool { return said[r.path] == "" })
	requests = append(sampled(t, requests), owners...)
	differing := 0
	says := map[string]string{}
	for _, caller := range []string{"", "ada", "bob"} {
		full, other := evaluated(caller, false), evaluated(caller, true)
		for _, r := range requests {
			want, got := r.ask(s, full, caller), r.ask(s, other, caller)
			if differing < 3 && !bytes.Equal(want, got) {
				differing++
				t.Errorf("%s %s %s as %q: against a truth\n%s\nagainst another\n%s", r.method, r.path, r.body, caller, want, got)
			}
			if name := said[r.path]; name != "" && caller != "" && r.method == http.MethodGet && r.headers == nil {
				says[name] += string(want)
			}
		}
	}
	for _, truth := range modelTruths {
		if got := says[truth.name]; !strings.Contains(got, truth.says) || strings.Contains(got, `"state":"queued"`) {
			t.Errorf("the owner of runs on %s does not read %q:\n%s", truth.name, truth.says, got)
		}
	}
}
