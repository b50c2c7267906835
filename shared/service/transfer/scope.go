package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// page is how many records are read at once.
const page = 100

// readPart adds the organizer of the scope, or of its task, with members, tasks and audit entries. Then it adds the profiles of all
// users that these records name.
func (e *Export) readPart(ctx context.Context) {
	id := e.Scope.Organizer
	tasks := []string{e.Scope.Task}
	audit := records.Of(record.KindTask, e.Scope.Task, record.KindAudit)
	if e.Scope.Task != "" {
		t, err := records.Require[record.TaskItem](ctx, e.Store, store.Strong, record.TaskKey(e.Scope.Task),
			fmt.Errorf("there is no task %q", e.Scope.Task))
		if e.failed(err) {
			return
		}
		id = t.OrganizerID
	} else {
		tasks, audit = e.tasksOf(ctx, id), []records.Source{records.AuditEntries(id)}
	}
	o, err := records.Require[record.Organizer](ctx, e.Store, store.Strong, record.OrganizerKey(id),
		fmt.Errorf("there is no organizer %q", id))
	if e.failed(err) {
		return
	}
	e.get(ctx, append(records.Keys(o.Members, func(user string) store.Key { return record.MembershipKey(user, id) }), o.Key())...)
	for _, task := range tasks {
		e.task(ctx, task)
	}
	e.each(ctx, audit, func(it store.Item) { e.add(ctx, it) })
	e.get(ctx, records.Keys(slices.Sorted(maps.Keys(e.named)), record.UserKey)...)
}

func (e *Export) tasksOf(ctx context.Context, organizerID string) (ids []string) {
	e.each(ctx, records.Of(record.KindOrganizer, organizerID, record.KindTask), func(it store.Item) {
		ids = append(ids, it.Entry(record.ByOrganizer).Sort)
	})
	return ids
}

// task adds a task and everything below it, except audit entries.
func (e *Export) task(ctx context.Context, id string) {
	e.each(ctx, []records.Source{{Partition: record.TaskKey(id).Partition}}, func(it store.Item) {
		if r, ok := e.add(ctx, it).(*record.RegistrationItem); ok {
			e.get(ctx, r.GrantKeys()...)
		}
	})
	below := records.Of(record.KindTask, id, record.KindDataset)
	below = slices.Concat(below, records.Of(record.KindTask, id, record.KindSubmission), records.Of(record.KindTask, id, record.KindRun))
	e.each(ctx, below, func(it store.Item) {
		e.each(ctx, []records.Source{{Partition: it.Partition}}, func(it store.Item) {
			if r, ok := e.add(ctx, it).(*record.RunItem); ok { // lists do not have all evaluations of a run
				for _, id := range r.Evaluations {
					e.each(ctx, []records.Source{{Partition: record.EvaluationKey(id).Partition}}, func(it store.Item) { e.add(ctx, it) })
				}
			}
		})
	})
}

// get adds the items with the keys that exist.
func (e *Export) get(ctx context.Context, keys ...store.Key) {
	for some := range slices.Chunk(keys, store.MaxKeys) {
		items, err := e.Store.Get(ctx, store.Strong, some...)
		if e.failed(err) {
			return
		}
		for _, it := range items {
			if it.Exists() {
				e.add(ctx, it)
			}
		}
	}
}

// each calls do with every item of the sources.
func (e *Export) each(ctx context.Context, sources []records.Source, do func(store.Item)) {
	for _, s := range sources {
		q := store.Query{Index: s.Index, Partition: s.Partition, Limit: page, MaxBytes: store.ScanBytes, Consistency: store.Strong}
		for it, err := range records.Items(ctx, e.Store, q) {
			if e.failed(err) {
				return
			}
			do(it)
		}
	}
}
