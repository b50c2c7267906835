package tasks

import (
	"context"
	"reflect"

	"assay/shared/api"
	"assay/shared/follow"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/visibility"
)

func organizer(ctx context.Context, c *api.Call, d record.TaskDraft) (*record.Organizer, error) {
	return visibility.Find[record.Organizer](ctx, &c.Viewer, d.OrganizerID, record.OrganizerKey)
}

func create(ctx context.Context, c *api.Call, o *record.Organizer, d record.TaskDraft) (path string, made api.URL, err error) {
	if err := checkFeatured(c, false, d.Featured); err != nil {
		return "", made, err
	}
	t := &record.TaskItem{Task: record.Task{Meta: record.NewMeta(c.Now()), TaskDraft: d}}
	path = "/v1/tasks/" + t.ID
	c.Tx.Create(t).Check(o)
	if err := follow.CountTask(ctx, c.Store, c.Now(), c.Tx, o.ID, 1); err != nil {
		return "", made, err
	}
	if err := c.Charge(ctx, record.Charge{Kind: record.MadeTasks, Count: 1}); err != nil {
		return "", made, err
	}
	return path, api.URL{ID: t.ID, URL: path}, c.AuditFree(ctx, t.Scope(), record.TaskCreated, path, nil, t.Audited())
}

// checkFeatured refuses a change of `featured` to all but administrators, because featured tasks lead the landing page.
func checkFeatured(c *api.Call, before, after bool) error {
	if before == after || c.Caller.Admin {
		return nil
	}
	return problem.Check([]problem.Field{{Pointer: "/featured", Detail: "is for administrators of the platform alone to change: leave it out, and ask them"}})
}

func change(ctx context.Context, c *api.Call, t *record.TaskItem, d record.TaskDraft) (*record.TaskItem, error) {
	if d.OrganizerID != t.OrganizerID {
		return nil, problem.Check([]problem.Field{{Pointer: "/organizerId", Detail: "never changes"}})
	}
	if err := checkFeatured(c, t.Featured, d.Featured); err != nil {
		return nil, err
	}
	if t.Deleting {
		return nil, problem.Conflict.New("The task is being deleted.")
	}
	changed := *t
	changed.TaskDraft = d
	if d.Visibility != t.Visibility {
		changed.Follow = &record.Follow{At: record.At(c.Now().Add(follow.Patience))}
		c.Follow(follow.Task, t.Key())
	}
	c.Tx.Save(&changed, c.Now())
	was, is := t.Audited().TaskRules, changed.Audited().TaskRules
	if reflect.DeepEqual(was, is) {
		return &changed, nil
	}
	return &changed, c.Audit(ctx, t.Scope(), record.TaskRulesChanged, "/v1/tasks/"+t.ID, was, is)
}
