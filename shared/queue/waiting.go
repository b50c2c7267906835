package queue

import (
	"context"
	"slices"
	"time"

	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Enqueue makes the transition of a run whose last file has arrived, into the queue for the truth as it is now; whoever had
// it arrive writes it. Without a truth the run waits where it was to wait, and is told when it comes to that.
func Enqueue(run *record.RunItem, truth *record.Truth, now time.Time) error {
	if err := move(run, record.Queued, now); err != nil {
		return err
	}
	if truth != nil {
		assign(run, truth)
	}
	run.QueuedAt = new(record.At(now))
	return nil
}

// Cancel returns the run as it is once cancelled, and adds to tx what makes it so: the one who works on it learns that by
// its lease. A run whose state does not allow it is a problem.
func Cancel(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, tx *records.Tx) (*record.RunItem, error) {
	if !run.State.CanFollow(record.Cancelled) {
		return nil, problem.Conflict.New("The run is %s: only a run that has not ended can be cancelled.", run.State)
	}
	if len(run.Evaluations) > 0 {
		return nil, problem.Conflict.New("The run was evaluated, and is only evaluated again because the truth has changed. Delete its submission to withdraw it.")
	}
	changed := *run
	if err := move(&changed, record.Cancelled, now); err != nil {
		return nil, err
	}
	if run.Lease != nil {
		changed.Ended = &record.EndedLease{ID: run.Lease.ID, UserID: run.Lease.UserID, State: record.Cancelled}
	}
	if err := refund(ctx, s, now, &changed, tx); err != nil {
		return nil, err
	}
	tx.Replace(&changed)
	return &changed, nil
}

// FailStale fails a run that has waited too long in the state, for the reasons given. A run that is in another state or in
// somebody's hands by now, or is no more, stays as it is.
func FailStale(ctx context.Context, s store.Store, now time.Time, runID string, waited record.RunState, reasons ...measure.Diagnostic) error {
	_, err := records.Update(ctx, s, record.RunKey(runID), func(run *record.RunItem, tx *records.Tx) (bool, error) {
		if run.State != waited || run.Lease != nil {
			return false, nil
		}
		return true, fail(ctx, s, now, run, reasons, tx)
	})
	return err
}

// Reevaluate has a run evaluated against the truth when that is newer than what the run was evaluated against, and reports
// whether that changed anything. Runs that were cancelled, and those that failed before they had files to evaluate, stay
// as they are; so do those under way, for an evaluation against a truth that is no longer the newest is never written.
func Reevaluate(ctx context.Context, s store.Store, now time.Time, runID string, truth *record.Truth) (changed bool, err error) {
	return records.Update(ctx, s, record.RunKey(runID), func(run *record.RunItem, _ *records.Tx) (bool, error) {
		return requeue(run, truth, now), nil
	})
}

func requeue(run *record.RunItem, truth *record.Truth, now time.Time) bool {
	if run.Waits() {
		return reassign(run, truth, now)
	}
	if len(run.Files) == 0 || !record.AllStored(run.Files) {
		return false // one that awaits its files is queued for the truth that there is then
	}
	evaluated := run.State == record.Completed || run.State == record.Failed
	if !evaluated || run.TruthVersion >= truth.Number || move(run, record.Queued, now) != nil {
		return false
	}
	assign(run, truth)
	run.TruthVersion, run.Attempts, run.Restarts = truth.Number, 0, 0
	run.QueuedAt, run.StartedAt, run.FinishedAt = new(record.At(now)), nil, nil
	run.Diagnostics = []measure.Diagnostic{}
	return true
}

// reassign has a run that waits go on waiting where the dataset has it wait now, and no longer for the truth. It reports
// whether that changed anything.
func reassign(run *record.RunItem, truth *record.Truth, now time.Time) bool {
	queue, pool := run.Queue, run.Pool
	assign(run, truth)
	if i := slices.Index(run.Diagnostics, awaitsTruth); i >= 0 {
		run.NotBefore, run.Diagnostics = nil, slices.Delete(slices.Clone(run.Diagnostics), i, i+1)
		record.Touch(run, now)
		return true
	}
	return run.Queue != queue || run.Pool != pool
}

// assign says where the run waits: what has yet to be executed waits for a worker, whoever evaluates it later.
func assign(run *record.RunItem, truth *record.Truth) {
	run.Pool, run.Queue = truth.Pool, EvaluationQueue(truth)
	if run.Work() != record.Evaluate {
		run.Queue = record.QueueWorkers
	}
}

// NeedsReevaluation reports whether a run may have to be queued again for the truth, as far as an index, which can only lag behind,
// tells.
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
