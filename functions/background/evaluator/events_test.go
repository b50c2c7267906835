package evaluator_test

import (
	"slices"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/service/queue"
	"assay/shared/testing/evaluationtest"
)

// TestEvaluate_TellsTheTeam evaluates a run against changed ground truths: the team is told that it completed for the first time, and
// that it failed. A run that fails again is not told again, unless it was completed meanwhile.
func TestEvaluate_TellsTheTeam(t *testing.T) {
	f := newFixture(t)
	completed, failed := f.Add(evaluationtest.Ranked), f.Add("no run\n")
	f.evaluate(completed.ID)
	f.evaluate(failed.ID)
	want := []string{"run.completed /v1/runs/" + completed.ID, "run.failed /v1/runs/" + failed.ID}
	if got := f.Events(); !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for _, change := range []struct {
		qrels string
		state record.RunState
		told  string
	}{
		{evaluationtest.Qrels + "q2 0 d4 1\n", record.Completed, ""},
		{"q7 0 d1 1\n", record.Failed, "run.failed /v1/runs/" + completed.ID}, // the run has no topic of this ground truth
		{"q8 0 d1 1\n", record.Failed, ""},
		{evaluationtest.Qrels, record.Completed, ""},
		{"q7 0 d1 1\n", record.Failed, "run.failed /v1/runs/" + completed.ID},
	} {
		f.Truth.Number++
		f.Truth.Files = []record.File{f.Records.File(record.HolderTruths, f.Dataset.ID, "qrels.txt", change.qrels)}
		f.Records.Replace(f.Truth)
		for _, run := range []*record.RunItem{completed, failed} {
			if _, err := (queue.Queue{Store: f.Records.Store, Now: f.Now}).Reevaluate(f.Ctx, run.ID, f.Truth); err != nil {
				t.Fatal(err)
			}
			f.evaluate(run.ID)
		}
		if r := f.GetRun(completed.ID); r.State != change.state || r.TruthVersion != f.Truth.Number {
			t.Fatalf("%+v", r)
		}
		if change.told != "" {
			want = append(want, change.told)
			slices.Sort(want)
		}
		if got := f.Events(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
