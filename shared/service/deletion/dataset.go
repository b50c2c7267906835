package deletion

import (
	"cmp"
	"context"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

var errDatasetUsed = problem.Conflict.New("Runs use the dataset. Delete their submissions first.")

// DeleteDataset adds to tx that a user moves the dataset to the trash with its ground truth. A dataset that runs use stays: then the error
// is a Conflict.
//
// First it marks the dataset in a transaction of its own, so that no request that begins later submits to it. Then it writes every grant
// of the task again. A submission requires an unchanged grant, so each submission that was admitted before the mark is made by then, or
// never will be, and the allowances count it without the lag of lists. If there is one, DeleteDataset removes the mark. ContinueDataset
// does the same if the process dies between mark and tx.
func (d Deleter) DeleteDataset(ctx context.Context, tx *records.Tx, set *record.DatasetItem, by string) (*record.DeletionItem, error) {
	if set.Deleting() {
		return d.deleteMarked(ctx, tx, set)
	}
	if err := d.checkDatasetUnused(ctx, set); err != nil {
		return nil, err
	}
	marked := *set
	marked.DeletedBy = by
	marked.PendingWork = record.NewPendingWork(record.DeleteDataset, d.Now().Add(record.RequestTime))
	if err := new(records.Tx).Replace(&marked).Commit(ctx, d.Store); err != nil {
		return nil, err
	}
	return d.deleteMarked(ctx, tx, &marked)
}

// ContinueDataset ends a deletion of the dataset that is pending, or removes the mark if runs use the dataset.
func (d Deleter) ContinueDataset(ctx context.Context, key store.Key) error {
	err := records.Change(ctx, d.Store, key, func(set *record.DatasetItem, tx *records.Tx) error {
		if !set.Deleting() {
			return nil
		}
		_, err := d.deleteMarked(ctx, tx, set)
		return err
	})
	if problem.Conflict.Is(err) { // nobody waits for the answer
		return nil
	}
	return err
}

// deleteMarked adds to tx that the marked dataset moves to the trash, or removes the mark if runs use the dataset after all. Both require
// that the dataset still has the mark that was read: another process may have removed it, and even set it again, since.
func (d Deleter) deleteMarked(ctx context.Context, tx *records.Tx, set *record.DatasetItem) (*record.DeletionItem, error) {
	if err := d.renewGrants(ctx, set.TaskID); err != nil {
		return nil, err
	}
	unmarked, err := d.unmarked(ctx, set)
	if err != nil {
		return nil, err
	}
	err = d.checkDatasetUnused(ctx, set)
	if problem.Conflict.Is(err) {
		return nil, cmp.Or(new(records.Tx).Replace(unmarked).Commit(ctx, d.Store), err)
	}
	if err != nil {
		return nil, err
	}
	items, err := records.Contents(ctx, d.Store, set.Key())
	if err != nil {
		return nil, err
	}
	path := "/v1/datasets/" + set.ID
	entry := record.NewDeletion(d.Now(), record.DatasetInTrash, set.ID, path, set.Name, set.Scope(), set.DeletedBy, false)
	tx.Create(entry).Create(record.NewAudit(d.Now(), set.Scope(), set.DeletedBy, record.DatasetDeleted, path, set.Audited(), nil))
	return entry, (&batch{Tx: tx, entry: entry}).each(items, func(b *batch, it store.Item) error {
		if it.Key == set.Key() {
			return b.record(unmarked, (*batch).out)
		}
		return b.out(it)
	})
}

// unmarked is the dataset without the mark of its deletion. Work that the mark replaced is pending again.
func (d Deleter) unmarked(ctx context.Context, set *record.DatasetItem) (*record.DatasetItem, error) {
	truth, err := records.Get[record.TruthVersion](ctx, d.Store, store.Strong, record.TruthKey(set.ID))
	unmarked := *set
	unmarked.DeletedBy = ""
	unmarked.Resume(truth, d.Now())
	return &unmarked, err
}

// renewGrants writes every grant of the task again, so that transactions which require an earlier form of one fail.
func (d Deleter) renewGrants(ctx context.Context, taskID string) error {
	return d.eachInTask(ctx, taskID, func(it store.Item) error {
		if !strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
			return nil
		}
		r, err := records.Decode[record.RegistrationItem](it)
		if err != nil {
			return err
		}
		for _, key := range r.GrantKeys() {
			err := records.Change(ctx, d.Store, key, func(grant *record.Registered, tx *records.Tx) error {
				tx.Replace(grant)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (d Deleter) checkDatasetUnused(ctx context.Context, set *record.DatasetItem) error {
	counts := func(a *record.Allowance) bool { return a.Runs[set.ID] > 0 }
	return d.checkUnused(ctx, set.TaskID, counts, records.Of(record.KindDataset, set.ID, record.KindRun), errDatasetUsed)
}
