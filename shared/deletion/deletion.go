// Package deletion deletes tasks and datasets, and users. What it deletes of the first goes to the trash; UserDeleter says how users go.
//
// The deletion of a dataset is pending work of its record. First the dataset is marked, so that nothing new is admitted to it. Then every
// grant of the task is written again: a submission is made under its grant as it is, so those that were admitted before the mark have
// been made by then or never will be, and the allowances count them without the lag of lists. If there are any, the deletion is refused,
// which removes the mark. A task is deleted in one transaction, and what was submitted to it meanwhile goes with it.
package deletion

import (
	"cmp"
	"context"
	"strings"
	"time"

	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/trash"
)

// page is how many records are read at once.
const page = 100

// Deleter deletes tasks and datasets in a store.
type Deleter struct {
	Store store.Store
	Now   func() time.Time
}

// renewGrants writes every grant of the task again, so that a transaction that depends on a grant as it was fails.
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

// checkUnused returns the error used if an allowance of the task counts what depends on the record to be deleted, or one of
// the lists has some of it.
func (d Deleter) checkUnused(ctx context.Context, taskID string, counts func(*record.Allowance) bool, lists []records.Source,
	used error) error {
	err := d.eachInTask(ctx, taskID, func(it store.Item) error {
		if !strings.HasPrefix(it.Sort, record.AllowancePrefix) {
			return nil
		}
		a, err := records.Decode[record.Allowance](it)
		if err == nil && counts(a) {
			return used
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, source := range lists {
		found, err := d.Store.Query(ctx, store.Query{Index: source.Index, Partition: source.Partition, Limit: 1})
		if err != nil {
			return records.Failed(err)
		}
		if len(found) > 0 {
			return used
		}
	}
	return nil
}

// eachInTask calls do with every item of a task's partition, by strong reads: what was written before is there.
func (d Deleter) eachInTask(ctx context.Context, taskID string, do func(store.Item) error) error {
	q := store.Query{Partition: record.TaskKey(taskID).Partition, Limit: page, Consistency: store.Strong}
	return records.EachItem(ctx, d.Store, q, do)
}

// Task adds to tx that a task is deleted, which goes to the trash with everything in it. One that has submissions stays, unless they
// are to go with it; then the error is a Conflict.
func (d Deleter) Task(ctx context.Context, tx *records.Tx, t *record.TaskItem, by string,
	withSubmissions bool) (*record.DeletionItem, error) {
	if !withSubmissions {
		if err := d.checkTaskUnused(ctx, t.ID); err != nil {
			return nil, err
		}
	}
	path := "/v1/tasks/" + t.ID
	entry := record.NewDeletion(d.Now(), record.TaskInTrash, t.ID, path, t.Name, t.Scope(), by, false)
	tx.Create(record.NewAudit(d.Now(), t.Scope(), by, record.TaskDeleted, path, t.Audited(), nil))
	return entry, d.trash().Task(ctx, tx, t, entry)
}

func (d Deleter) trash() trash.Trash { return trash.Trash{Store: d.Store, Now: d.Now} }

var errTaskUsed = problem.Conflict.New("The task has submissions. Make it private, or delete it with them: DELETE with the " +
	"parameters with=submissions and name, which is the name of the task.")

func (d Deleter) checkTaskUnused(ctx context.Context, taskID string) error {
	counts := func(a *record.Allowance) bool { return a.Submissions > 0 || len(a.Runs) > 0 }
	return d.checkUnused(ctx, taskID, counts, records.Of(record.KindTask, taskID, record.KindSubmission), errTaskUsed)
}

// Dataset deletes a dataset that no run uses. If one does, the dataset stays and the error is a Conflict.
func (d Deleter) Dataset(ctx context.Context, set *record.DatasetItem, by string) error {
	if !set.Deleting() {
		if err := d.checkDatasetUnused(ctx, set); err != nil {
			return err
		}
		marked := *set
		marked.DeletedBy = by
		marked.PendingWork = record.NewPendingWork(record.DeleteDataset, d.Now().Add(record.RequestTime))
		if err := new(records.Tx).Replace(&marked).Commit(ctx, d.Store); err != nil {
			return err
		}
	}
	return d.deleteMarked(ctx, set.Key())
}

// ResumeDataset continues the deletion of a dataset that is pending. It is no error that the deletion is refused.
func (d Deleter) ResumeDataset(ctx context.Context, key store.Key) error {
	if err := d.deleteMarked(ctx, key); !problem.Conflict.Is(err) { // its caller has gone
		return err
	}
	return nil
}

// deleteMarked deletes a marked dataset, or removes the mark when runs use it after all. What it finds holds for the mark
// that it read: when another process has removed that since, and the dataset was perhaps marked again, it conflicts.
func (d Deleter) deleteMarked(ctx context.Context, key store.Key) error {
	return records.Change(ctx, d.Store, key, func(set *record.DatasetItem, tx *records.Tx) error {
		if !set.Deleting() {
			return errDatasetUsed // as another process found
		}
		if err := d.renewGrants(ctx, set.TaskID); err != nil {
			return err
		}
		unmarked, err := d.unmarked(ctx, set)
		if err != nil {
			return err
		}
		err = d.checkDatasetUnused(ctx, set)
		if problem.Conflict.Is(err) {
			return cmp.Or(new(records.Tx).Replace(unmarked).Commit(ctx, d.Store), err)
		}
		if err != nil {
			return err
		}
		path := "/v1/datasets/" + set.ID
		tx.Create(record.NewAudit(d.Now(), set.Scope(), set.DeletedBy, record.DatasetDeleted, path, set.Audited(), nil))
		entry := record.NewDeletion(d.Now(), record.DatasetInTrash, set.ID, path, set.Name, set.Scope(), set.DeletedBy, false)
		return d.trash().Dataset(ctx, tx, unmarked, entry)
	})
}

// unmarked is the dataset without the mark of its deletion. The work that the deletion replaced is pending again.
func (d Deleter) unmarked(ctx context.Context, set *record.DatasetItem) (*record.DatasetItem, error) {
	truth, err := records.Get[record.Truth](ctx, d.Store, store.Strong, record.TruthKey(set.ID))
	unmarked := *set
	unmarked.DeletedBy = ""
	unmarked.Resume(truth, d.Now())
	return &unmarked, err
}

var errDatasetUsed = problem.Conflict.New("Runs use the dataset. Delete their submissions first.")

func (d Deleter) checkDatasetUnused(ctx context.Context, set *record.DatasetItem) error {
	counts := func(a *record.Allowance) bool { return a.Runs[set.ID] > 0 }
	return d.checkUnused(ctx, set.TaskID, counts, records.Of(record.KindDataset, set.ID, record.KindRun), errDatasetUsed)
}
