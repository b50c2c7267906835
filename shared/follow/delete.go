package follow

import (
	"context"

	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// Delete removes a task that is marked as Deleting, with all that stands below it, in transactions that can stop at any
// point and go on later. The task itself goes last. Each registration goes only while nothing was submitted under it: a
// submission that slipped in ends the deletion, and the task is back as it was.
func Delete(ctx context.Context, s store.Store, t *record.TaskItem) error {
	err := table.Each(ctx, s, page, []table.Source{table.Registrations(t.ID)}, func(r *record.RegistrationItem) error {
		return table.Retry(ctx, func() error {
			tx := new(table.Tx).DeleteKey(r.Key()).DeleteKey(record.RegisteredKey(r.UserID, t.ID)).DeleteKey(record.TeamKey(t.ID, r.Team))
			used, err := Unused(ctx, s, tx, t.ID, r.UserID)
			if err != nil {
				return err
			}
			if used != nil {
				tx.Delete(used)
			}
			return tx.Commit(ctx, s)
		})
	})
	if problem.Conflict.Is(err) {
		return undo(ctx, s, t, err)
	}
	if err != nil {
		return err
	}
	err = table.Each(ctx, s, page, []table.Source{table.Partition(record.ByTask, record.OfTask(t.ID, record.KindDataset, 0))}, func(d *record.DatasetItem) error {
		return new(table.Tx).DeleteKey(d.Key()).DeleteKey(record.TruthKey(d.ID)).Commit(ctx, s)
	})
	if err != nil {
		return err
	}
	err = table.Each(ctx, s, page, []table.Source{table.AuditEntries(t.ID)}, func(a *record.AuditEntry) error {
		return new(table.Tx).DeleteKey(a.Key()).Commit(ctx, s)
	})
	if err != nil {
		return err
	}
	return new(table.Tx).DeleteKey(t.Key()).Commit(ctx, s)
}

// Unused adds to a change that the user has no submission in the task, or returns the Conflict that there is one. The
// allowance, when there is one, is returned: the change must check or delete it.
func Unused(ctx context.Context, s store.Store, tx *table.Tx, taskID, userID string) (*record.Allowance, error) {
	used, err := table.Get[record.Allowance](ctx, s, store.Strong, record.AllowanceKey(taskID, userID))
	switch {
	case err != nil:
		return nil, err
	case used == nil:
		tx.CheckAbsent(record.AllowanceKey(taskID, userID))
	case used.Submissions > 0:
		return nil, problem.Conflict.New("There are submissions of this user in the task. Delete them first.")
	}
	return used, nil
}

// undo takes the mark off a task whose deletion cannot go on, and returns why.
func undo(ctx context.Context, s store.Store, t *record.TaskItem, why error) error {
	err := bring(ctx, s, t.Key(), func(now *record.TaskItem) bool {
		now.Deleting, now.Follow = false, nil
		return true
	})
	if err != nil {
		return err
	}
	return why
}
