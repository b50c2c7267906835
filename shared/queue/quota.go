package queue

import (
	"context"
	"time"

	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// refund adds to tx that the run no longer counts in its user's quota. One that was evaluated, be it against an earlier
// truth, counts for good: its measures stay.
//
// What was announced for the run and never came is given back to the user too.
func refund(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, tx *records.Tx) error {
	if missing := min(run.Bytes, record.PendingUploads(run.Files).Bytes); missing > 0 {
		run.Bytes -= missing
		if err := quota.Credit(ctx, s, now, tx, run.UserID, record.Charge{Bytes: -missing}); err != nil {
			return err
		}
	}
	if !run.Counted || len(run.Evaluations) > 0 {
		return nil
	}
	a, err := allowance(ctx, s, now, run)
	if err != nil {
		return err
	}
	run.Counted = false
	if a.Stored() == 0 {
		return nil
	}
	a.Refund(run.ID)
	tx.Save(a, now)
	return nil
}

// refundTruthFailure is refund for a blinded run, whose files all came, that failed for what only the truth can know; it counts
// that too.
func refundTruthFailure(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, tx *records.Tx) error {
	a, err := allowance(ctx, s, now, run)
	if err != nil {
		return err
	}
	if !a.FailByTruth(now) {
		return ErrTruthFailures
	}
	if run.Counted && len(run.Evaluations) == 0 {
		run.Counted = false
		a.Refund(run.ID)
	}
	tx.Save(a, now)
	return nil
}

// noteTruthFailures notes on a blinded run that completes until when none of its user's fails for what only the truth can know. It is
// the same whether the run would have failed, also when another one fails at the same time, as the transaction checks.
func noteTruthFailures(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, tx *records.Tx) error {
	run.NextTruthFailure = nil
	if !run.Access.Blinded {
		return nil
	}
	a, err := allowance(ctx, s, now, run)
	if err != nil || a.Stored() == 0 {
		return err
	}
	run.NextTruthFailure = a.NextTruthFailure(now)
	if run.Counted || run.Unregistered() { // or else recharge writes it
		tx.Check(a)
	}
	return nil
}

// recharge adds to tx that the run counts in its user's quota.
func recharge(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, tx *records.Tx) error {
	if run.Counted || run.Unregistered() {
		return nil
	}
	a, err := allowance(ctx, s, now, run)
	if err != nil {
		return err
	}
	run.Counted = true
	a.Recharge(run.ID, now)
	tx.Save(a, now)
	return nil
}

// allowance returns the allowance of the run's user, a new one when there is none.
func allowance(ctx context.Context, s store.Store, now time.Time, run *record.RunItem) (*record.Allowance, error) {
	a, err := records.Get[record.Allowance](ctx, s, store.Strong, record.AllowanceKey(run.TaskID, run.UserID))
	if a == nil && err == nil {
		a = &record.Allowance{Meta: record.MetaOf(run.UserID, now), TaskID: run.TaskID}
	}
	return a, err
}
