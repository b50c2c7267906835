package evaluator_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/evaluationtest"
)

// filesAway does not answer while it is away.
type filesAway struct {
	blob.Store
	away *bool
}

func (o filesAway) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if *o.away {
		return nil, errors.New("the object store does not answer")
	}
	return o.Store.Open(ctx, key)
}

// An object store that is away for hours fails no run, and is asked ever less often.
func TestEvaluate_OutageCostsNoAttempt(t *testing.T) {
	f := newFixture(t)
	away := true
	f.Files = filesAway{f.Files, &away}
	id := f.Add(evaluationtest.Ranked).ID
	began := f.Now()
	tries := 0
	for ; f.Now().Sub(began) < 5*time.Hour; tries++ {
		f.evaluate(id)
		r := f.GetRun(id)
		if r.State != record.Queued || r.Attempts != 0 || r.NotBefore == nil {
			t.Fatalf("after %d tries: %s, %d attempts, not before %v", tries, r.State, r.Attempts, r.NotBefore)
		}
		f.Wait(r.NotBefore.Sub(f.Now()))
		f.runDue()
	}
	if tries < 20 || tries > 80 {
		t.Errorf("it was tried %d times in five hours", tries)
	}
	away = false
	f.evaluate(id)
	if r := f.GetRun(id); r.State != record.Completed || r.Attempts != 1 || len(r.Diagnostics) > 0 {
		t.Errorf("%s, %d attempts, %v", r.State, r.Attempts, r.Diagnostics)
	}
}

// A full disk takes neither the result of a run nor that it is given back. Once there is room, the run waits for no lease to end.
func TestEvaluate_GivesRunBackOnceTheStoreWrites(t *testing.T) {
	f := newFixture(t)
	id, writes := f.Add(evaluationtest.Ranked).ID, 0
	f.Store = &storetest.Hooked{Store: f.Store, Before: func(c storetest.Call) error {
		if len(c.Writes) == 0 {
			return nil
		}
		writes++
		if writes == 1 || writes > 4 { // the first leases the run
			return nil
		}
		return store.ErrUnavailable
	}}
	f.evaluate(id)
	if r := f.GetRun(id); r.State != record.Queued || r.Attempts != 0 || writes != 5 {
		t.Errorf("after %d writes: %s, %d attempts", writes, r.State, r.Attempts)
	}
}

// What fails for longer than a day is no outage: attempts count, and the last fails the run.
func TestEvaluate_OutageEndsAfterADay(t *testing.T) {
	f := newFixture(t)
	away := true
	f.Files = filesAway{f.Files, &away}
	id := f.Add(evaluationtest.Ranked).ID
	f.Wait(25 * time.Hour)
	for n := range record.MaxAttempts {
		f.evaluate(id)
		if r := f.GetRun(id); r.State != record.Evaluating || r.Attempts != n+1 {
			t.Fatalf("%s, %d attempts", r.State, r.Attempts)
		}
		f.Wait(2 * time.Minute)
		f.runDue()
	}
	if r := f.GetRun(id); r.State != record.Failed {
		t.Errorf("the run is %s", r.State)
	}
}
