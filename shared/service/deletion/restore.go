package deletion

import (
	"cmp"
	"context"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// Restoring describes what restoring a resource now does, and when it is no longer possible.
type Restoring struct {
	// UnmarkedRunIDs lists the runs that come back without the mark as final that they had, because the team has marked as many others as
	// the dataset takes.
	UnmarkedRunIDs []string
	// Until is the instant from which the caller can no longer restore the resource. Other changes can prevent it earlier.
	Until *record.Instant
}

// Restore adds to tx that a user restores the resource of the entry. If its parent is missing, the error is a Conflict that says what to
// restore first. A restored resource takes what changed meanwhile: name and anonymity of its team, visibility of its task, ground truth.
//
// If tx has no room for the whole resource, or the resource still moves to the trash, Restore only makes restoring pending. Therefore the
// caller calls Continue with the key of the entry after the commit.
//
// The user of a baseline without a registration must not have too many unfinished ones, as for a new baseline.
func (d Deleter) Restore(ctx context.Context, tx *records.Tx, entry *record.DeletionItem, by string) (Restoring, error) {
	b := &batch{Tx: new(records.Tx), entry: entry}
	if entry.RegistrationID == "" && !entry.PendingWork.Is(record.RestoreTrash) {
		b.waitingRuns = d.WaitingRuns
	}
	return d.restore(ctx, b, tx, by)
}

// RestoreForTeam is Restore for a member of the team that deleted the resource. The registration of the team must allow a new submission,
// and the team must not have too many unfinished runs. Once restoring is pending, it continues whatever becomes of the registration.
func (d Deleter) RestoreForTeam(ctx context.Context, tx *records.Tx, entry *record.DeletionItem, by string) (Restoring, error) {
	b := &batch{Tx: new(records.Tx), entry: entry}
	if !entry.PendingWork.Is(record.RestoreTrash) {
		b.byTeam = true
		if err := d.checkTeam(ctx, b); err != nil {
			return Restoring{}, err
		}
		b.waitingRuns = d.WaitingRuns
	}
	return d.restore(ctx, b, tx, by)
}

// restore adds to tx that the resource is restored by b, or that restoring is pending.
func (d Deleter) restore(ctx context.Context, b *batch, tx *records.Tx, by string) (Restoring, error) {
	whole, err := d.restoreWhole(ctx, b)
	switch {
	case err != nil:
		return Restoring{}, err
	case whole:
		tx.Append(b.Delete(b.entry).Create(d.restored(b, by)))
	case !b.entry.PendingWork.Is(record.RestoreTrash):
		b.entry.RestoredBy = by
		b.entry.PendingWork = record.NewPendingWork(record.RestoreTrash, d.Now().Add(record.RequestTime))
		tx.Replace(b.entry)
	}
	return Restoring{UnmarkedRunIDs: b.unmarked, Until: cmp.Or(b.until, &b.entry.ExpiresAt)}, nil
}

// restoreWhole adds to b that the resource comes back, and reports whether b has room for all of it and nothing still moves to the trash.
func (d Deleter) restoreWhole(ctx context.Context, b *batch) (whole bool, err error) {
	if b.entry.Kind == record.TaskInTrash {
		_, _, err := d.taskOf(ctx, b.entry)
		return false, err
	}
	rest, err := d.restoreListed(ctx, b)
	if err != nil || b.entry.PendingWork.Is(record.MoveToTrash) || !b.fits(rest...) {
		return false, err
	}
	return true, b.each(rest, (*batch).back)
}

// restoreListed adds to b that the resource comes back as lists show it, and returns the items that must come back no later.
func (d Deleter) restoreListed(ctx context.Context, b *batch) (rest []store.Item, err error) {
	if b.entry.Kind == record.DatasetInTrash {
		return nil, d.restoreDataset(ctx, b)
	}
	return d.restoreRuns(ctx, b)
}

// resumeRestore does what is pending of restoring. If the resource cannot come back any more, the items that have come back move to the
// trash again.
func (d Deleter) resumeRestore(ctx context.Context, entry *record.DeletionItem) error {
	var err error
	switch {
	case entry.Over():
		return d.sweepRestored(ctx, entry)
	case entry.Kind == record.TaskInTrash:
		err = d.restoreTask(ctx, entry)
	default:
		err = d.restoreRest(ctx, entry)
	}
	if problem.Conflict.Is(err) {
		return d.schedule(ctx, entry, record.MoveToTrash, d.Now(), "")
	}
	return err
}

// restoreRest brings a resource back: what lists show in the last transaction, and the rest before it.
func (d Deleter) restoreRest(ctx context.Context, entry *record.DeletionItem) error {
	b := &batch{Tx: new(records.Tx), entry: entry}
	rest, err := d.restoreListed(ctx, b)
	if err != nil {
		return err
	}
	if err := d.moveAll(ctx, entry, rest, (*batch).back); err != nil {
		return err
	}
	return b.Delete(entry).Create(d.restored(b, entry.RestoredBy)).Commit(ctx, d.Store)
}

// restored is the audit entry for a restored resource. It names the runs that are not final any more.
func (d Deleter) restored(b *batch, by string) *record.AuditEntry {
	var after any
	if len(b.unmarked) > 0 {
		after = struct {
			UnmarkedRunIDs []string `json:"unmarkedRunIds"`
		}{b.unmarked}
	}
	return record.NewAudit(d.Now(), b.entry.Scope(), by, record.Restored, b.entry.Subject, nil, after)
}

// checkTeam refuses that the team restores runs which it could not submit, or by which it would choose its final runs after the close. It
// requires in b that the registration and the task do not change.
func (d Deleter) checkTeam(ctx context.Context, b *batch) error {
	task, err := d.task(ctx, b, b.entry.TaskID)
	if err != nil {
		return err
	}
	if b.entry.RegistrationID == "" {
		return problem.Forbidden.New("This is a baseline without a registration, which only organizers of the task can restore.")
	}
	r, err := d.registration(ctx, b, b.entry.TaskID, b.entry.RegistrationID)
	if err != nil {
		return err
	}
	if err := team.CheckAccepted(r.State); err != nil {
		return err
	}
	if err := r.CheckTerms(task); err != nil {
		return err
	}
	runs, err := d.deletedRuns(ctx, b.entry)
	if err != nil || len(runs) == 0 {
		return err
	}
	closes, err := team.CheckFinalChoice(ctx, d.Store, runs, d.Now())
	if closes != nil && closes.Before(b.entry.ExpiresAt.Time) {
		b.until = closes
	}
	return err
}

// task returns the task, and requires in b that it does not change.
func (d Deleter) task(ctx context.Context, b *batch, id string) (*record.TaskItem, error) {
	task, err := records.Get[record.TaskItem](ctx, d.Store, store.Strong, record.TaskKey(id))
	if err != nil {
		return nil, err
	}
	if task == nil {
		return nil, d.missing(ctx, b, "task", record.TaskKey(id))
	}
	b.require(task)
	return task, nil
}

// registration returns the registration, and requires in b that it does not change.
func (d Deleter) registration(ctx context.Context, b *batch, taskID, id string) (*record.RegistrationItem, error) {
	r, err := records.Require[record.RegistrationItem](ctx, d.Store, store.Strong, record.RegistrationKey(taskID, id),
		problem.Conflict.New("The registration of the team was deleted, so its submissions cannot be restored."))
	if err == nil {
		b.require(r)
	}
	return r, err
}

// errPurged is the answer when the deletion of a user has purged the resource.
var errPurged = problem.Conflict.New("This cannot be restored, because the account of the user who submitted it was deleted.")

// missing says what to restore first: the resource with the key, or the larger one that it was deleted with.
func (d Deleter) missing(ctx context.Context, b *batch, what string, key store.Key) error {
	items, err := d.Store.Get(ctx, store.Strong, record.TrashKey(key))
	if err != nil {
		return records.Failed(err)
	}
	gone := problem.Conflict.New("The %s that this belongs to no longer exists, so this cannot be restored.", what)
	id := record.DeletionOf(items[0])
	if id == "" {
		return gone
	}
	first, err := records.Require[record.DeletionItem](ctx, d.Store, store.Strong, record.DeletionKey(id), gone)
	if err == nil && first.Kind == record.TaskInTrash {
		_, _, err = d.taskOf(ctx, first) // Nobody can restore the task of a deleted organizer.
	}
	switch {
	case err != nil:
		return err
	case b.byTeam && first.ByOrganizers:
		return problem.Conflict.New("The organizers deleted the %s that this belongs to, so only they can restore it. Ask them.", first.Kind)
	}
	return problem.Conflict.New("The %s that this belongs to was deleted too: restore it first (%s).", first.Kind,
		problem.UndoDeletion.With(id))
}
