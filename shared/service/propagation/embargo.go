package propagation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// RenewEmbargo adds to tx that change is made to the embargo of the task, and that runs and evaluations follow it. A change that is nil
// is for an embargo that exists, if there is one; any other begins one.
func RenewEmbargo(ctx context.Context, s store.Store, tx *records.Tx, taskID string, now time.Time, change func(*record.Embargo)) error {
	e, err := records.Get[record.Embargo](ctx, s, store.Strong, record.EmbargoKey(taskID))
	if err != nil || e == nil && change == nil {
		return err
	}
	e = cmp.Or(e, &record.Embargo{Meta: record.MetaOf(taskID, now)})
	if change != nil {
		change(e)
	}
	e.PendingWork = record.NewPendingWork(record.ApplyEmbargo, now)
	tx.Save(e, now)
	return nil
}

// Show makes leaderboards of the dataset show the results of the truth. If their columns are then for other readers, it adds to tx that
// runs and evaluations follow.
func Show(ctx context.Context, s store.Store, tx *records.Tx, d *record.DatasetItem, t *record.TruthVersion, now time.Time) error {
	before := *d
	d.Show(t)
	if d.ShowsLike(&before) {
		return nil
	}
	return RenewEmbargo(ctx, s, tx, d.TaskID, now, func(e *record.Embargo) { e.Add(d.ID) })
}

// DropExtensions adds to tx that scores of the task no longer wait for the later closes that the exceptions granted.
func DropExtensions(ctx context.Context, s store.Store, tx *records.Tx, taskID string, now time.Time, gone ...record.Exception) error {
	if !slices.ContainsFunc(gone, func(e record.Exception) bool { return e.ClosesAt != nil }) {
		return nil
	}
	return RenewEmbargo(ctx, s, tx, taskID, now, func(b *record.Embargo) { b.Drop(gone...) })
}

// Embargo gives the runs on the datasets that the task's Embargo names, and their evaluations, the copies of the rules of columns, if that
// is pending, and makes it pending again for the next instant from which a column is shown. A run that is submitted meanwhile has them
// from the records as its request read them, so the confirming pass comes when such requests have ended.
func (p Propagator) Embargo(ctx context.Context, key store.Key) error {
	e, err := records.Get[record.Embargo](ctx, p.Store, store.Strong, key)
	if err != nil || e == nil || !e.PendingWork.Is(record.ApplyEmbargo) || e.PendingWork.NotBefore.After(p.Now()) {
		return err
	}
	began, next := p.Now(), time.Time{}
	var stay []string
	for _, id := range e.Datasets {
		var t *record.TaskItem
		var d *record.DatasetItem
		err := records.Read(ctx, p.Store, store.Strong, records.Into(&t, record.TaskKey(e.ID)), records.Into(&d, record.DatasetKey(id)))
		if err != nil {
			return err
		}
		if t == nil {
			return nil // it is deleted or restored, and this moves with it
		}
		if d == nil {
			continue // deleted; restoring it adds it again
		}
		if d.IsTimed() {
			stay = append(stay, id)
		}
		rules := d.ValueRules(t, e)
		if at := rules.Next(began); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
		if err := p.copyRules(ctx, e, d, rules, began); err != nil {
			return err
		}
	}
	return p.completeEmbargo(ctx, e, next, stay)
}

// completeEmbargo ends a pass over the datasets of the Embargo, unless the Embargo has changed since it was read. If next is not zero,
// a column of one dataset is shown from next on. The datasets in stay show columns from a close or an instant on.
func (p Propagator) completeEmbargo(ctx context.Context, e *record.Embargo, next time.Time, stay []string) error {
	_, err := records.Update(ctx, p.Store, e.Key(), func(stored *record.Embargo, _ *records.Tx) (bool, error) {
		if stored.Stored() != e.Stored() {
			return false, nil
		}
		confirm := p.Now().Add(record.RequestTime)
		switch {
		case e.PendingWork.State == record.FirstPass && (next.IsZero() || next.After(confirm)):
			stored.PendingWork = record.NewConfirmingPass(record.ApplyEmbargo, confirm)
			return true, nil
		case next.IsZero():
			stored.PendingWork = nil
		default:
			stored.PendingWork = record.NewPendingWork(record.ApplyEmbargo, next)
		}
		if e.PendingWork.State == record.ConfirmingPass {
			stored.Datasets = stay
		}
		return true, nil
	})
	return err
}

// copyRules copies the rules to the runs on the dataset and their evaluations, unless the Embargo has changed since it was read.
func (p Propagator) copyRules(ctx context.Context, e *record.Embargo, d *record.DatasetItem, rules *record.ValueRules,
	now time.Time) error {
	o := origin[record.Embargo, *record.Embargo]{
		store: p.Store, key: e.Key(), touch: p.touch,
		copy: func(stored *record.Embargo, _ *string, to *record.AccessAttributes) bool {
			before := *to
			rules.Copy(to, now)
			return stored.Stored() == e.Stored() && *to != before
		},
	}
	return records.Each(ctx, p.Store, page, records.Of(record.KindDataset, d.ID, record.KindRun), func(r *record.RunItem) error {
		return o.copyToRuns(ctx, r.ID)
	})
}
