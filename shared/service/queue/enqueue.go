package queue

import (
	"context"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
)

// Enqueue queues a run whose last file has arrived, for the current ground truth. The caller writes the run. Without a ground truth the
// run waits in its present queue, and the absence is noticed when the run is leased.
func Enqueue(run *record.RunItem, truth *record.TruthVersion, now time.Time) error {
	if err := changeState(run, record.Queued, now); err != nil {
		return err
	}
	assign(run, truth)
	run.QueuedAt = new(record.At(now))
	return nil
}

// Restore prepares a run from the trash to continue with the current ground truth. Its old lease is cancelled and does not count as an
// attempt. A waiting run counts as queued now. The caller writes the run.
func Restore(run *record.RunItem, truth *record.TruthVersion, now time.Time) error {
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

// Cancel returns the cancelled run, and adds the cancellation to tx. A worker learns of the cancellation when it extends its lease. If
// the run's state does not allow cancelling, Cancel returns a problem.
func (q Queue) Cancel(ctx context.Context, run *record.RunItem, tx *records.Tx) (*record.RunItem, error) {
	if !run.State.CanFollow(record.Cancelled) {
		return nil, problem.Conflict.New("The run is %s: only a run that has not ended can be cancelled.", run.State)
	}
	if len(run.Evaluations) > 0 {
		return nil, problem.Conflict.New("The run was completed before and is evaluated again, so it cannot be cancelled. Delete it to " +
			"withdraw it.")
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

// FailStale fails a run that has waited too long in the state, for the given reasons. The run stays unchanged if it is in another
// state, leased or deleted.
func (q Queue) FailStale(ctx context.Context, runID string, waited record.RunState, reasons ...measure.Diagnostic) error {
	_, err := q.update(ctx, runID, func(t *transition) (bool, error) {
		if t.run.State != waited || t.run.Lease != nil {
			return false, nil
		}
		return true, t.fail(reasons...)
	})
	return err
}

// Reevaluate queues a run again if the ground truth is newer than the one of its last evaluation, and reports whether the run changed.
// It leaves unchanged runs that were cancelled, runs that failed before they had files, and leased runs. An evaluation of a leased run
// against an older ground truth is never written.
func (q Queue) Reevaluate(ctx context.Context, runID string, truth *record.TruthVersion) (changed bool, err error) {
	return q.update(ctx, runID, func(t *transition) (bool, error) { return t.reevaluate(truth), nil })
}

func (t *transition) reevaluate(truth *record.TruthVersion) bool {
	run := t.run
	if run.Waits() {
		return t.reassign(truth)
	}
	if !run.HasFiles() {
		return false // a run that awaits its files is queued later, for the ground truth of that time
	}
	evaluated := run.State == record.Completed || run.State == record.Failed
	if !evaluated || run.TruthVersion >= truth.Number || t.changeState(record.Queued) != nil {
		return false
	}
	run.Queue = record.QueueBuiltin // the cost of the evaluation may have changed with the ground truth
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

// reassign moves a waiting run to the dataset's present queue and pool, and ends its wait for a ground truth. It reports whether the
// run changed.
func (t *transition) reassign(truth *record.TruthVersion) bool {
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

// assign sets the queue and the pool in which the run waits. Executions always wait for workers. Without a ground truth, both stay
// unchanged. A run in the slow lane stays there until it is evaluated.
func assign(run *record.RunItem, truth *record.TruthVersion) {
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

// NeedsReevaluation reports whether Reevaluate may have to change a run that was read from an index, which can lag behind.
func NeedsReevaluation(run *record.RunItem, truth *record.TruthVersion) bool {
	return run.TruthVersion < truth.Number || run.Waits() && run.Pool != truth.Pool
}

// EvaluationQueue returns the queue in which runs with all their files wait to be evaluated against the ground truth.
func EvaluationQueue(truth *record.TruthVersion) string {
	if truth.Evaluator.Kind == record.EvaluatorWorker {
		return record.QueueWorkers
	}
	return record.QueueBuiltin
}
