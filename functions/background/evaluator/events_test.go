package evaluator_test

import (
	"slices"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
	"assay/shared/testing/evaluationtest"
)

// events returns the kinds of the events that wait to be delivered, and their subjects.
func (f *fixture) events() (found []string) {
	f.T.Helper()
	items, err := f.Records.Store.Query(f.Ctx, store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: store.MaxKeys})
	f.Must(err)
	for _, it := range items {
		e := get[record.Event](f, it.Key)
		found = append(found, string(e.Kind)+" "+e.Subject)
	}
	slices.Sort(found)
	return found
}

func TestEvaluate_TellsTheTeamOnce(t *testing.T) {
	f := newFixture(t)
	completed, failed := f.Add(evaluationtest.Ranked), f.Add("no run\n")
	f.evaluate(completed.ID)
	f.evaluate(failed.ID)
	want := []string{"run.completed /v1/runs/" + completed.ID, "run.failed /v1/runs/" + failed.ID}
	if got := f.events(); !slices.Equal(got, want) {
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
	if got := f.events(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
