package evaluator_test

import (
	"slices"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/service/queue"
	"assay/shared/testing/evaluationtest"
)

func TestEvaluate_TellsTheTeamOnce(t *testing.T) {
	f := newFixture(t)
	completed, failed := f.Add(evaluationtest.Ranked), f.Add("no run\n")
	f.evaluate(completed.ID)
	f.evaluate(failed.ID)
	want := []string{"run.completed /v1/runs/" + completed.ID, "run.failed /v1/runs/" + failed.ID}
	if got := f.Events(); !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	f.Truth.Number++
	f.Records.Replace(f.Truth)
	for _, id := range []string{completed.ID} { // evaluated again for a changed truth
		if _, err := (queue.Queue{Store: f.Records.Store, Now: f.Now}).Reevaluate(f.Ctx, id, f.Truth); err != nil {
			t.Fatal(err)
		}
		f.evaluate(id)
		if r := f.GetRun(id); r.State != record.Completed || r.TruthVersion != f.Truth.Number {
			t.Fatalf("%+v", r)
		}
	}
	if got := f.Events(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
