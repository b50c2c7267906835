// Package deletion deletes tasks and datasets that nothing was submitted to, and users, in steps that can stop at any point and be
// resumed, while submissions are made. UserDeleter says how users go.
//
// The deletion of a task or dataset is pending work of its record, with two states. First the record is marked, so that nothing
// new is admitted to it. Then every grant of the task is written again: a submission is made under its grant as it is, so those
// that were admitted before the mark have been made by then or never will be, and the allowances count them without the lag of
// lists. If there are any, the deletion is refused, which removes the mark. Otherwise a task's deletion is decided, in the
// transaction with the audit entry, and from then on it only goes forward: everything in the task is deleted, and the task
// last. A dataset is small enough to be deleted in the transaction that decides.
package deletion

import (
	"cmp"
	"context"
	"strings"
	"time"

	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// page is how many records are read at once.
const page = 100

// Deleter deletes tasks and datasets in a store.
type Deleter struct {
	Store store.Store
	Now   func() time.Time
}

// pendingDeletion is the work of a deletion that was just marked, which the evaluator resumes if the request does not end it.
func (d Deleter) pendingDeletion(kind record.PendingKind) *record.PendingWork {
	return record.NewPendingWork(kind, d.Now().Add(record.RequestTime))
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
		_, err = records.Update(ctx, d.Store, record.RegisteredKey(r.UserID, taskID), func(*record.Registered, *records.Tx) (bool, error) {
			return true, nil
		})
		return err
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

// ignoreRefusal returns nil for the Conflict with which a resumed deletion is refused: its caller has gone.
func ignoreRefusal(err error) error {
	if problem.Conflict.Is(err) {
		return nil
	}
	return err
}

// Task deletes a task with everything in it. If the task has submissions, it stays whole and the error is a Conflict.
func (d Deleter) Task(ctx context.Context, t *record.TaskItem, by string) error {
	t, err := d.markTask(ctx, t, by)
	if err != nil {
		return err
	}
	if t.PendingWork.State != record.Decided {
		if err := d.decide(ctx, t); err != nil {
			return err
		}
	}
	if err := d.deleteContents(ctx, t.ID); err != nil {
		return err
	}
	return d.deleteTask(ctx, t)
}

// ResumeTask continues the deletion of a task that is pending. It is no error that the deletion is refused.
func (d Deleter) ResumeTask(ctx context.Context, key store.Key) error {
	t, err := records.Get[record.TaskItem](ctx, d.Store, store.Strong, key)
	if err != nil || t == nil || !t.Deleting() {
		return err
	}
	return ignoreRefusal(d.Task(ctx, t, t.DeletedBy))
}

// SweepTask deletes what was written in a task during its deletion, or what an index did not have yet.
func (d Deleter) SweepTask(ctx context.Context, key store.Key) error {
	deleted, err := records.Get[record.DeletedTask](ctx, d.Store, store.Strong, key)
	if err != nil || deleted == nil {
		return err
	}
	if err := d.deleteContents(ctx, deleted.ID); err != nil {
		return err
	}
	return new(records.Tx).DeleteKey(key).Commit(ctx, d.Store)
}

// markTask returns the task marked for deletion. One that has submissions is not marked.
func (d Deleter) markTask(ctx context.Context, t *record.TaskItem, by string) (*record.TaskItem, error) {
	if t.Deleting() {
		return t, nil
	}
	if err := d.checkTaskUnused(ctx, t.ID); err != nil {
		return nil, err
	}
	marked := *t
	marked.DeletedBy, marked.PendingWork = by, d.pendingDeletion(record.DeleteTask)
	return &marked, new(records.Tx).Replace(&marked).Commit(ctx, d.Store)
}

// decide makes the deletion of a marked task irrevocable, or refuses it when the task has submissions after all.
func (d Deleter) decide(ctx context.Context, t *record.TaskItem) error {
	if err := d.renewGrants(ctx, t.ID); err != nil {
		return err
	}
	if err := d.checkTaskUnused(ctx, t.ID); err != nil {
		if problem.Conflict.Is(err) {
			return d.refuseTask(ctx, t, err)
		}
		return err
	}
	decided := *t
	decided.PendingWork = d.pendingDeletion(record.DeleteTask)
	decided.PendingWork.State = record.Decided
	entry := record.NewAudit(d.Now(), t.Scope(), t.DeletedBy, record.TaskDeleted, "/v1/tasks/"+t.ID, t.Audited(), nil)
	return new(records.Tx).Replace(&decided).Create(entry).Commit(ctx, d.Store)
}

// refuseTask removes the mark of a task and returns why. The propagation that the deletion may have replaced begins again.
func (d Deleter) refuseTask(ctx context.Context, t *record.TaskItem, why error) error {
	_, err := records.Update(ctx, d.Store, t.Key(), func(t *record.TaskItem, _ *records.Tx) (bool, error) {
		if !t.Deleting() || t.PendingWork.State == record.Decided {
			return false, nil
		}
		t.DeletedBy, t.PendingWork = "", record.NewPendingWork(record.PropagateTask, d.Now())
		return true, nil
	})
	return cmp.Or(err, why)
}

// deleteTask deletes the task itself.
func (d Deleter) deleteTask(ctx context.Context, t *record.TaskItem) error {
	deleted := &record.DeletedTask{Meta: record.MetaOf(t.ID, d.Now()), PendingWork: d.pendingDeletion(record.SweepDeletedTask)}
	return records.Retry(ctx, func() error {
		left, err := records.Get[record.TaskItem](ctx, d.Store, store.Strong, t.Key())
		if err != nil || left == nil {
			return err // another process was faster
		}
		tx := new(records.Tx).Delete(left).Create(deleted)
		if err := d.CountTask(ctx, tx, t.OrganizerID, -1); err != nil {
			return err
		}
		return tx.Commit(ctx, d.Store)
	})
}

// CountTask adds to tx that the organizer has so many tasks more. An organizer that has tasks cannot be deleted.
func (d Deleter) CountTask(ctx context.Context, tx *records.Tx, organizerID string, more int) error {
	n, err := records.Get[record.TaskCount](ctx, d.Store, store.Strong, record.TaskCountKey(organizerID))
	if err != nil {
		return err
	}
	n = cmp.Or(n, &record.TaskCount{Meta: record.MetaOf(organizerID, d.Now())})
	n.Tasks = max(0, n.Tasks+more)
	tx.Save(n, d.Now())
	return nil
}

var errTaskUsed = problem.Conflict.New("The task has submissions. Delete them first, or make the task private.")

func (d Deleter) checkTaskUnused(ctx context.Context, taskID string) error {
	counts := func(a *record.Allowance) bool { return a.Submissions > 0 || len(a.Runs) > 0 }
	return d.checkUnused(ctx, taskID, counts, records.TaskSources(taskID, record.KindSubmission), errTaskUsed)
}

// deleteContents deletes everything in a task.
func (d Deleter) deleteContents(ctx context.Context, taskID string) error {
	deletions := records.Deletions{Store: d.Store}
	err := d.eachInTask(ctx, taskID, func(it store.Item) error {
		switch {
		case it.Key == record.TaskKey(taskID) || it.Key == record.DeletedTaskKey(taskID):
			return nil
		case strings.HasPrefix(it.Sort, record.RegistrationPrefix):
			r, err := records.Decode[record.RegistrationItem](it)
			if err != nil {
				return err
			}
			return deletions.Add(ctx, it.Key, record.RegisteredKey(r.UserID, taskID))
		default:
			return deletions.Add(ctx, it.Key)
		}
	})
	if err != nil {
		return err
	}
	datasets := []records.Source{records.Partition(record.ByTask, record.TaskPartition(taskID, record.KindDataset, 0))}
	err = records.Each(ctx, d.Store, page, datasets, func(set *record.DatasetItem) error {
		return records.Retry(ctx, func() error { // in a transaction of its own, with what it gives back to quotas
			set, err := records.Get[record.DatasetItem](ctx, d.Store, store.Strong, set.Key())
			if err != nil || set == nil {
				return err
			}
			tx, err := d.datasetDeletion(ctx, set)
			if err != nil {
				return err
			}
			return tx.Commit(ctx, d.Store)
		})
	})
	if err != nil {
		return err
	}
	return deletions.Commit(ctx)
}

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
	payer := quota.Account{Store: d.Store, Tx: tx, Now: d.Now(), UserID: set.Payer}
	return tx, payer.Credit(ctx, record.Charge{Bytes: -record.SizeOf(set.Files())})
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
