// Package queue implements the queue of runs that wait for work: leases with a visibility timeout, fair scheduling among tasks
// and teams, retries with a delay, and the transition of each run from state to state. Built-in evaluators, workers behind
// gRPC and operations of the REST API all call it, so that each transition has one implementation.
//
// The ID of a lease is a fencing token: its holder can change the run only while the run has that lease. Every write requires that
// the run is unchanged since it was read. So each transition happens once, however many workers race and however often a message is
// delivered. An expired lease stays valid until ReclaimExpired ends it, because no other worker has the run before.
//
// Runs are leased in turns, by payer, then by submitter, task and team (see FairOrder). Names with little recent use come before
// names with much, however many runs of the latter wait. An evaluation that uses up its budget continues in the slow lane, a
// separate queue.
//
// A run that fails or is cancelled is refunded to its user's quota in the same transaction. If the run is evaluated again after a
// change of the ground truth (qrels, labels) and completes, it counts again.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/metrics"
	"assay/shared/service/allowance"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

var (
	// ErrStaleLease means that the run no longer has the lease: it expired and was reclaimed, or the run was cancelled or
	// deleted. Results of work under the lease must be discarded.
	ErrStaleLease = errors.New("queue: the run no longer has this lease")
	// ErrLinesMissing means that lines before the sent ones are missing. Send again from the position that the run's lease has reached.
	ErrLinesMissing = errors.New("queue: lines of the log are missing before the first that was sent")
	// ErrTruthChanged means that the ground truth has changed since the run was evaluated against it. Nothing was written and the lease
	// is still valid: evaluate again.
	ErrTruthChanged = errors.New("queue: the truth has changed since it was read")
	// ErrTruthFailures means that in the last 24 hours as many runs of the team failed as may fail for reasons that only the ground truth
	// reveals, see record.MaxTruthFailures. Nothing was written and the lease is still valid: complete the run without values.
	ErrTruthFailures = errors.New("queue: too many runs have failed within 24 hours for what only the truth can reveal")
)

// IgnoreStale returns nil for ErrStaleLease, and other errors unchanged. It is for work that is needed only while the lease is valid.
func IgnoreStale(err error) error {
	if errors.Is(err, ErrStaleLease) {
		return nil
	}
	return err
}

// Queue is the queue of the runs in a store. It has no state.
type Queue struct {
	Store   store.Store
	Now     func() time.Time
	Metrics metrics.Recorder // counts runs that end, and leases that expire
	Places  *Places          // limits how many runs are evaluated at the same time; nil means that only the process limits them
}

// transition is a change of one run and its related records, in one transaction. After a conflict, its function is called again with
// the current run.
type transition struct {
	ctx   context.Context //nolint:containedctx // of the one call
	store store.Store
	now   time.Time
	run   *record.RunItem
	tx    *records.Tx
}

// update applies a transition to the run, if the run exists and do returns true. It reports whether the run was written.
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

// assign assigns the run for the current ground truth of its dataset.
func (t *transition) assign() error {
	truth, err := records.Get[record.TruthVersion](t.ctx, t.store, store.Strong, record.TruthKey(t.run.DatasetID))
	if err == nil {
		assign(t.run, truth)
	}
	return err
}

// requeue returns the run to the queue, with its dataset's present evaluator and pool. They may differ from those at the time of the
// lease.
func (t *transition) requeue() error {
	if err := t.assign(); err != nil {
		return err
	}
	return t.changeState(record.Queued)
}

// refund adds to the transaction that the run no longer counts in its user's quota. That holds also for a run that was evaluated against an
// earlier ground truth, because it fails by the organizers' change and not by its team. If it completes later, recharge counts it again.
//
// Bytes that were announced for the run and never uploaded are also refunded to the user.
func (t *transition) refund() error {
	run := t.run
	if missing := min(run.Bytes, record.PendingUploads(run.Files).Bytes); missing > 0 {
		run.Bytes -= missing
		owner := quota.Account{Store: t.store, Tx: t.tx, Now: t.now, UserID: run.UserID}
		if err := owner.Credit(t.ctx, record.Charge{Bytes: -missing}); err != nil {
			return err
		}
	}
	if !run.Counted && !losesMark(run) {
		return nil
	}
	a, err := t.allowance()
	if err != nil {
		return err
	}
	if a.Stored() == 0 {
		run.Counted = false
		return nil
	}
	t.giveBack(a)
	return nil
}

// losesMark reports whether the run loses its mark as final when it ends without a result, so that the team can mark another run. A run
// with an evaluation keeps the mark: it fails by the organizers' change, and the team may no longer be able to choose when the run
// completes again.
func losesMark(run *record.RunItem) bool { return run.Final && len(run.Evaluations) == 0 }

// giveBack adds to the transaction that the run no longer counts in the allowance, and loses its mark as final if losesMark says so.
func (t *transition) giveBack(a *record.Allowance) {
	run := t.run
	if run.Counted {
		run.Counted = false
		a.Refund(run.DatasetID, run.ID)
	}
	if losesMark(run) {
		run.Final = false
		a.Unmark(run.DatasetID, run.ID)
	}
	t.tx.Save(a, t.now)
}

// refundTruthFailure is like refund, for a run with all its files whose values its team does not see. It failed for reasons that only the
// ground truth reveals, and the failure is counted.
func (t *transition) refundTruthFailure() error {
	a, err := t.allowance()
	if err != nil {
		return err
	}
	if !a.FailByTruth(t.now) {
		return ErrTruthFailures
	}
	t.giveBack(a)
	return nil
}

// recordTruthFailures records on a completing run whose values its team does not see until when no such run of the team can fail for
// reasons that only the ground truth reveals. The value must not depend on whether the run would have failed. The transaction therefore
// checks that the allowance is unchanged.
func (t *transition) recordTruthFailures() error {
	run := t.run
	limited := run.LimitsTruthFailures()
	run.NextTruthFailure = nil
	if !limited {
		return nil
	}
	a, err := t.allowance()
	if err != nil || a.Stored() == 0 {
		return err
	}
	run.NextTruthFailure = a.NextTruthFailure(t.now)
	if run.Counted || run.Uncounted() { // otherwise recharge writes the allowance
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

// allowance returns the allowance of the run's team, or a new one if none exists.
func (t *transition) allowance() (*record.Allowance, error) {
	a, err := allowance.OfSubmitted(t.ctx, t.store, store.Strong, t.run)
	if a == nil && err == nil {
		a = &record.Allowance{Meta: record.MetaOf(t.run.TeamID(), t.now), TaskID: t.run.TaskID}
	}
	return a, err
}
