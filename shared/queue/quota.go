package queue

import (
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// refund adds to the transaction that the run no longer counts in its user's quota. One that was evaluated, be it against an earlier
// truth, counts for good: its measures stay.
//
// Bytes that were announced for the run and never uploaded are refunded to the user too.
func (t *transition) refund() error {
	run := t.run
	if missing := min(run.Bytes, record.PendingUploads(run.Files).Bytes); missing > 0 {
		run.Bytes -= missing
		if err := quota.Credit(t.ctx, t.store, t.now, t.tx, run.UserID, record.Charge{Bytes: -missing}); err != nil {
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
	a.Refund(run.ID)
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
		a.Refund(run.ID)
	}
	t.tx.Save(a, t.now)
	return nil
}

// noteTruthFailures notes on a blinded run that completes until when none of its user's fails for what only the truth can reveal. It is
// the same whether the run would have failed, also when another one fails at the same time, as the transaction checks.
func (t *transition) noteTruthFailures() error {
	run := t.run
	run.NextTruthFailure = nil
	if !run.Access.Blinded {
		return nil
	}
	a, err := t.allowance()
	if err != nil || a.Stored() == 0 {
		return err
	}
	run.NextTruthFailure = a.NextTruthFailure(t.now)
	if run.Counted || run.Unregistered() { // or else recharge writes it
		t.tx.Check(a)
	}
	return nil
}

// recharge adds to the transaction that the run counts in its user's quota.
func (t *transition) recharge() error {
	run := t.run
	if run.Counted || run.Unregistered() {
		return nil
	}
	a, err := t.allowance()
	if err != nil {
		return err
	}
	run.Counted = true
	a.Recharge(run.ID, t.now)
	t.tx.Save(a, t.now)
	return nil
}

// allowance returns the allowance of the run's user, a new one when there is none.
func (t *transition) allowance() (*record.Allowance, error) {
	a, err := records.Get[record.Allowance](t.ctx, t.store, store.Strong, record.AllowanceKey(t.run.TaskID, t.run.UserID))
	if a == nil && err == nil {
		a = &record.Allowance{Meta: record.MetaOf(t.run.UserID, t.now), TaskID: t.run.TaskID}
	}
	return a, err
}
