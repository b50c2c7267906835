// Package deletion deletes resources, brings them back from the trash, and purges them.
//
// DeleteTask, DeleteDataset, DeleteSubmission and DeleteRun move a resource to the trash, from where Restore brings it back for
// record.TrashTime. They add their writes to the transaction of the request. Nothing marks an item in the trash: each one moves to
// another key and out of all indexes, so that code which does not know the trash cannot find it.
//
// A record.DeletionItem, the entry, says what was deleted, and its pending work says what happens to it next. The transaction of the
// request moves what lists show. What does not fit into it is left to Continue, which the request calls after the commit, and the
// evaluator later. Each transaction of Continue requires that the entry is unchanged. Therefore moving, restoring and purging never
// happen at the same time, and each of them can stop at any point and go on later.
//
//	pending work  state            Continue                                        and then
//	MoveToTrash                    moves the rest to the trash                     PurgeTrash; for a task the confirming pass
//	MoveToTrash   confirming pass  moves what lists of the task did not have yet   PurgeTrash
//	RestoreTrash                   moves everything back                           deletes the entry; for a task: decided.
//	                                                                               If it is refused: MoveToTrash
//	RestoreTrash  decided          moves back what the index did not have yet      deletes the entry
//	PurgeTrash                     at ExpiresAt begins to purge                    decided
//	PurgeTrash    decided          deletes items and files                         deletes the entry
//
// The request that deletes a task moves the task itself, so that from then on nothing below its path is found. Its contents follow within
// minutes: grants, so that its teams lose their rights, then runs, submissions and datasets. A run goes before the records that its
// evaluation reads, and comes back after them; otherwise it would fail while it waits. Until their turn comes, contents of a large task can
// still be read by their ids.
//
// Items in the trash count in the quota of stored bytes until they are purged. The quota of their task does not change. Versions of
// items continue, so that a change which was decided before a deletion does not apply to the restored item.
//
// Organizers and users do not move to the trash. DeleteOrganizer deletes an organizer without tasks. DeleteUser begins the deletion of a
// user, and ContinueUser ends it. Registrations end in package team, with the allowances of their members.
//
// Package propagation copies access attributes to existing records. A restored resource takes the current attributes in the transaction
// that brings it back.
package deletion

import (
	"context"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// page is how many records are read at once.
const page = 100

// Deleter deletes and restores in a store. Only purging and the deletion of users need Files.
type Deleter struct {
	Store store.Store
	Files blob.Store
	Now   func() time.Time
	// WaitingRuns is the greatest number of unfinished runs of a team in a task with which RestoreForTeam restores more, and of unfinished
	// baselines of a user with which Restore restores another one; 0 means no limit.
	WaitingRuns int
	// OutcomeOnly makes Restore and RestoreForTeam read no evaluations and no other contents, which can be large and decide neither on the
	// error nor on the runs without their mark. The caller must not commit the transaction then.
	OutcomeOnly bool
}

// Continue does the due part of the pending work of the entry with the key. Requests call it after the commit.
func (d Deleter) Continue(ctx context.Context, key store.Key) error {
	return records.Retry(ctx, func() error {
		entry, err := records.Get[record.DeletionItem](ctx, d.Store, store.Strong, key)
		if err != nil || entry == nil {
			return err
		}
		work := entry.PendingWork
		switch {
		case work.State != "" && work.NotBefore.After(d.Now()):
			return nil
		case work.Is(record.MoveToTrash):
			return d.move(ctx, entry)
		case work.Is(record.RestoreTrash):
			return d.resumeRestore(ctx, entry)
		case entry.Over() || !entry.ExpiresAt.After(d.Now()):
			return d.purge(ctx, entry)
		}
		return nil
	})
}

// move moves the rest of a deleted resource to the trash. For a task, a confirming pass moves what lists did not have yet.
func (d Deleter) move(ctx context.Context, entry *record.DeletionItem) error {
	if entry.Kind != record.TaskInTrash {
		if err := d.moveRuns(ctx, entry); err != nil {
			return err
		}
		return d.schedule(ctx, entry, record.PurgeTrash, entry.ExpiresAt.Time, "")
	}
	if err := d.moveTask(ctx, entry); err != nil {
		return err
	}
	if entry.PendingWork.State != record.ConfirmingPass {
		return d.schedule(ctx, entry, record.MoveToTrash, d.Now().Add(record.RequestTime), record.ConfirmingPass)
	}
	return d.schedule(ctx, entry, record.PurgeTrash, entry.ExpiresAt.Time, "")
}

// schedule gives the entry other pending work.
func (d Deleter) schedule(ctx context.Context, entry *record.DeletionItem, kind record.PendingKind, at time.Time,
	state record.PendingState) error {
	entry.PendingWork = &record.PendingWork{Kind: kind, NotBefore: record.At(at), State: state}
	return new(records.Tx).Replace(entry).Commit(ctx, d.Store)
}
