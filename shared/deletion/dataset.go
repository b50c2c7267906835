package deletion

import (
	"context"

	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Dataset deletes a dataset that no run uses. If one does, the dataset stays and the error is a Conflict.
func (d Deleter) Dataset(ctx context.Context, set *record.DatasetItem, by string) error {
	if !set.Deleting() {
		if err := d.checkDatasetUnused(ctx, set); err != nil {
			return err
		}
		marked := *set
		marked.DeletedBy, marked.PendingWork = by, d.pendingDeletion(record.DeleteDataset)
		if err := new(records.Tx).Replace(&marked).Commit(ctx, d.Store); err != nil {
			return err
		}
	}
	return records.Retry(ctx, func() error { return d.deleteMarked(ctx, set.Key()) })
}

// ResumeDataset continues the deletion of a dataset that is pending. It is no error that the deletion is refused.
func (d Deleter) ResumeDataset(ctx context.Context, key store.Key) error {
	return ignoreRefusal(records.Retry(ctx, func() error { return d.deleteMarked(ctx, key) }))
}

// deleteMarked deletes a marked dataset, or removes the mark when runs use it after all. What it finds holds for the mark
// that it read: when another process has removed that since, and the dataset was perhaps marked again, it conflicts.
func (d Deleter) deleteMarked(ctx context.Context, key store.Key) error {
	set, err := records.Get[record.DatasetItem](ctx, d.Store, store.Strong, key)
	switch {
	case err != nil || set == nil:
		return err // another process was faster
	case !set.Deleting():
		return errDatasetUsed // as another process found
	}
	if err := d.renewGrants(ctx, set.TaskID); err != nil {
		return err
	}
	if err := d.checkDatasetUnused(ctx, set); err != nil {
		if problem.Conflict.Is(err) {
			return d.refuseDataset(ctx, set, err)
		}
		return err
	}
	tx, err := d.datasetDeletion(ctx, set)
	if err != nil {
		return err
	}
	tx.Create(record.NewAudit(d.Now(), set.Scope(), set.DeletedBy, record.DatasetDeleted, "/v1/datasets/"+set.ID, set.Audited(), nil))
	return tx.Commit(ctx, d.Store)
}

// datasetDeletion deletes the dataset with its ground truth. Its files no longer count in the quota of their payer.
func (d Deleter) datasetDeletion(ctx context.Context, set *record.DatasetItem) (*records.Tx, error) {
	tx := new(records.Tx).Delete(set).DeleteKey(record.TruthKey(set.ID)).DeleteKey(record.TruthSecretKey(set.ID))
	return tx, quota.Credit(ctx, d.Store, d.Now(), tx, set.Payer, record.Charge{Bytes: -record.SizeOf(set.Files())})
}

// refuseDataset removes the mark of a dataset and returns why. The work that the deletion replaced is pending again.
func (d Deleter) refuseDataset(ctx context.Context, set *record.DatasetItem, why error) error {
	truth, err := records.Get[record.Truth](ctx, d.Store, store.Strong, record.TruthKey(set.ID))
	if err != nil {
		return err
	}
	unmarked := *set
	unmarked.DeletedBy = ""
	unmarked.Resume(truth, d.Now())
	if err := new(records.Tx).Replace(&unmarked).Commit(ctx, d.Store); err != nil {
		return err
	}
	return why
}

var errDatasetUsed = problem.Conflict.New("Runs use the dataset. Delete their submissions first.")

func (d Deleter) checkDatasetUnused(ctx context.Context, set *record.DatasetItem) error {
	counts := func(a *record.Allowance) bool { return a.Runs[set.ID] > 0 }
	return d.checkUnused(ctx, set.TaskID, counts, records.DatasetSources(set.ID, record.KindRun), errDatasetUsed)
}
