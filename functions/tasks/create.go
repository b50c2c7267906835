package tasks

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

func organizer(ctx context.Context, c *api.Call, d record.TaskDraft) (*record.Organizer, error) {
	return visibility.Find[record.Organizer](ctx, &c.Viewer, d.OrganizerID, record.OrganizerKey)
}

func create(ctx context.Context, c *api.Call, o *record.Organizer, d record.TaskDraft) (path string, made api.URL, err error) {
	if err := checkFeatured(c, false, d.Featured); err != nil {
		return "", made, err
	}
	t := &record.TaskItem{Task: record.Task{Meta: record.NewMeta(c.Now()), TaskDraft: d}, Payer: o.Payer}
	if err := t.NumberTerms(nil); err != nil {
		return "", made, err
	}
	path = "/v1/tasks/" + t.ID
	c.Tx.Create(t).Check(o)
	if closing := t.ClosingEvent(c.Now()); closing != nil {
		c.Tx.Create(closing)
	}
	if err := records.CountTasks(ctx, c.Store, c.Tx, c.Now(), o.ID, 1); err != nil {
		return "", made, err
	}
	if err := c.Charge(ctx, record.Charge{Kind: record.MadeTasks, Count: 1}); err != nil {
		return "", made, err
	}
	return path, api.URL{ID: t.ID, URL: path}, c.AuditFree(ctx, t.Scope(), record.TaskCreated, path, nil, t.Audited())
}
