// Package queue moves runs through their states: it hands them out to whoever works on them, takes them back from whoever
// fell silent, and ends them. Built-in evaluators, workers behind gRPC and the operations of REST all go through it, so that
// each transition has one implementation.
//
// A run that is handed out carries a lease, whose id is the fence: a change by the holder is made only while the run
// still has that lease, and every change is conditional on the run being as it was read. So no transition is skipped
// and none happens twice, however many workers race and however often a message is delivered. A lease past its time holds
// until somebody takes the run back, for until then nobody else works on it.
//
// Runs that wait are handed out in turn, by task and by team within the task (see Order): however many runs one team has
// waiting, the next run of every other waits for one of them at most on each evaluator or worker.
//
// A run that fails or is cancelled leaves its user's quota in the same transaction, and one that was brought back by a
// changed truth and is evaluated after all enters it again.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

var (
	// ErrStaleLease means that the run no longer has the lease: it was taken back, cancelled or deleted. What was done
	// under the lease is to be thrown away.
	ErrStaleLease = errors.New("queue: the run is no longer held under this lease")
	// ErrLinesMissing means that lines before those that came are missing: send from where the run's lease has them.
	ErrLinesMissing = errors.New("queue: lines of the log are missing before the first that came")
	// ErrTruthChanged means that the truth is no longer the one that the run was evaluated against. Nothing was written,
	// the lease still holds: evaluate again.
	ErrTruthChanged = errors.New("queue: the truth has changed since it was read")
	// ErrTruthFailures means that no more blinded runs of the user may fail today for what only the truth can know. Nothing
	// was written, the lease still holds: complete the run without values.
	ErrTruthFailures = errors.New("queue: too many runs have failed today for what only the truth can know")
)

// IgnoreStale is the error, or nil when that is ErrStaleLease: for what is to be done only while the lease holds.
func IgnoreStale(err error) error {
	if errors.Is(err, ErrStaleLease) {
		return nil
	}
	return err
}

// LeaseRef names a run, the lease under which it is worked on, and the identity that took the lease; for that one alone is the
// lease good, no matter who else learns its id.
type LeaseRef struct {
	RunID, LeaseID, UserID string
	// Request is the digest of the request that a change is made for. The one that ends the lease is kept with the run, so that
	// Ended recognizes its repeats; empty: none is kept.
	Request string
}

// LeaseRefOf returns the hold that a run which was just leased is under.
func LeaseRefOf(run *record.RunItem) LeaseRef {
	return LeaseRef{RunID: run.ID, LeaseID: run.Lease.ID, UserID: run.Lease.UserID}
}

// Matches reports whether the lease is the one that the hold names.
func (h LeaseRef) Matches(l *record.Lease) bool {
	return l != nil && l.ID == h.LeaseID && l.UserID == h.UserID
}

// Ended returns how the lease that the hold names ended; nil unless a request under it or a cancellation ended it, and no later
// lease of the run was ended so.
func (h LeaseRef) Ended(run *record.RunItem) *record.EndedLease {
	if e := run.Ended; e != nil && e.ID == h.LeaseID && e.UserID == h.UserID {
		return e
	}
	return nil
}

// LeaseRun hands out one certain run, if it waits for a built-in evaluator; nil when it does not, or somebody else took it.
func LeaseRun(ctx context.Context, s store.Store, now time.Time, o *FairOrder, runID string, holder record.Lease, d time.Duration) (*record.RunItem, error) {
	run, err := records.Get[record.RunItem](ctx, s, store.Strong, record.RunKey(runID))
	if err != nil || run == nil || !run.Waits() || run.NotBefore != nil || run.Queue != record.QueueBuiltin {
		return nil, err
	}
	if err = lease(ctx, s, now, run, holder, d); records.IsConflict(err) {
		return nil, nil
	}
	o.served(run.TaskID, run.UserID)
	return run, err
}

// lease makes the transition of a run that is handed out. It fails with a conflict when somebody else was faster.
func lease(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, holder record.Lease, d time.Duration) error {
	next := record.Evaluating
	if run.Work() != record.Evaluate {
		next = record.Running
	}
	if err := move(run, next, now); err != nil {
		return err
	}
	run.Attempts++
	run.StartedAt = new(record.At(now))
	holder.ID, holder.Until = record.NewID(now), record.At(now.Add(d))
	run.Lease = &holder
	return new(records.Tx).Replace(run).Commit(ctx, s)
}

// move is the one place where the state of a run changes.
func move(run *record.RunItem, next record.RunState, now time.Time) error {
	if !run.State.CanFollow(next) {
		return fmt.Errorf("queue: run %s is %s, which %s cannot follow", run.ID, run.State, next)
	}
	run.State = next
	run.Lease = nil
	if next != record.Queued {
		run.NotBefore = nil
	}
	if next.Ended() {
		run.FinishedAt = new(record.At(now))
	}
	record.Touch(run, now)
	return nil
}
