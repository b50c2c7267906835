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
)

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
		if err := CountTask(ctx, d.Store, d.Now(), tx, t.OrganizerID, -1); err != nil {
			return err
		}
		return tx.Commit(ctx, d.Store)
	})
}

// CountTask adds to tx that the organizer has so many tasks more. An organizer that has tasks cannot be deleted.
func CountTask(ctx context.Context, s store.Store, now time.Time, tx *records.Tx, organizerID string, more int) error {
	n, err := records.Get[record.TaskCount](ctx, s, store.Strong, record.TaskCountKey(organizerID))
	if err != nil {
		return err
	}
	n = cmp.Or(n, &record.TaskCount{Meta: record.MetaOf(organizerID, now)})
	n.Tasks = max(0, n.Tasks+more)
	tx.Save(n, now)
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
