package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/service/runlog"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Outcome is the result of the evaluation of a run.
type Outcome struct {
	// Evaluation holds the measures and the settings that repeat the evaluation. CompleteEvaluation fills in the members that it copies
	// from the run.
	Evaluation *record.EvaluationItem
	Topics     *record.Topics       // nil without values per topic
	Truth      *record.TruthVersion // the ground truth of the evaluation; if it has changed, the outcome is discarded
	Warnings   []measure.Diagnostic
}

// CompleteEvaluation writes the outcome and ends the run, in one transaction. It returns the run, or ErrTruthChanged.
//
// In lists, the evaluation replaces the run's earlier one, unless the ground truth is held. Then UpdateListing replaces it later. If
// the dataset publishes on completion, the review is published too. If the run has record.MaxEvaluations already, the oldest is
// deleted.
func (q Queue) CompleteEvaluation(ctx context.Context, l LeaseRef, o Outcome) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		run, tx := t.run, t.tx
		if err := t.changeState(record.Completed); err != nil {
			return err
		}
		tx.Check(o.Truth).Or(ErrTruthChanged)
		t.tell(record.EventRunCompleted)
		if err := t.publish(); err != nil {
			return err
		}
		e := *o.Evaluation
		e.Unlisted = o.Truth.Held
		if err := t.supersede(o.Truth.Held); err != nil {
			return err
		}
		e.RunID = run.ID
		e.SubmissionID = run.SubmissionID
		e.TaskID = run.TaskID
		e.DatasetID = run.DatasetID
		e.UserID = run.UserID
		e.Team = run.Team
		e.Access = run.Access
		e.Baseline = run.Access.Baseline
		e.TruthVersion = o.Truth.Number
		e.Label = run.Label
		e.Final = run.Final
		e.SubmittedAt = run.CreatedAt
		if run.Anonymized() {
			e.RunTag = ""
		}
		tx.Create(&e)
		if o.Topics != nil {
			tx.Create(o.Topics)
		}
		if err := t.recordTruthFailures(); err != nil {
			return err
		}
		run.Evaluations = append(run.Evaluations, e.ID)
		run.EvaluationID = e.ID
		run.TruthVersion = o.Truth.Number
		run.FailureTold = false
		run.RunTag = e.RunTag
		run.Diagnostics = []measure.Diagnostic{}
		run.AddDiagnostics(o.Warnings...)
		return t.recharge()
	})
}

// publish publishes the review of a run that completes for the first time, if the dataset publishes on completion and no organizer has
// written the review. A blinded run stays blinded. The review of a team that organizers rejected meanwhile stays unpublished: organizers
// publish runs of rejected teams by naming them. The transaction conflicts if the dataset, the review or the registration changes.
func (t *transition) publish() error {
	run := t.run
	if len(run.Evaluations) > 0 || run.Access.Published {
		return nil
	}
	dataset, err := records.Get[record.DatasetItem](t.ctx, t.store, store.Strong, record.DatasetKey(run.DatasetID))
	if err != nil || dataset == nil || dataset.Publish != record.PublishOnCompletion {
		return err
	}
	review, err := records.Get[record.ReviewItem](t.ctx, t.store, store.Strong, record.ReviewKey(run.ID))
	if err != nil || review == nil || review.ReviewerID != "" {
		return err
	}
	if rejected, err := t.isRejected(); err != nil || rejected {
		return err
	}
	t.tx.Check(dataset)
	review.Published, run.Access.Published = true, true
	t.tx.Save(review, t.now)
	t.tell(record.EventReviewPublished)
	return nil
}

// isRejected reports whether organizers rejected the team of the run. The transaction conflicts if the registration changes.
func (t *transition) isRejected() (bool, error) {
	id := t.run.Access.RegistrationID
	if id == "" { // a baseline
		return false, nil
	}
	r, err := records.Get[record.RegistrationItem](t.ctx, t.store, store.Strong, record.RegistrationKey(t.run.TaskID, id))
	if r == nil || err != nil {
		return false, err
	}
	t.tx.Check(r)
	return r.State == record.Rejected, nil
}

// supersede removes the run's evaluation from lists, unless the next one is held, and makes room for the next one.
func (t *transition) supersede(held bool) error {
	run, listed := t.run, t.run.ListedID()
	if len(run.Evaluations) == record.MaxEvaluations {
		oldest := slices.IndexFunc(run.Evaluations, func(id string) bool { return id != listed })
		DeleteEvaluation(t.tx, run.Evaluations[oldest])
		run.Evaluations = slices.Delete(slices.Clone(run.Evaluations), oldest, oldest+1)
	}
	if held {
		run.Held, run.Listed = true, listed
		return nil
	}
	run.Held, run.Listed = false, ""
	return t.setListed(listed, false)
}

// setListed sets whether the evaluation with the ID is in lists. It does nothing if the evaluation does not exist.
func (t *transition) setListed(id string, listed bool) error {
	if id == "" {
		return nil
	}
	e, err := records.Get[record.EvaluationItem](t.ctx, t.store, store.Strong, record.EvaluationKey(id))
	if err == nil && e != nil {
		e.Unlisted = !listed // not visible, so the version stays
		t.tx.Replace(e)
	}
	return err
}

// listedFor returns the ID of the run's evaluation in lists while leaderboards show the version of the ground truth. It is the newest
// one, or "" if the run failed against the version.
func listedFor(run *record.RunItem, version int64) string {
	if run.State == record.Failed && run.TruthVersion == version {
		return ""
	}
	return run.EvaluationID
}

// ListingOutdated reports whether UpdateListing has something to change for the run.
func ListingOutdated(run *record.RunItem, truth *record.TruthVersion) bool {
	return !truth.Held && run.ListedID() != listedFor(run, truth.Number)
}

// UpdateListing makes lists show the run's evaluation for the ground truth that leaderboards show now. It reports whether the run
// changed.
func (q Queue) UpdateListing(ctx context.Context, runID string, truth *record.TruthVersion) (changed bool, err error) {
	return q.update(ctx, runID, func(t *transition) (bool, error) {
		if !ListingOutdated(t.run, truth) {
			return false, nil
		}
		return true, t.updateListing(truth)
	})
}

func (t *transition) updateListing(truth *record.TruthVersion) error {
	before, after := t.run.ListedID(), listedFor(t.run, truth.Number)
	t.run.Held, t.run.Listed = after != t.run.EvaluationID, ""
	return errors.Join(t.setListed(before, false), t.setListed(after, true))
}

// DeleteEvaluation adds the deletion of the evaluation to tx. An object with its values per topic is deleted later, with the other
// files that no record names.
func DeleteEvaluation(tx *records.Tx, evaluationID string) {
	tx.DeleteKeys(record.EvaluationKey(evaluationID), record.TopicsKey(evaluationID))
}

// Heartbeat makes the lease end after the duration from now, and appends lines to the log. first is the position of the first line
// among all lines sent under the lease. Lines that the log already has are ignored. If earlier lines are missing, Heartbeat returns
// ErrLinesMissing. Lines get the instant at which they were received.
func (q Queue) Heartbeat(ctx context.Context, l LeaseRef, d time.Duration, first int64, lines []record.LogLine) (*record.RunItem, error) {
	if len(lines) == 0 {
		if run, err := q.extendLease(ctx, l, d, first); err != nil || run != nil {
			return run, err
		}
	}
	return q.underLease(ctx, l, func(t *transition) error {
		run, l := t.run, t.run.Lease
		if first > l.Lines {
			return ErrLinesMissing
		}
		fresh := lines[min(l.Lines-first, int64(len(lines))):]
		l.Lines += int64(len(fresh))
		l.Until = record.At(t.now.Add(d))
		kind := record.ExecutionLog
		if run.State == record.Evaluating {
			kind = record.EvaluationLog
		}
		if !l.Confirmed {
			l.Confirmed = true
			t.tx.Create(&record.LeaseExtension{Meta: record.MetaOf(run.ID, t.now), LeaseID: l.ID, Until: l.Until})
			fresh = slices.Concat([]record.LogLine{{Stream: record.StreamWorker, Text: fmt.Sprintf(
				"Attempt %d of %d begins on the worker %s.", run.Attempts, record.MaxAttempts, l.Holder)}}, fresh)
		}
		runlog.Append(t.tx, run, kind, fresh, t.now)
		return nil
	})
}

// extendLease makes the lease end after the duration from now, without writing the run, and returns the run. It returns nil if the
// heartbeat has to write the run, for example if the log does not have all lines before first.
func (q Queue) extendLease(ctx context.Context, l LeaseRef, d time.Duration, first int64) (run *record.RunItem, err error) {
	var extension *record.LeaseExtension
	err = records.Read(ctx, q.Store, store.Strong, records.Into(&run, record.RunKey(l.RunID)),
		records.Into(&extension, record.LeaseExtensionKey(l.RunID, l.LeaseID)))
	if err != nil || run == nil || !l.Matches(run.Lease) || run.Lease.Lines < first || extension == nil {
		return nil, err
	}
	extension.Until = record.At(q.Now().Add(d))
	if err = new(records.Tx).Replace(extension).Commit(ctx, q.Store); records.IsConflict(err) {
		return nil, nil
	}
	return run, err
}

// CompleteExecution takes the output files of an execution. Files that the object store does not have yet are returned as missing and
// kept with the lease, so that uploads of them are expected. Once all files have arrived, they become the run's. The run then waits to
// be evaluated against the current ground truth, with no attempts used.
//
// The transaction that gives the run its files also charges their bytes to the run's owner. If they exceed the owner's remaining quota,
// the run fails.
func (q Queue) CompleteExecution(ctx context.Context, files blob.Store, l LeaseRef, outputs []record.File,
	limits record.UsageLimits) (run *record.RunItem, missing []record.File, err error) {
	run, err = q.underLease(ctx, l, func(t *transition) error {
		run := t.run
		if run.State != record.Running {
			return problem.Conflict.New("The run is %s: only one that is being executed takes an output.", run.State)
		}
		if missing, err = missingFiles(ctx, files, run.ID, outputs); err != nil {
			return err
		}
		counted := t.tx
		if len(missing) > 0 {
			counted = new(records.Tx) // checks the quota without charging
		}
		size := record.SizeOf(outputs)
		err := quota.Account{Store: q.Store, Tx: counted, Now: t.now, UserID: run.UserID}.Charge(ctx, limits, record.Charge{Bytes: size})
		if problem.QuotaExhausted.Is(err) {
			missing = nil
			return t.fail(measure.Diagnostic{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
				"The output has %d bytes, which is more than is left of what its owner may store. Delete submissions or runs that are no longer "+
					"needed, and submit again.", size)})
		}
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			run.Lease.Outputs = outputs
			return nil
		}
		run.Files = outputs
		run.Bytes = size
		run.Queue = record.QueueBuiltin
		if err := t.assign(); err != nil {
			return err
		}
		run.Attempts = 0
		run.Restarts = 0
		run.QueuedAt = new(record.At(t.now))
		run.Diagnostics = []measure.Diagnostic{}
		return t.changeState(record.Evaluating)
	})
	return run, missing, err
}

// missingFiles sets the state of each of the run's files by asking the object store, and returns the files that it does not have.
func missingFiles(ctx context.Context, files blob.Store, runID string, outputs []record.File) ([]record.File, error) {
	err := records.Concurrently(len(outputs), func(i int) error {
		o, err := files.Stat(ctx, record.ObjectKey(record.HolderRuns, runID, outputs[i].SHA256))
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return problem.Unavailable.Wrap(err, "The file store does not answer at the moment. Try again in a few seconds.").After(2 * time.Second)
		}
		outputs[i].State = record.FilePending
		if err == nil && o.Size == outputs[i].Size {
			outputs[i].State = record.FileStored
		}
		return nil
	})
	return slices.DeleteFunc(slices.Clone(outputs), func(f record.File) bool { return f.State == record.FileStored }), err
}
