package trash

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

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
	it, err := record.Item(s)
	if err != nil {
		return err
	}
	if err := (&batch{Tx: tx, deletion: d}).out(it); err != nil {
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
	var rest []store.Item
	for _, r := range runs {
		first, others, err := t.runItems(ctx, live, r)
		if err != nil {
			return err
		}
		for _, it := range first {
			if it.Key == r.Key() {
				it.Version = r.Stored() // another is a conflict
			}
			if err := b.out(it); err != nil {
				return err
			}
		}
		rest = append(rest, others...)
	}
	if a != nil {
		drop(a)
		for _, r := range runs {
			a.Drop(r.DatasetID, r.ID)
		}
		tx.Save(a, t.Now())
	}
	for _, it := range rest {
		if !b.fits(it) {
			d.PendingWork = record.NewPendingWork(record.MoveToTrash, t.Now().Add(record.RequestTime))
			break
		}
		if err := b.out(it); err != nil {
			return err
		}
	}
	tx.Create(d)
	return nil
}

// Dataset adds to tx that the dataset, which no run uses, is deleted with its ground truth.
func (t Trash) Dataset(ctx context.Context, tx *records.Tx, set *record.DatasetItem, d *record.DeletionItem) error {
	items, err := t.partition(ctx, live, set.Key())
	if err != nil {
		return err
	}
	b := &batch{Tx: tx, deletion: d}
	for _, it := range items {
		if it.Key == set.Key() {
			if it, err = record.Item(set); err != nil {
				return err
			}
		}
		if err := b.out(it); err != nil {
			return err
		}
	}
	tx.Create(d)
	return nil
}

// Task adds to tx that the task is deleted. From then on nothing finds the task; Continue moves what is in it.
func (t Trash) Task(ctx context.Context, tx *records.Tx, task *record.TaskItem, d *record.DeletionItem) error {
	it, err := record.Item(task)
	if err != nil {
		return err
	}
	if err := CountTask(ctx, t.Store, tx, t.Now(), task.OrganizerID, -1); err != nil {
		return err
	}
	d.PendingWork = record.NewPendingWork(record.MoveToTrash, t.Now().Add(record.RequestTime))
	tx.Create(d)
	return (&batch{Tx: tx, deletion: d}).out(it)
}

// Continue moves to the trash what the transaction of a deletion left, if there is anything.
func (t Trash) Continue(ctx context.Context, key store.Key) error {
	return t.step(ctx, key, record.MoveToTrash, func(d *record.DeletionItem) error {
		if d.Kind == record.TaskInTrash {
			return t.continueTask(ctx, d)
		}
		ids, err := t.runIDs(ctx, d)
		if err != nil {
			return err
		}
		for _, id := range ids {
			r, err := find[record.RunItem](ctx, t, record.RunKey(id))
			if err != nil || r == nil {
				return err
			}
			_, rest, err := t.runItems(ctx, live, r)
			if err != nil {
				return err
			}
			if err := t.moveAll(ctx, d, rest, (*batch).out); err != nil {
				return err
			}
		}
		return t.schedule(ctx, d, record.PurgeTrash, d.ExpiresAt.Time, "")
	})
}

// runIDs names the runs that were deleted, of a run or a submission.
func (t Trash) runIDs(ctx context.Context, d *record.DeletionItem) ([]string, error) {
	if d.Kind == record.RunInTrash {
		return []string{d.ResourceID}, nil
	}
	s, err := find[record.SubmissionItem](ctx, t, record.SubmissionKey(d.ResourceID))
	if err != nil || s == nil {
		return nil, err
	}
	return s.RunIDs, nil
}

// CountTask adds to tx that the organizer has so many tasks more. An organizer that has tasks cannot be deleted.
func CountTask(ctx context.Context, s store.Store, tx *records.Tx, now time.Time, organizerID string, more int) error {
	n, err := records.Get[record.TaskCount](ctx, s, store.Strong, record.TaskCountKey(organizerID))
	if err != nil {
		return err
	}
	n = cmp.Or(n, &record.TaskCount{Meta: record.MetaOf(organizerID, now)})
	n.Tasks = max(0, n.Tasks+more)
	tx.Save(n, now)
	return nil
}

// continueTask moves what is in a deleted task. Grants go first: what is submitted is made under a grant as it is, so that from then on
// nothing is submitted. A confirming pass moves what lists did not have yet.
func (t Trash) continueTask(ctx context.Context, d *record.DeletionItem) error {
	of, err := t.partition(ctx, live, record.TaskKey(d.ResourceID))
	if err != nil {
		return err
	}
	for _, it := range of {
		err := t.moveAll(ctx, d, []store.Item{it}, func(b *batch, it store.Item) error {
			if strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
				r, err := records.Decode[record.RegistrationItem](it)
				if err != nil {
					return err
				}
				for _, key := range r.GrantKeys() {
					b.DeleteKey(key)
				}
			}
			return b.out(it)
		})
		if err != nil {
			return err
		}
	}
	lists := []records.Source{records.Partition(record.ByTask, record.TaskPartition(d.ResourceID, record.KindDataset, 0))}
	lists = slices.Concat(lists, records.TaskSources(d.ResourceID, record.KindSubmission))
	for _, source := range lists {
		err := records.EachItem(ctx, t.Store, store.Query{Index: source.Index, Partition: source.Partition, Limit: page},
			func(it store.Item) error {
				items, err := t.partition(ctx, live, it.Key)
				if err != nil {
					return err
				}
				return t.moveAll(ctx, d, items, (*batch).out)
			})
		if err != nil {
			return err
		}
	}
	err = records.Each(ctx, t.Store, page, records.TaskSources(d.ResourceID, record.KindRun), func(r *record.RunItem) error {
		return records.Retry(ctx, func() error { return t.moveRun(ctx, d, r.Key()) })
	})
	if err != nil {
		return err
	}
	if d.PendingWork.State == record.ConfirmingPass {
		return t.schedule(ctx, d, record.PurgeTrash, d.ExpiresAt.Time, "")
	}
	return t.schedule(ctx, d, record.MoveToTrash, t.Now().Add(record.RequestTime), record.ConfirmingPass)
}

// moveRun moves a run of a deleted task, the run itself last: lists, by which a later pass finds it, have it until then.
func (t Trash) moveRun(ctx context.Context, d *record.DeletionItem, key store.Key) error {
	r, err := records.Get[record.RunItem](ctx, t.Store, store.Strong, key)
	if err != nil || r == nil {
		return err
	}
	first, rest, err := t.runItems(ctx, live, r)
	if err != nil {
		return err
	}
	if err := t.moveAll(ctx, d, rest, (*batch).out); err != nil {
		return err
	}
	return t.moveAll(ctx, d, first, (*batch).out)
}
