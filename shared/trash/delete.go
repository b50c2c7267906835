package trash

import (
	"context"
	"slices"
	"strings"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/team"
)

// Run adds to tx that the run is deleted with its review and its evaluations, and that its submission and the allowance of its team no
// longer have it. It is not refunded, or deleting would be a way around the quota of the task. The caller calls Continue after the
// commit.
func (t Trash) Run(ctx context.Context, tx *records.Tx, r *record.RunItem, d *record.DeletionItem) error {
	s, err := records.Get[record.SubmissionItem](ctx, t.Store, store.Strong, record.SubmissionKey(r.SubmissionID))
	if err != nil {
		return err
	}
	if s != nil {
		s.RunIDs = slices.DeleteFunc(s.RunIDs, func(id string) bool { return id == r.ID })
		tx.Save(s, t.Now())
	}
	return t.runs(ctx, tx, d, r, []*record.RunItem{r}, func(*record.Allowance) {})
}

// Submission adds to tx that the submission is deleted with its runs, as Run does with one.
func (t Trash) Submission(ctx context.Context, tx *records.Tx, s *record.SubmissionItem, runs []*record.RunItem,
	d *record.DeletionItem) error {
	if err := (&batch{Tx: tx, deletion: d}).record(s, (*batch).out); err != nil {
		return err
	}
	return t.runs(ctx, tx, d, s, runs, func(a *record.Allowance) {
		if !s.Unregistered() {
			a.Submissions = max(0, a.Submissions-1)
		}
	})
}

// runs adds to tx that the runs, all of one submission, are deleted, and the deletion itself.
func (t Trash) runs(ctx context.Context, tx *records.Tx, d *record.DeletionItem, of team.Submitted, runs []*record.RunItem,
	drop func(*record.Allowance)) error {
	a, err := team.AllowanceOf(ctx, t.Store, store.Strong, of)
	if err != nil {
		return err
	}
	b := &batch{Tx: tx, deletion: d}
	var later []store.Item
	for _, r := range runs {
		items, err := records.Contents(ctx, t.Store, r.Key())
		if err != nil {
			return err
		}
		first, rest := listed(r, items)
		for _, it := range first {
			if it.Key == r.Key() {
				it.Version = r.Stored() // another is a conflict
			}
			if err := b.out(it); err != nil {
				return err
			}
		}
		later = append(later, rest...)
	}
	if a != nil {
		drop(a)
		for _, r := range runs {
			a.Drop(r.DatasetID, r.ID)
		}
		tx.Save(a, t.Now())
	}
	if !b.fits(later...) {
		d.PendingWork = record.NewPendingWork(record.MoveToTrash, t.Now().Add(record.RequestTime))
		later = nil
	}
	tx.Create(d)
	return b.each(later, (*batch).out)
}

// Dataset adds to tx that the dataset, which no run uses, is deleted with its ground truth.
func (t Trash) Dataset(ctx context.Context, tx *records.Tx, set *record.DatasetItem, d *record.DeletionItem) error {
	items, err := records.Contents(ctx, t.Store, set.Key())
	if err != nil {
		return err
	}
	tx.Create(d)
	return (&batch{Tx: tx, deletion: d}).each(items, func(b *batch, it store.Item) error {
		if it.Key == set.Key() {
			return b.record(set, (*batch).out)
		}
		return b.out(it)
	})
}

// Task adds to tx that the task is deleted. From then on nothing finds the task; Continue moves what is in it.
func (t Trash) Task(ctx context.Context, tx *records.Tx, task *record.TaskItem, d *record.DeletionItem) error {
	if err := records.CountTasks(ctx, t.Store, tx, t.Now(), task.OrganizerID, -1); err != nil {
		return err
	}
	d.PendingWork = record.NewPendingWork(record.MoveToTrash, t.Now().Add(record.RequestTime))
	tx.Create(d)
	return (&batch{Tx: tx, deletion: d}).record(task, (*batch).out)
}

// Continue moves to the trash what the transaction of a deletion left, if there is anything. Of a task, a confirming pass moves what
// lists did not have yet.
func (t Trash) Continue(ctx context.Context, key store.Key) error {
	return t.step(ctx, key, record.MoveToTrash, func(d *record.DeletionItem) error {
		move := t.continueRuns
		if d.Kind == record.TaskInTrash {
			move = t.continueTask
		}
		if err := move(ctx, d); err != nil {
			return err
		}
		if d.Kind == record.TaskInTrash && d.PendingWork.State != record.ConfirmingPass {
			return t.schedule(ctx, d, record.MoveToTrash, t.Now().Add(record.RequestTime), record.ConfirmingPass)
		}
		return t.schedule(ctx, d, record.PurgeTrash, d.ExpiresAt.Time, "")
	})
}

// continueTask moves what is in a deleted task. Registrations go with their grants, and come first: what is submitted is made under a grant
// as it is, so that from then on nothing is.
func (t Trash) continueTask(ctx context.Context, d *record.DeletionItem) error {
	return records.EachInTask(ctx, t.Store, d.ResourceID, func(items []store.Item) error {
		return t.moveAll(ctx, d, items, func(b *batch, it store.Item) error {
			if strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
				r, err := records.Decode[record.RegistrationItem](it)
				if err != nil {
					return err
				}
				b.DeleteKeys(r.GrantKeys()...)
			}
			return b.out(it)
		})
	})
}

// continueRuns moves what is left of runs that lie in the trash.
func (t Trash) continueRuns(ctx context.Context, d *record.DeletionItem) error {
	runs, err := t.deletedRuns(ctx, d)
	if err != nil {
		return err
	}
	for _, r := range runs {
		evaluations, err := records.Evaluations(ctx, t.Store, r)
		if err != nil {
			return err
		}
		items, err := records.Contents(ctx, t.Store, r.Key())
		if err != nil {
			return err
		}
		if err := t.moveAll(ctx, d, append(evaluations, items...), (*batch).out); err != nil {
			return err
		}
	}
	return nil
}

// deletedRuns reads the runs in the trash that were deleted, as one or with their submission.
func (t Trash) deletedRuns(ctx context.Context, d *record.DeletionItem) ([]*record.RunItem, error) {
	ids := []string{d.ResourceID}
	if d.Kind == record.SubmissionInTrash {
		s, err := records.Get[record.SubmissionItem](ctx, t.bin(d), store.Strong, record.SubmissionKey(d.ResourceID))
		if err != nil || s == nil {
			return nil, err
		}
		ids = s.RunIDs
	}
	return records.GetExisting[record.RunItem](ctx, t.bin(d), store.Strong, ids, record.RunKey)
}
