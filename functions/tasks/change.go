package tasks

import (
	"context"
	"reflect"

	"assay/shared/api"
	"assay/shared/follow"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/table"
	"assay/shared/visibility"
)

func organizer(ctx context.Context, c *api.Call, d record.TaskDraft) (*record.Organizer, error) {
	return visibility.Find[record.Organizer](ctx, &c.Viewer, d.OrganizerID, record.OrganizerKey)
}

func create(ctx context.Context, c *api.Call, o *record.Organizer, d record.TaskDraft) (api.Created[api.URL], error) {
	if err := checkFeatured(c, false, d.Featured); err != nil {
		return api.Created[api.URL]{}, err
	}
	t := &record.TaskItem{Task: record.Task{Meta: record.NewMeta(c.Now()), TaskDraft: d}}
	created := api.Created[api.URL]{Location: "/v1/tasks/" + t.ID, Answer: api.URL{ID: t.ID, URL: "/v1/tasks/" + t.ID}}
	entry := record.NewAudit(c.Now(), t.Scope(), c.Caller.ID, record.TaskCreated, created.Location, nil, t.Audited())
	created.Tx = new(table.Tx).Create(t).Check(o)
	if err := follow.CountTask(ctx, c.Store, c.Now(), created.Tx, o.ID, 1); err != nil {
		return created, err
	}
	if err := c.Charge(ctx, created.Tx, record.Charge{Kind: record.MadeTasks, Count: 1}); err != nil {
		return created, err
	}
	return created, c.AuditFree(ctx, created.Tx, entry)
}

// checkFeatured refuses a change of `featured` to all but administrators, because featured tasks lead the landing page.
func checkFeatured(c *api.Call, before, after bool) error {
	if before == after || c.Caller.Admin {
		return nil
	}
	return problem.Check([]problem.Field{{Pointer: "/featured", Detail: "is for administrators of the platform alone to change: leave it out, and ask them"}})
}

func change(ctx context.Context, c *api.Call, t *record.TaskItem, d record.TaskDraft) (*record.TaskItem, api.Change, error) {
	if d.OrganizerID != t.OrganizerID {
		return nil, api.Change{}, problem.Check([]problem.Field{{Pointer: "/organizerId", Detail: "never changes"}})
	}
	if err := checkFeatured(c, t.Featured, d.Featured); err != nil {
		return nil, api.Change{}, err
	}
	if t.Deleting {
		return nil, api.Change{}, problem.Conflict.New("The task is being deleted.")
	}
	changed := *t
	changed.TaskDraft = d
	var after func(context.Context)
	if d.Visibility != t.Visibility {
		changed.Follow = &record.Follow{At: record.At(c.Now().Add(follow.Patience))}
		after = c.Follow(follow.Task, t.Key())
	}
	tx := new(table.Tx).Save(&changed, c.Now())
	return &changed, api.Change{Tx: tx, After: after}, audit(ctx, c, tx, t, &changed)
}

func audit(ctx context.Context, c *api.Call, tx *table.Tx, before, after *record.TaskItem) error {
	was, is := before.Audited().TaskRules, after.Audited().TaskRules
	if reflect.DeepEqual(was, is) {
		return nil
	}
	return c.Audit(ctx, tx, record.NewAudit(c.Now(), before.Scope(), c.Caller.ID, record.TaskRulesChanged, "/v1/tasks/"+before.ID, was, is))
}
