package queue

import (
	"context"
	"slices"
	"time"

	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
)

// Enqueue makes the transition of a run whose last file has arrived, into the queue for the truth as it is now; its caller
// writes the run. Without a truth the run waits where it was to wait, and learns of the absence when it is leased.
func Enqueue(run *record.RunItem, truth *record.Truth, now time.Time) error {
	if err := changeState(run, record.Queued, now); err != nil {
		return err
	}
	assign(run, truth)
	run.QueuedAt = new(record.At(now))
	return nil
}

// Restore has a run that lay in the trash go on, with the truth as it is now: a lease that it had is over without counting as an attempt,
// and it waits from now on. Its caller writes the run.
func Restore(run *record.RunItem, truth *record.Truth, now time.Time) error {
	if run.Lease != nil {
		run.Attempts--
		if err := changeState(run, record.Queued, now); err != nil {
			return err
		}
	}
	if run.Waits() {
		assign(run, truth)
		run.QueuedAt = new(record.At(now))
	}
	return nil
}

// Cancel returns the run as it is once cancelled, and adds to tx what cancels it; a worker learns of that when it extends its
// lease. A run whose state does not allow it is a problem.
func (q Queue) Cancel(ctx context.Context, run *record.RunItem, tx *records.Tx) (*record.RunItem, error) {
	if !run.State.CanFollow(record.Cancelled) {
		return nil, problem.Conflict.New("The run is %s: only a run that has not ended can be cancelled.", run.State)
	}
	if len(run.Evaluations) > 0 {
		return nil, problem.Conflict.New("The run was evaluated, and is only evaluated again because the truth has changed. Delete its " +
			"submission to withdraw it.")
	}
	changed := *run
	t := transition{ctx: ctx, store: q.Store, now: q.Now(), run: &changed, tx: tx}
	if err := t.changeState(record.Cancelled); err != nil {
		return nil, err
	}
	if run.Lease != nil {
		changed.Ended = &record.EndedLease{ID: run.Lease.ID, UserID: run.Lease.UserID, State: record.Cancelled}
	}
	if err := t.refund(); err != nil {
		return nil, err
	}
	tx.Replace(&changed)
	return &changed, nil
}

// FailStale fails a run that has waited too long in the state, for the reasons given. A run that is in another state or leased
// by now, or deleted, stays as it is.
func (q Queue) FailStale(ctx context.Context, runID string, waited record.RunState, reasons ...measure.Diagnostic) error {
	_, err := q.update(ctx, runID, func(t *transition) (bool, error) {
		if t.run.State != waited || t.run.Lease != nil {
			return false, nil
		}
		return true, t.fail(reasons...)
	})
	return err
}

// Reevaluate queues a run again when the truth is newer than the one that the run was evaluated against, and reports whether
// that changed anything. Runs that were cancelled, and those that failed before they had files to evaluate, stay as they are;
// so do those that are leased, since an evaluation against a truth that is no longer the newest is never written.
func (q Queue) Reevaluate(ctx context.Context, runID string, truth *record.Truth) (changed bool, err error) {
	return q.update(ctx, runID, func(t *transition) (bool, error) { return t.reevaluate(truth), nil })
}

func (t *transition) reevaluate(truth *record.Truth) bool {
	run := t.run
	if run.Waits() {
		return t.reassign(truth)
	}
	if len(run.Files) == 0 || !record.AllStored(run.Files) {
		return false // one that awaits its files is queued for the truth that there is then
	}
	evaluated := run.State == record.Completed || run.State == record.Failed
	if !evaluated || run.TruthVersion >= truth.Number || t.changeState(record.Queued) != nil {
		return false
	}
	run.Queue = record.QueueBuiltin // the truth has changed, and with it what the evaluation takes
	assign(run, truth)
	run.TruthVersion = truth.Number
	run.Attempts = 0
	run.Restarts = 0
	run.QueuedAt = new(record.At(t.now))
	run.StartedAt = nil
	run.FinishedAt = nil
	run.Diagnostics = []measure.Diagnostic{}
	return true
}

// reassign moves a run that waits to the queue and pool that the dataset has now, and ends its wait for the truth. It reports
// whether that changed anything.
func (t *transition) reassign(truth *record.Truth) bool {
	run := t.run
	queue, pool := run.Queue, run.Pool
	assign(run, truth)
	if i := slices.Index(run.Diagnostics, awaitsTruth); i >= 0 {
		run.NotBefore = nil
		run.Diagnostics = slices.Delete(slices.Clone(run.Diagnostics), i, i+1)
		record.Touch(run, t.now)
		return true
	}
	return run.Queue != queue || run.Pool != pool
}

// assign sets the queue and the pool in which the run waits: an execution waits for a worker, whatever evaluates it later. Without a
// truth both stay as they are. A run that came to the slow lane stays there until it was evaluated.
func assign(run *record.RunItem, truth *record.Truth) {
	if truth == nil {
		return
	}
	slow := run.Queue == record.QueueSlow
	run.Pool, run.Queue = truth.Pool, EvaluationQueue(truth)
	switch {
	case run.Work() != record.Evaluate:
		run.Queue = record.QueueWorkers
	case slow && run.Queue == record.QueueBuiltin:
		run.Queue = record.QueueSlow
	}
}

// NeedsReevaluation reports whether Reevaluate may have to change a run that was read from an index, which is eventually
// consistent.
func NeedsReevaluation(run *record.RunItem, truth *record.Truth) bool {
	return run.TruthVersion < truth.Number || run.Waits() && run.Pool != truth.Pool
}

// EvaluationQueue returns the queue in which runs with all their files wait to be evaluated against the truth.
func EvaluationQueue(truth *record.Truth) string {
	if truth.Evaluator.Kind == record.EvaluatorWorker {
		return record.QueueWorkers
	}
	return record.QueueBuiltin
}
