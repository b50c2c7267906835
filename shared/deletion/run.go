package deletion

import (
	"context"
	"slices"

	"assay/shared/queue"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/team"
)

// Run adds to tx that the run is deleted with its review and its evaluations, and that its submission and the allowance and the
// quota of its user no longer have it. It is not refunded, or deleting would be a way around the quota of the task. Its files are
// left to the caller.
func (d Deleter) Run(ctx context.Context, tx *records.Tx, r *record.RunItem) error {
	tx.Delete(r).DeleteKeys(record.ReviewKey(r.ID))
	for _, id := range r.Evaluations {
		queue.DeleteEvaluation(tx, id)
	}
	s, err := records.Get[record.SubmissionItem](ctx, d.Store, store.Strong, record.SubmissionKey(r.SubmissionID))
	if err != nil {
		return err
	}
	allowance, err := team.AllowanceOf(ctx, d.Store, store.Strong, r)
	if err != nil {
		return err
	}
	if s != nil {
		s.RunIDs = slices.DeleteFunc(s.RunIDs, func(id string) bool { return id == r.ID })
		tx.Save(s, d.Now())
	}
	if allowance != nil {
		allowance.Drop(r.DatasetID, r.ID)
		tx.Save(allowance, d.Now())
	}
	account := quota.Account{Store: d.Store, Tx: tx, Now: d.Now(), UserID: r.UserID}
	return account.Credit(ctx, record.Charge{Bytes: -r.Bytes})
}
