package queue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

func TestLease_ReclaimedRunKeepsItsPlace(t *testing.T) {
	f := newFixture(t)
	first, second := f.add(), f.add()
	if r := f.lease(); r.ID != first.ID || r.State != record.Evaluating || r.Attempts != 1 {
		t.Fatalf("leased %+v, want the first run", r)
	}
	if r := f.lease(); r.ID != second.ID {
		t.Fatalf("leased %s, want the second run", r.ID)
	}
	if r := f.lease(); r != nil {
		t.Fatalf("leased %s from an empty queue", r.ID)
	}
	f.now = f.now.Add(2 * leaseTime)
	f.add()
	f.reclaim(first.ID)
	if r := f.lease(); r.ID != first.ID || r.Attempts != 2 {
		t.Fatalf("leased %s before the run that was reclaimed", r.ID)
	}
}

func TestCompleteEvaluation_RacingWorkersAndRepeatedMessagesWriteOnce(t *testing.T) {
	const runs, workers = 40, 8
	f := newFixture(t)
	f.Batch(func() {
		for range runs {
			f.add()
		}
	})
	var written, stale atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for {
				r, err := f.queue().Lease(f.ctx, record.BuiltinSubqueue(), &f.order, record.Lease{Holder: fmt.Sprint("worker ", w)}, leaseTime)
				if err != nil || r == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				var twice sync.WaitGroup
				for range 2 {
					twice.Go(func() {
						_, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(r), f.outcome(f.truth))
						switch {
						case err == nil:
							written.Add(1)
						case errors.Is(err, queue.ErrStaleLease):
							stale.Add(1)
						default:
							t.Error(err)
						}
					})
				}
				twice.Wait()
			}
		})
	}
	all.Wait()
	if written.Load() != runs || stale.Load() != runs {
		t.Fatalf("%d outcomes written and %d refused, want %d of each", written.Load(), stale.Load(), runs)
	}
	index, partition := record.List(record.KindDataset, f.dataset.ID, record.KindEvaluation, 2)
	ranked, err := f.Store.Query(f.ctx, store.Query{Index: index, Partition: partition, Limit: 2 * runs})
	if err != nil || len(ranked) != runs {
		t.Fatalf("%d evaluations, %v; want %d", len(ranked), err, runs)
	}
}

func TestEvaluation_OutdatedTruthKeepsTheLease(t *testing.T) {
	f := newFixture(t)
	r := f.add()
	l := queue.LeaseRefOf(f.lease())
	old := f.changeTruth()
	_, completed := f.queue().CompleteEvaluation(f.ctx, l, f.outcome(old))
	_, failed := f.queue().FailAgainst(f.ctx, l, old, reasons(measure.Error, "x"))
	_, withoutTruth := f.queue().FailAgainst(f.ctx, l, nil, reasons(measure.Error, "no truth"))
	for _, err := range []error{completed, failed, withoutTruth} {
		if !errors.Is(err, queue.ErrTruthChanged) {
			t.Errorf("got %v, want ErrTruthChanged", err)
		}
	}
	if got := f.run(r.ID); got.State != record.Evaluating || got.Lease == nil {
		t.Fatalf("the run went to %s", got.State)
	}
	if _, err := f.queue().CompleteEvaluation(f.ctx, l, f.outcome(f.truth)); err != nil {
		t.Fatal(err)
	}
}

func TestCompleteEvaluation_DeletesTheOldestBeyondTheMaximum(t *testing.T) {
	f := newFixture(t)
	id := f.add().ID
	var made []string
	for range record.MaxEvaluations + 2 {
		r, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
		f.must(err)
		made = append(made, r.EvaluationID)
		f.changeTruth()
		f.reevaluate(id)
	}
	if got := f.run(id).Evaluations; !slices.Equal(got, made[2:]) {
		t.Fatalf("the run has the evaluations %s", got)
	}
	for i, evaluationID := range made {
		e := evaluationOf(f, evaluationID)
		topics := recordtest.Get[record.Topics](t, f.Store, record.TopicsKey(evaluationID))
		if gone := i < 2; (e == nil) != gone || (topics == nil) != gone {
			t.Fatalf("evaluation %d: %v, %v", i, e, topics)
		}
		if e != nil && e.Unlisted != (i < len(made)-1) {
			t.Fatalf("evaluation %d of %d is superseded: %v", i, len(made), e.Unlisted)
		}
	}
}

func TestFailAttempt_LastFailureListsAllAttempts(t *testing.T) {
	f := newFixture(t)
	id := f.addCounted().ID
	for n := range record.MaxAttempts {
		l := queue.LeaseRefOf(f.lease())
		if n == 0 {
			_, err := f.queue().FailAttempt(f.ctx, l, "it broke")
			f.must(err)
			continue
		}
		f.now = f.now.Add(leaseTime)
		f.reclaim(id)
		if err := f.queue().Extend(f.ctx, l, leaseTime); !errors.Is(err, queue.ErrStaleLease) {
			t.Fatalf("a reclaimed lease is extended: %v", err)
		}
	}
	r := f.run(id)
	if r.State != record.Failed || r.Counted || f.counted() != 0 || r.FinishedAt == nil {
		t.Fatalf("%s, counted %v, quota %d", r.State, r.Counted, f.counted())
	}
	if len(r.Diagnostics) != 4 || r.Diagnostics[0].Severity != measure.Error || !strings.Contains(r.Diagnostics[1].Message, "it broke") {
		t.Fatalf("%+v", r.Diagnostics)
	}
}

func TestFailStale_FailsRunsInTheStateAlone(t *testing.T) {
	f := newFixture(t)
	id := f.addCounted().ID
	f.must(f.queue().FailStale(f.ctx, id, record.AwaitingUpload, reasons(measure.Error, "no file")...))
	if r := f.run(id); r.State != record.Queued || len(r.Diagnostics) != 0 {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
	f.must(f.queue().FailStale(f.ctx, id, record.Queued, reasons(measure.Error, "nobody came")...))
	if r := f.run(id); r.State != record.Failed || len(r.Diagnostics) != 1 || f.counted() != 0 {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
}

func TestCompleteEvaluation_FailedRunCountsAgain(t *testing.T) {
	f := newFixture(t)
	id := f.addCounted().ID
	_, err := f.queue().FailAgainst(f.ctx, queue.LeaseRefOf(f.lease()), f.truth, reasons(measure.Error, "x"))
	f.must(err)
	if n := f.counted(); n != 0 {
		t.Fatalf("%d runs count after the failure", n)
	}
	f.changeTruth()
	f.reevaluate(id)
	_, err = f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
	f.must(err)
	if n := f.counted(); n != 1 || !f.run(id).Counted {
		t.Fatalf("%d runs count after the evaluation", n)
	}
}

// A run that ends without ever having had a result is not final any more, and another run can take its place. A run that had a result keeps
// its mark when it fails against another ground truth, and has it when it completes again.
func TestEnd_WithoutAResultTakesTheMarkAsFinal(t *testing.T) {
	mark := func(f *fixture, r *record.RunItem) {
		a := recordtest.Get[record.Allowance](t, f.Store, f.allowance)
		r.Final = true
		a.Final = map[string][]string{f.dataset.ID: {r.ID}}
		f.Replace(r)
		f.Replace(a)
	}
	check := func(f *fixture, id string, final bool) {
		t.Helper()
		a := recordtest.Get[record.Allowance](t, f.Store, f.allowance)
		if r := f.run(id); r.Final != final || slices.Contains(a.Final[f.dataset.ID], id) != final {
			t.Errorf("the %s run is final: %v, and the team marked %v", r.State, r.Final, a.Final)
		}
	}
	ends := map[string]func(f *fixture, r *record.RunItem){
		"cancelled": func(f *fixture, r *record.RunItem) {
			tx := new(records.Tx)
			_, err := f.queue().Cancel(f.ctx, r, tx)
			f.must(err)
			f.must(tx.Commit(f.ctx, f.Store))
		},
		"failed": func(f *fixture, _ *record.RunItem) {
			_, err := f.queue().Fail(f.ctx, queue.LeaseRefOf(f.lease()), reasons(measure.Error, "no run"))
			f.must(err)
		},
		"stale": func(f *fixture, r *record.RunItem) {
			f.must(f.queue().FailStale(f.ctx, r.ID, record.Queued, reasons(measure.Error, "too late")...))
		},
	}
	for name, end := range ends {
		for _, counted := range []bool{true, false} { // a refunded run does not count
			t.Run(fmt.Sprint(name, " ", counted), func(t *testing.T) {
				f := newFixture(t)
				r := f.addCounted()
				r.Counted = counted
				mark(f, r)
				end(f, f.run(r.ID))
				check(f, r.ID, false)
			})
		}
	}
	f := newFixture(t)
	r := f.addCounted()
	mark(f, r)
	_, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
	f.must(err)
	f.changeTruth()
	f.reevaluate(r.ID)
	ends["failed"](f, f.run(r.ID))
	check(f, r.ID, true)
	version := recordtest.Get[record.Allowance](t, f.Store, f.allowance).Version
	f.changeTruth()
	f.reevaluate(r.ID)
	ends["failed"](f, f.run(r.ID))
	if a := recordtest.Get[record.Allowance](t, f.Store, f.allowance); a.Version != version {
		t.Errorf("a run that did not count and keeps its mark changed the allowance of its team from version %d to %d", version, a.Version)
	}
	f.changeTruth()
	f.reevaluate(r.ID)
	_, err = f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
	f.must(err)
	check(f, r.ID, true)
}
