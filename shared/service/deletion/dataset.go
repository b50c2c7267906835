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

// DeleteDataset adds to tx that a user moves the dataset to the trash with its ground truth. If runs use the dataset, it stays, and the
// error is a Conflict.
//
// Other requests may submit to the dataset meanwhile. DeleteDataset decides in three steps, so that each submission is either seen or
// prevented:
//
//  1. It marks the dataset, in a transaction of its own. Requests that begin later do not submit to a marked dataset.
//  2. It writes every grant of the task again. A submission requires an unchanged grant, so a request that began earlier has either
//     committed its submission by now, or will fail.
//  3. It looks for runs in the allowances, which the transaction of each submission counts up, and in the lists. If there are runs, it
//     removes the mark.
//
// If the process dies after the first step, ContinueDataset takes the other two.
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
func (d Deleter) deleteMarked(ctx context.Context, tx *records.Tx, marked *record.DatasetItem) (*record.DeletionItem, error) {
	if err := d.renewGrants(ctx, marked.TaskID); err != nil {
		return nil, err
	}
	unmarked, err := d.withoutMark(ctx, marked)
	if err != nil {
		return nil, err
	}
	used := d.checkDatasetUnused(ctx, marked)
	switch {
	case problem.Conflict.Is(used):
		return nil, cmp.Or(new(records.Tx).Replace(unmarked).Commit(ctx, d.Store), used)
	case used != nil:
		return nil, used
	}
	return d.trashDataset(ctx, tx, unmarked, marked.DeletedBy)
}

// trashDataset adds to tx that a user moves the dataset to the trash with its contents. The trash gets the dataset as given.
func (d Deleter) trashDataset(ctx context.Context, tx *records.Tx, set *record.DatasetItem, by string) (*record.DeletionItem, error) {
	contents, err := records.Contents(ctx, d.Store, set.Key())
	if err != nil {
		return nil, err
	}
	path := "/v1/datasets/" + set.ID
	entry := record.NewDeletion(d.Now(), record.DatasetInTrash, set.ID, path, set.Name, set.Scope(), by, false)
	tx.Create(entry).Create(record.NewAudit(d.Now(), set.Scope(), by, record.DatasetDeleted, path, set.Audited(), nil))
	b := &batch{Tx: tx, entry: entry}
	err = b.each(contents, func(b *batch, it store.Item) error {
		if it.Key == set.Key() {
			return b.record(set, (*batch).out)
		}
		return b.out(it)
	})
	return entry, err
}

// withoutMark returns the dataset without the mark of its deletion. Work that the mark replaced is pending again.
func (d Deleter) withoutMark(ctx context.Context, marked *record.DatasetItem) (*record.DatasetItem, error) {
	truth, err := records.Get[record.TruthVersion](ctx, d.Store, store.Strong, record.TruthKey(marked.ID))
	if err != nil {
		return nil, err
	}
	unmarked := *marked
	unmarked.DeletedBy = ""
	unmarked.Resume(truth, d.Now())
	return &unmarked, nil
}

// renewGrants writes every grant of the task again, so that transactions that require an earlier version of a grant fail.
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
