package follow

import (
	"context"
	"strings"
	"time"

	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// DeleteDataset removes a dataset that no run uses. One that is used stays, and the error is a Conflict.
//
// The dataset is marked first, so that nothing new is submitted to it. When then every grant of the task has been written
// anew, submissions that were admitted before the mark are made or never will be, and the allowances tell whether there are
// any. A request that dies on the way leaves the mark, which the evaluator takes up.
func DeleteDataset(ctx context.Context, s store.Store, now time.Time, d *record.DatasetItem, by string) error {
	if !d.Deleting() {
		if err := unusedDataset(ctx, s, d); err != nil {
			return err
		}
		marked := *d
		marked.DeletedBy, marked.PendingWork = by, record.NewPendingWork(record.DeleteDataset, now.Add(Patience))
		if err := new(records.Tx).Replace(&marked).Commit(ctx, s); err != nil {
			return err
		}
	}
	return records.Retry(ctx, func() error { return deleteMarked(ctx, s, now, d.Key()) })
}

// ResumeDataset continues the deletion of a dataset that is pending. That it is refused is no error: nobody waits for the answer.
func ResumeDataset(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	err := records.Retry(ctx, func() error { return deleteMarked(ctx, s, now, key) })
	if problem.Conflict.Is(err) {
		return nil
	}
	return err
}

// deleteMarked removes a marked dataset, or takes the mark off again when runs use it after all. What it finds out holds
// for the mark that it began with: when somebody else took that off meanwhile, and perhaps another one was made, it
// conflicts.
func deleteMarked(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	d, err := records.Get[record.DatasetItem](ctx, s, store.Strong, key)
	switch {
	case err != nil || d == nil:
		return err // another one who is at it was faster
	case !d.Deleting():
		return errDatasetUsed // as another one who is at it found out
	}
	if err := renewGrants(ctx, s, d.TaskID); err != nil {
		return err
	}
	if err := unusedDataset(ctx, s, d); err != nil {
		if problem.Conflict.Is(err) {
			return undoDataset(ctx, s, now, d, err)
		}
		return err
	}
	tx, err := deletion(ctx, s, now, d)
	if err != nil {
		return err
	}
	tx.Create(record.NewAudit(now, d.Scope(), d.DeletedBy, record.DatasetDeleted, "/v1/datasets/"+d.ID, d.Audited(), nil))
	return tx.Commit(ctx, s)
}

// deletion removes the dataset with its truth. Its files no longer count in the quota of their payer.
func deletion(ctx context.Context, s store.Store, now time.Time, d *record.DatasetItem) (*records.Tx, error) {
	tx := new(records.Tx).Delete(d).DeleteKey(record.TruthKey(d.ID)).DeleteKey(record.TruthSecretKey(d.ID))
	return tx, quota.Credit(ctx, s, now, tx, d.Payer, record.Charge{Bytes: -record.SizeOf(d.Files())})
}

// undoDataset takes the mark off a dataset and returns why.
func undoDataset(ctx context.Context, s store.Store, now time.Time, d *record.DatasetItem, why error) error {
	truth, err := records.Get[record.Truth](ctx, s, store.Strong, record.TruthKey(d.ID))
	if err != nil {
		return err
	}
	unmarked := *d
	unmarked.DeletedBy = ""
	unmarked.Resume(truth, now)
	if err := new(records.Tx).Replace(&unmarked).Commit(ctx, s); err != nil {
		return err
	}
	return why
}

// renewGrants writes every grant of the task anew: whoever decided by one as it was decides again.
func renewGrants(ctx context.Context, s store.Store, taskID string) error {
	return inTask(ctx, s, taskID, func(it store.Item) error {
		if !strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
			return nil
		}
		r, err := records.Decode[record.RegistrationItem](it)
		if err != nil {
			return err
		}
		return update(ctx, s, record.RegisteredKey(r.UserID, taskID), func(*record.Registered) bool { return true })
	})
}

var errDatasetUsed = problem.Conflict.New("Runs use the dataset. Delete their submissions first.")

// unusedDataset returns the Conflict that runs use the dataset, if they do.
func unusedDataset(ctx context.Context, s store.Store, d *record.DatasetItem) error {
	counts := func(a *record.Allowance) bool { return a.Runs[d.ID] > 0 }
	return unused(ctx, s, d.TaskID, counts, records.DatasetSources(d.ID, record.KindRun), errDatasetUsed)
}
