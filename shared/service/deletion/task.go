package deletion

import (
	"context"
	"slices"
	"strings"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

var errTaskUsed = problem.Conflict.New("The task has submissions. Make it private, or delete it with them: %s with "+
	"{?name}, which is the name of the task.", problem.DeleteTask.With().Query("with", "submissions"))

// DeleteTask adds to tx that a user moves the task to the trash with everything in it. A task with submissions stays unless
// withSubmissions is true: then the error is a Conflict. The caller calls Continue with the key of the entry after the commit. Contents
// that other requests add meanwhile go with the task.
func (d Deleter) DeleteTask(ctx context.Context, tx *records.Tx, t *record.TaskItem, by string,
	withSubmissions bool) (*record.DeletionItem, error) {
	if !withSubmissions {
		counts := func(a *record.Allowance) bool { return a.Submissions > 0 || len(a.Runs) > 0 }
		submissions := records.Of(record.KindTask, t.ID, record.KindSubmission)
		if err := d.checkUnused(ctx, t.ID, counts, submissions, errTaskUsed); err != nil {
			return nil, err
		}
	}
	path := "/v1/tasks/" + t.ID
	entry := record.NewDeletion(d.Now(), record.TaskInTrash, t.ID, path, t.Name, t.Scope(), by, false)
	entry.PendingWork = record.NewPendingWork(record.MoveToTrash, d.Now().Add(record.RequestTime))
	tx.Create(entry).Create(record.NewAudit(d.Now(), t.Scope(), by, record.TaskDeleted, path, t.Audited(), nil))
	if err := records.CountTasks(ctx, d.Store, tx, d.Now(), t.OrganizerID, -1); err != nil {
		return nil, err
	}
	return entry, (&batch{Tx: tx, entry: entry}).record(t, (*batch).out)
}

// moveTask moves the contents of a deleted task to the trash. Registrations go first, with their grants: submissions require an unchanged
// grant, so that no more are made. In the trash, the grants tell members that the task was deleted.
func (d Deleter) moveTask(ctx context.Context, entry *record.DeletionItem) error {
	return records.EachInTask(ctx, d.Store, entry.ResourceID, func(items []store.Item) error {
		return d.moveAll(ctx, entry, items, func(b *batch, it store.Item) error {
			if strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
				if err := b.grantsOut(it, d.Now()); err != nil {
					return err
				}
			}
			return b.out(it)
		})
	})
}

// grantsOut moves the grants of the members of a registration to the trash.
func (b *batch) grantsOut(registration store.Item, now time.Time) error {
	r, err := records.Decode[record.RegistrationItem](registration)
	if err != nil {
		return err
	}
	b.DeleteKeys(r.GrantKeys()...)
	for _, id := range r.Members {
		grant, err := record.Item(r.Grant(id, false, now))
		if err == nil {
			grant, err = record.Trash(grant, b.entry.ID)
		}
		if err != nil {
			return err
		}
		b.Write(store.Create(grant))
	}
	return nil
}

// DeletedTask is a task in the trash that a user was registered for.
type DeletedTask struct {
	*record.TaskItem
	Grant *record.Registered
	// RestorableUntil is nil if nobody can restore the task any more: its organizer was deleted, or it is being purged.
	RestorableUntil *record.Instant
}

// maxDeletedTasks is how many deleted tasks one call of DeletedTasks returns at most.
const maxDeletedTasks = 100

// DeletedTasks returns tasks in the trash that the user was registered for.
func DeletedTasks(ctx context.Context, s store.Store, userID string) ([]DeletedTask, error) {
	in := bin{Store: s}
	items, err := in.Query(ctx, store.Query{Partition: record.UserPartition(userID), Limit: maxDeletedTasks})
	if err != nil || len(items) == 0 {
		return nil, records.Failed(err)
	}
	var grants []*record.Registered
	for _, it := range items {
		g, err := records.Decode[record.Registered](it)
		if err != nil {
			return nil, err
		}
		grants = append(grants, g)
	}
	keys := records.Keys(lists.Map(grants, func(g *record.Registered) string { return g.TaskID }), record.TaskKey)
	trashed, err := records.GetItems(ctx, s, store.Eventual, lists.Map(keys, record.TrashKey)...)
	if err != nil {
		return nil, err
	}
	entries := make([]*record.DeletionItem, len(trashed))
	organizers := make([]*record.Organizer, len(trashed))
	all := make([]DeletedTask, len(trashed))
	var wanted []records.Target
	for i, it := range trashed {
		if !it.Exists() {
			continue
		}
		former, err := record.Untrash(it)
		if err != nil {
			return nil, err
		}
		all[i].Grant = grants[i]
		if all[i].TaskItem, err = records.Decode[record.TaskItem](former); err != nil {
			return nil, err
		}
		wanted = append(wanted, records.Into(&organizers[i], record.OrganizerKey(all[i].OrganizerID)),
			records.Into(&entries[i], record.DeletionKey(record.DeletionOf(it))))
	}
	if err := records.Read(ctx, s, store.Eventual, wanted...); err != nil {
		return nil, err
	}
	for i, entry := range entries {
		if entry != nil && !entry.Over() && organizers[i] != nil {
			all[i].RestorableUntil = &entry.ExpiresAt
		}
	}
	return slices.DeleteFunc(all, func(t DeletedTask) bool { return t.TaskItem == nil }), nil
}

// checkUnused returns the error used if an allowance of the task counts a dependent of the deleted resource, or if one of the sources has
// an entry.
func (d Deleter) checkUnused(ctx context.Context, taskID string, counts func(*record.Allowance) bool, sources []records.Source,
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
	for _, source := range sources {
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

// eachInTask calls do with every item of the partition of a task. It reads strongly consistent, so that it finds every earlier write.
func (d Deleter) eachInTask(ctx context.Context, taskID string, do func(store.Item) error) error {
	q := store.Query{Partition: record.TaskKey(taskID).Partition, Limit: page, Consistency: store.Strong}
	return records.EachItem(ctx, d.Store, q, do)
}
