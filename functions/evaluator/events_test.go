package evaluator_test

import (
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
)

// events returns the kinds of the events that wait to be delivered, and their subjects.
func (f *fixture) events() (found []string) {
	f.t.Helper()
	items, err := f.records.Store.Query(f.ctx, store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: store.MaxKeys})
	f.must(err)
	for _, it := range items {
		e := get[record.Event](f, it.Key)
		found = append(found, string(e.Kind)+" "+e.Subject)
	}
	slices.Sort(found)
	return found
}

func TestEvaluate_TellsTheTeamOnce(t *testing.T) {
	f := newFixture(t)
	completed, failed := f.add(ranked), f.add("no run\n")
	f.evaluate(completed.ID)
	f.evaluate(failed.ID)
	want := []string{"run.completed /v1/runs/" + completed.ID, "run.failed /v1/runs/" + failed.ID}
	if got := f.events(); !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	f.truth.Number++
	f.records.Replace(f.truth)
	for _, id := range []string{completed.ID} { // evaluated again for a changed truth
		if _, err := (queue.Queue{Store: f.records.Store, Now: f.Now}).Reevaluate(f.ctx, id, f.truth); err != nil {
			t.Fatal(err)
		}
		f.evaluate(id)
		if r := f.run(id); r.State != record.Completed || r.TruthVersion != f.truth.Number {
			t.Fatalf("%+v", r)
		}
	}
	if got := f.events(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFailUnserved_TellsOrganizersOnceADay(t *testing.T) {
	f := newFixture(t)
	for range 2 {
		f.add(ranked, recordtest.OfImage)
	}
	look := func(want int, when string) {
		t.Helper()
		for range 2 {
			f.must(f.FailUnserved(f.ctx))
		}
		if got := f.events(); len(got) != want || want > 0 && got[0] != "workers.missing /v1/datasets/"+f.dataset.ID {
			t.Fatalf("%s: %v", when, got)
		}
	}
	look(0, "at once")
	f.wait(record.WorkersNotice)
	serving := new(record.Serving)
	serving.Note(f.Now(), []record.Subqueue{record.WorkerSubqueue(f.dataset.Pool, record.Evaluate)})
	f.records.Put(serving)
	look(0, "while a worker is seen")
	f.wait(2 * time.Minute)
	look(1, "after an hour")
	f.wait(record.Day)
	look(2, "after another day")
}
