package notifications

import (
	"context"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

func listAnnouncements(ctx context.Context, c *api.Call, t *record.TaskItem) (page.Page[*record.Announcement], error) {
	source := records.Source{Partition: record.TaskKey(t.ID).Partition, From: record.AnnouncementPrefix, To: record.AnnouncementEnd}
	return api.PageOf(ctx, c, []records.Source{source}, nil, func(a *record.Announcement) *record.Announcement { return a })
}

// announcement finds the announcement that the path names, and its task.
func announcement(ctx context.Context, c *api.Call) (*record.Announcement, error) {
	taskID, id := c.Param("taskId"), c.Param("announcementId")
	if !record.IsID(taskID) || !record.IsID(id) {
		return nil, visibility.Missing
	}
	var a *record.Announcement
	var t *record.TaskItem
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&a, record.AnnouncementKey(taskID, id)).Or(visibility.Missing),
		records.Into(&t, record.TaskKey(taskID)).Or(visibility.Missing))
	if err != nil {
		return nil, err
	}
	a.Task = t
	return a, nil
}

func showAnnouncement(_ context.Context, _ *api.Call, a *record.Announcement) (*record.Announcement, error) {
	return a, nil
}

func createAnnouncement(ctx context.Context, c *api.Call, t *record.TaskItem, d record.AnnouncementDraft) (path string,
	a *record.Announcement, err error) {
	a = &record.Announcement{Meta: record.NewMeta(c.Now()), TaskID: t.ID, AnnouncementDraft: d, Task: t}
	c.Tx.Create(a).Check(t).Create(record.NewEvent(c.Now(), record.EventAnnouncementPublished, t.Scope(), pathOf(a)))
	return pathOf(a), a, c.Audit(ctx, t.Scope(), record.AnnouncementCreated, pathOf(a), nil, d)
}

func pathOf(a *record.Announcement) string { return "/v1/tasks/" + a.TaskID + "/announcements/" + a.ID }

func changeAnnouncement(ctx context.Context, c *api.Call, a *record.Announcement, d record.AnnouncementDraft) (*record.Announcement,
	error) {
	changed := *a
	changed.AnnouncementDraft = d
	c.Tx.Save(&changed, c.Now())
	return &changed, c.Audit(ctx, a.Scope(), record.AnnouncementChanged, pathOf(a), a.AnnouncementDraft, d)
}

func removeAnnouncement(ctx context.Context, c *api.Call, a *record.Announcement) error {
	c.Tx.Delete(a)
	return c.Audit(ctx, a.Scope(), record.AnnouncementDeleted, pathOf(a), a.AnnouncementDraft, nil)
}
