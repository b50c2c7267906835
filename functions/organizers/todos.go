package organizers

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// listTodos lists the open work of the organizer. Runs are in another index than registrations and events.
func listTodos(ctx context.Context, c *api.Call, o *record.Organizer) (p page.Page[*record.Todo], err error) {
	selection := records.Selection{Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	if wants(c, record.TodoRegistrationPending) || wants(c, record.TodoWorkersMissing) {
		selection.Sources = append(selection.Sources,
			records.Partition(record.List(record.KindOrganizer, o.ID, record.KindTodo, access.Organizers)))
	}
	if wants(c, record.TodoRunUnreviewed) || wants(c, record.TodoRunFailed) {
		selection.Sources = append(selection.Sources, records.Partition(record.ByWork, record.TodoRuns(o.ID)))
	}
	keep := func(t *record.Todo) bool { return t != nil && wants(c, t.Kind) && c.Page.Matches("taskId", t.TaskID) }
	decode := func(it store.Item) (*record.Todo, error) { return todo(ctx, c, it) }
	p.Cursor, err = records.ListItems(ctx, c.Store, selection, decode, keep, p.Add)
	if err == nil && len(p.Data) > 0 {
		err = nameTasks(ctx, c, &p)
	}
	return p, err
}

// wants reports whether the caller asks for entries of the kind.
func wants(c *api.Call, k record.TodoKind) bool { return c.Page.Matches("kind", string(k)) }

// todo returns the open work of an item, or nil if it is done.
func todo(ctx context.Context, c *api.Call, it store.Item) (*record.Todo, error) {
	switch {
	case record.IsRun(it.Key):
		r, err := records.Decode[record.RunItem](it)
		if err != nil {
			return nil, err
		}
		return r.Todo(), nil
	case record.IsEvent(it.Key):
		e, err := records.Decode[record.Event](it)
		if err != nil || !e.CreatedAt.Add(record.Day+record.WorkersNotice).After(c.Now()) { // The event of the next day replaces it.
			return nil, err
		}
		var run *record.RunItem
		var serving *record.Serving
		err = records.Read(ctx, c.Store, store.Eventual, records.Into(&run, record.RunKey(e.RunID)),
			records.Into(&serving, record.ServingKey()))
		if err != nil || run == nil || serving.Serves(run.Subqueue(), c.Now()) {
			return nil, err
		}
		return run.TodoUnserved(), nil
	default:
		r, err := records.Decode[record.RegistrationItem](it)
		if err != nil {
			return nil, err
		}
		return r.Todo(), nil
	}
}

// nameTasks fills in the names of the tasks.
func nameTasks(ctx context.Context, c *api.Call, p *page.Page[*record.Todo]) error {
	ids := slices.Compact(slices.Sorted(slices.Values(lists.Map(p.Data, func(t *record.Todo) string { return t.TaskID }))))
	tasks, err := records.GetExisting[record.TaskItem](ctx, c.Store, store.Eventual, ids, record.TaskKey)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, t := range tasks {
		names[t.ID] = t.Name
	}
	for _, t := range p.Data {
		t.TaskName = names[t.TaskID]
	}
	return p.Render()
}
