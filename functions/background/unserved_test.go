package background_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/testing/evaluationtest"
)

func TestFailUnserved_FailsRunsThatWaitTooLong(t *testing.T) {
	f := newFixture(t)
	id := f.Add(evaluationtest.Ranked, func(r *recordtest.Run) { r.Queue = record.QueueWorkers }).ID
	f.Wait(record.QueueTime - time.Minute)
	f.Must(f.FailUnserved(f.Ctx))
	if r := f.GetRun(id); r.State != record.Queued || len(r.Diagnostics) != 0 {
		t.Fatal(r.State, r.Diagnostics)
	}
	f.Wait(2 * time.Minute)
	f.Must(f.FailUnserved(f.Ctx))
	if r := f.GetRun(id); r.State != record.Failed || !strings.Contains(r.Diagnostics[0].Message, "No worker") {
		t.Fatal(r.State, r.Diagnostics)
	}
}

func TestFailUnserved_TellsOrganizersOnceADay(t *testing.T) {
	f := newFixture(t)
	for range 2 {
		f.Add(evaluationtest.Ranked, recordtest.OfImage)
	}
	look := func(want int, when string) {
		t.Helper()
		for range 2 {
			f.Must(f.FailUnserved(f.Ctx))
		}
		if got := f.Events(); len(got) != want || want > 0 && got[0] != "workers.missing /v1/datasets/"+f.Dataset.ID {
			t.Fatalf("%s: %v", when, got)
		}
	}
	look(0, "at once")
	f.Wait(record.WorkersNotice)
	serving := new(record.Serving)
	serving.Note(f.Now(), []record.Subqueue{record.WorkerSubqueue(f.Dataset.Pool, record.Evaluate)})
	f.Records.Put(serving)
	look(0, "while a worker is seen")
	f.Wait(2 * time.Minute)
	look(1, "after an hour")
	f.Wait(record.Day)
	look(2, "after another day")
}

func TestNextDue_ReturnsTheFirstInstant(t *testing.T) {
	f := newFixture(t)
	next := func() time.Time {
		at, err := f.NextDue(f.Ctx)
		f.Must(err)
		return at
	}
	if at := next(); !at.IsZero() {
		t.Errorf("with nothing there, next at %v", at)
	}
	waits := f.Add(evaluationtest.Ranked, func(r *recordtest.Run) { r.Queue = record.QueueWorkers })
	if at := next().Sub(waits.QueuedAt.Time); at != record.WorkersNotice {
		t.Errorf("a run that waits for a worker is looked at after %v", at)
	}
	f.Wait(2 * time.Hour)
	if at := next().Sub(waits.QueuedAt.Time); at != record.WorkersNotice+record.Day {
		t.Errorf("a run that waits for a worker is looked at again after %v", at)
	}
	f.Wait(record.QueueTime - 4*time.Hour)
	if at := next().Sub(waits.QueuedAt.Time); at != record.QueueTime {
		t.Errorf("a run that has waited for long is looked at after %v", at)
	}
	leased := f.Add(evaluationtest.Ranked, f.LeasedBy("elsewhere", time.Hour))
	if at := next(); !at.Equal(leased.Lease.Until.Time) {
		t.Errorf("next at %v, and the lease expires at %v", at, leased.Lease.Until)
	}
}
