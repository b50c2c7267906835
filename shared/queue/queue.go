// Package queue implements the queue of runs that wait for work: leases with a visibility timeout, fair scheduling among tasks
// and teams, retries with a delay, and the transition of each run from state to state. Built-in evaluators, workers behind
// gRPC and operations of the REST API all call it, so that each transition has one implementation.
//
// The id of a lease is a fencing token: its holder changes the run only while the run has that lease, and every write is conditional
// on the run being as it was read. So each transition happens once, however many workers race and however often a message is
// delivered. An expired lease stays valid until ReclaimExpired ends it, since until then no other worker has the run.
//
// Runs are leased in turns, by payer, then by submitter, task and team (see FairOrder): those that used little lately come before those
// that used much, however many runs these have waiting. An evaluation that uses up its budget continues in the slow lane, a queue of its
// own.
//
// A run that fails or is cancelled is refunded to its user's quota in the same transaction. One that is evaluated again
// after a change of the truth, and completes, counts again.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/allowance"
	"assay/shared/metrics"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

var (
	// ErrStaleLease means that the run no longer has the lease: it expired and was reclaimed, or the run was cancelled or
	// deleted. Results of work under the lease must be discarded.
	ErrStaleLease = errors.New("queue: the run no longer has this lease")
	// ErrLinesMissing means that lines before those that were sent are missing: send from where the run's lease has them.
	ErrLinesMissing = errors.New("queue: lines of the log are missing before the first that was sent")
	// ErrTruthChanged means that the truth is no longer the one that the run was evaluated against. Nothing was written and
	// the lease is still valid: evaluate again.
	ErrTruthChanged = errors.New("queue: the truth has changed since it was read")
	// ErrTruthFailures means that no more blinded runs of the user may fail today for what only the truth can reveal. Nothing
	// was written and the lease is still valid: complete the run without values.
	ErrTruthFailures = errors.New("queue: too many runs have failed today for what only the truth can reveal")
)

// IgnoreStale returns nil for ErrStaleLease, and any other error as it is: for work that is needed only while the lease is valid.
func IgnoreStale(err error) error {
	if errors.Is(err, ErrStaleLease) {
		return nil
	}
	return err
}

// Queue is the queue of the runs in a store. It has no state of its own.
type Queue struct {
	Store   store.Store
	Now     func() time.Time
	Metrics metrics.Recorder // of runs that end, and of leases that expire
	Places  *Places          // bounds how many runs are evaluated at the same time; nil: the process does
}

// transition is a change of one run, in a transaction with all that goes with it. Its function is called again, with the run
// as it is then, when another writer was faster.
type transition struct {
	ctx   context.Context //nolint:containedctx // of the one call
	store store.Store
	now   time.Time
	run   *record.RunItem
	tx    *records.Tx
}

// update applies a transition to the run, if there is one and do reports that it changes. It reports whether it was written.
func (q Queue) update(ctx context.Context, runID string, do func(*transition) (bool, error)) (bool, error) {
	now := q.Now()
	var after *record.RunItem
	var before record.RunState
	var queue string
	written, err := records.Update(ctx, q.Store, record.RunKey(runID), func(run *record.RunItem, tx *records.Tx) (bool, error) {
		after = run
		before = run.State
		queue = run.Queue
		return do(&transition{ctx: ctx, store: q.Store, now: now, run: run, tx: tx})
	})
	if written && after.State.Ended() && !before.Ended() {
		q.Metrics.Record(metrics.RunsEnded, 1, queue, string(after.State))
	}
	return written, err
}

// changeState is the only function that changes the state of a run.
func changeState(run *record.RunItem, next record.RunState, now time.Time) error {
	if !run.State.CanFollow(next) {
		return fmt.Errorf("queue: run %s is %s, which %s cannot follow", run.ID, run.State, next)
	}
	run.State = next
	run.Lease = nil
	if next != record.Queued {
		run.NotBefore = nil
	}
	if next == record.Failed {
		run.Reviewed = false
	}
	if next.Ended() {
		run.FinishedAt = new(record.At(now))
	}
	record.Touch(run, now)
	return nil
}

func (t *transition) changeState(next record.RunState) error { return changeState(t.run, next, t.now) }

// assign is assign for the truth of the run's dataset as it is now.
func (t *transition) assign() error {
	truth, err := records.Get[record.Truth](t.ctx, t.store, store.Strong, record.TruthKey(t.run.DatasetID))
	if err == nil {
		assign(t.run, truth)
	}
	return err
}

// requeue puts the run back into the queue, with the evaluator and the pool that its dataset has now. They may differ from those
// that it was leased for.
func (t *transition) requeue() error {
	if err := t.assign(); err != nil {
		return err
	}
	return t.changeState(record.Queued)
}

// refund adds to the transaction that the run no longer counts in its user's quota. A run that was evaluated, also against an earlier
// truth, always counts: its measures stay.
//
// Bytes that were announced for the run and never uploaded are refunded to the user too.
func (t *transition) refund() error {
	run := t.run
	if missing := min(run.Bytes, record.PendingUploads(run.Files).Bytes); missing > 0 {
		run.Bytes -= missing
		owner := quota.Account{Store: t.store, Tx: t.tx, Now: t.now, UserID: run.UserID}
		if err := owner.Credit(t.ctx, record.Charge{Bytes: -missing}); err != nil {
			return err
		}
	}
	if !run.Counted || len(run.Evaluations) > 0 {
		return nil
	}
	a, err := t.allowance()
	if err != nil {
		return err
	}
	run.Counted = false
	if a.Stored() == 0 {
		return nil
	}
	a.Refund(run.DatasetID, run.ID)
	t.tx.Save(a, t.now)
	return nil
}

// refundTruthFailure is refund for a blinded run, whose files all came, that failed for what only the truth can reveal; it
// counts that failure too.
func (t *transition) refundTruthFailure() error {
	run := t.run
	a, err := t.allowance()
	if err != nil {
		return err
	}
	if !a.FailByTruth(t.now) {
		return ErrTruthFailures
	}
	if run.Counted && len(run.Evaluations) == 0 {
		run.Counted = false
		a.Refund(run.DatasetID, run.ID)
	}
	t.tx.Save(a, t.now)
	return nil
}

// recordTruthFailures notes on a blinded run that completes until when none of its user's fails for what only the truth can reveal. It is
// the same whether the run would have failed, also when another one fails at the same time, as the transaction checks.
func (t *transition) recordTruthFailures() error {
	run := t.run
	run.NextTruthFailure = nil
	if !run.Access.Conceals() {
		return nil
	}
	a, err := t.allowance()
	if err != nil || a.Stored() == 0 {
		return err
	}
	run.NextTruthFailure = a.NextTruthFailure(t.now)
	if run.Counted || run.Uncounted() { // or else recharge writes it
		t.tx.Check(a)
	}
	return nil
}

// recharge adds to the transaction that the run counts in its user's quota.
func (t *transition) recharge() error {
	run := t.run
	if run.Counted || run.Uncounted() {
		return nil
	}
	a, err := t.allowance()
	if err != nil {
		return err
	}
	run.Counted = true
	a.Recharge(run.DatasetID, run.ID, t.now)
	t.tx.Save(a, t.now)
	return nil
}

// allowance returns the allowance of the run's team, a new one when there is none.
func (t *transition) allowance() (*record.Allowance, error) {
	a, err := allowance.OfSubmitted(t.ctx, t.store, store.Strong, t.run)
	if a == nil && err == nil {
		a = &record.Allowance{Meta: record.MetaOf(t.run.TeamID(), t.now), TaskID: t.run.TaskID}
	}
	return a, err
}
