package follow

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

// Delete removes a task with all that stands below it, in steps that can stop at any point and begin anew. A task that has
// submissions stays, whole, and the error is a Conflict.
//
// The task is marked first, so that nothing new is admitted. Then it is made certain that nothing that was admitted before
// is still to come, and only then, in one write, the deletion becomes irrevocable. What is swept after that is in
// nobody's way; the task itself goes last. The audit entry of the deletion, by the user who began it, comes with the decision.
func Delete(ctx context.Context, s store.Store, now time.Time, t *record.TaskItem, by string) error {
	t, err := mark(ctx, s, now, t, by)
	if err != nil {
		return err
	}
	if t.PendingWork.State != record.Decided {
		if err := decide(ctx, s, now, t); err != nil {
			return err
		}
	}
	if err := sweep(ctx, s, now, t.ID); err != nil {
		return err
	}
	return end(ctx, s, now, t)
}

// ResumeTask continues the deletion of a task that is pending. That it is refused is no error: nobody waits for the answer.
func ResumeTask(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	t, err := records.Get[record.TaskItem](ctx, s, store.Strong, key)
	if err != nil || t == nil || !t.Deleting() {
		return err
	}
	if err := Delete(ctx, s, now, t, t.DeletedBy); !problem.Conflict.Is(err) {
		return err
	}
	return nil
}

// end removes the task itself.
func end(ctx context.Context, s store.Store, now time.Time, t *record.TaskItem) error {
	gone := &record.DeletedTask{Meta: record.MetaOf(t.ID, now), PendingWork: record.NewPendingWork(record.SweepDeletedTask, now.Add(Patience))}
	return records.Retry(ctx, func() error {
		left, err := records.Get[record.TaskItem](ctx, s, store.Strong, t.Key())
		if err != nil || left == nil {
			return err // another one who is at it was faster
		}
		tx := new(records.Tx).Delete(left).Create(gone)
		if err := CountTask(ctx, s, now, tx, t.OrganizerID, -1); err != nil {
			return err
		}
		return tx.Commit(ctx, s)
	})
}

// CountTask adds to tx that the organizer has so many tasks more.
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

// Deleted sweeps once more where a task was deleted: what an index did not have yet, and what was on its way into the task.
func Deleted(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	gone, err := records.Get[record.DeletedTask](ctx, s, store.Strong, key)
	if err != nil || gone == nil {
		return err
	}
	if err := sweep(ctx, s, now, gone.ID); err != nil {
		return err
	}
	return new(records.Tx).DeleteKey(key).Commit(ctx, s)
}

// mark returns the task marked as being deleted. One that has submissions is not marked.
func mark(ctx context.Context, s store.Store, now time.Time, t *record.TaskItem, by string) (*record.TaskItem, error) {
	if t.Deleting() {
		return t, nil
	}
	if err := unusedTask(ctx, s, t.ID); err != nil {
		return nil, err
	}
	marked := *t
	marked.DeletedBy, marked.PendingWork = by, record.NewPendingWork(record.DeleteTask, now.Add(Patience))
	return &marked, new(records.Tx).Replace(&marked).Commit(ctx, s)
}

// decide makes the deletion of a marked task irrevocable, or takes the mark off again when the task has submissions after
// all. A submission is made under its grant as it is, so when every grant has been written since the mark, those admitted
// before it are made or never will be.
func decide(ctx context.Context, s store.Store, now time.Time, t *record.TaskItem) error {
	if err := renewGrants(ctx, s, t.ID); err != nil {
		return err
	}
	if err := unusedTask(ctx, s, t.ID); err != nil {
		if problem.Conflict.Is(err) {
			return undo(ctx, s, now, t, err)
		}
		return err
	}
	decided := *t
	decided.PendingWork = &record.PendingWork{Kind: record.DeleteTask, NotBefore: record.At(now.Add(Patience)), State: record.Decided}
	entry := record.NewAudit(now, t.Scope(), t.DeletedBy, record.TaskDeleted, "/v1/tasks/"+t.ID, t.Audited(), nil)
	return new(records.Tx).Replace(&decided).Create(entry).Commit(ctx, s)
}

// undo takes the mark off a task and returns why. Whatever followed the task's visibility when it was marked begins anew.
func undo(ctx context.Context, s store.Store, now time.Time, t *record.TaskItem, why error) error {
	err := update(ctx, s, t.Key(), func(t *record.TaskItem) bool {
		if !t.Deleting() || t.PendingWork.State == record.Decided {
			return false
		}
		t.DeletedBy, t.PendingWork = "", record.NewPendingWork(record.PropagateTask, now)
		return true
	})
	if err != nil {
		return err
	}
	return why
}

var errTaskUsed = problem.Conflict.New("The task has submissions. Delete them first, or make the task private.")

// unusedTask returns the Conflict that the task has a submission, if it has one.
func unusedTask(ctx context.Context, s store.Store, taskID string) error {
	counts := func(a *record.Allowance) bool { return a.Submissions > 0 || len(a.Runs) > 0 }
	return unused(ctx, s, taskID, counts, records.TaskSources(taskID, record.KindSubmission), errTaskUsed)
}

// unused returns the error used if an allowance of the task counts what would be deleted, or one of the lists has something.
// The allowances tell it without lag; the lists tell it too.
func unused(ctx context.Context, s store.Store, taskID string, counts func(*record.Allowance) bool, lists []records.Source, used error) error {
	err := inTask(ctx, s, taskID, func(it store.Item) error {
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
		found, err := s.Query(ctx, store.Query{Index: source.Index, Partition: source.Partition, Limit: 1})
		if err != nil {
			return records.Failed(err)
		}
		if len(found) > 0 {
			return used
		}
	}
	return nil
}

// sweep removes all that stands below a task.
func sweep(ctx context.Context, s store.Store, now time.Time, taskID string) error {
	d := records.Deletions{Store: s}
	err := inTask(ctx, s, taskID, func(it store.Item) error {
		switch {
		case it.Key == record.TaskKey(taskID) || it.Key == record.DeletedTaskKey(taskID):
			return nil
		case strings.HasPrefix(it.Sort, record.RegistrationPrefix):
			r, err := records.Decode[record.RegistrationItem](it)
			if err != nil {
				return err
			}
			return d.Add(ctx, it.Key, record.RegisteredKey(r.UserID, taskID))
		default:
			return d.Add(ctx, it.Key)
		}
	})
	if err != nil {
		return err
	}
	err = records.Each(ctx, s, page, []records.Source{records.Partition(record.ByTask, record.TaskPartition(taskID, record.KindDataset, 0))}, func(set *record.DatasetItem) error {
		return records.Retry(ctx, func() error { // each for itself: what it gives back to quotas is in its transaction
			set, err := records.Get[record.DatasetItem](ctx, s, store.Strong, set.Key())
			if err != nil || set == nil {
				return err
			}
			tx, err := deletion(ctx, s, now, set)
			if err != nil {
				return err
			}
			return tx.Commit(ctx, s)
		})
	})
	if err != nil {
		return err
	}
	return d.Commit(ctx)
}

// inTask calls do with everything in a task's partition of the table, as it is: what was written before is there.
func inTask(ctx context.Context, s store.Store, taskID string, do func(store.Item) error) error {
	q := store.Query{Partition: record.TaskKey(taskID).Partition, Limit: page, Consistency: store.Strong}
	for it, err := range records.Items(ctx, s, q) {
		if err == nil {
			err = do(it)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
