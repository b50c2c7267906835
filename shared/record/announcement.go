package record

import (
	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/store"
)

// AnnouncementDraft is what an organizer writes of an announcement.
type AnnouncementDraft struct {
	Title string `json:"title" minLength:"1" maxLength:"200" doc:"one line" example:"The test topics are there"`
	Body  string `json:"body" required:"false" maxLength:"65536" doc:"Markdown"`
}

// Check says what is wrong with the draft.
func (d *AnnouncementDraft) Check() []problem.Field {
	return append(checkName("/title", d.Title), checkText("/body", d.Body)...)
}

// Announcement is what organizers tell all who see a task.
type Announcement struct {
	Meta
	TaskID string `json:"taskId"`
	AnnouncementDraft

	Task *TaskItem `json:"-"` // where it was read too
}

// AnnouncementPrefix begins the sort keys of a task's announcements; AnnouncementEnd is past the last of them.
const (
	AnnouncementPrefix = "ANNOUNCEMENT#"
	AnnouncementEnd    = "ANNOUNCEMENT$"
)

// AnnouncementKey is the key of the announcement.
func AnnouncementKey(taskID, id string) store.Key {
	return keyOf(KindTask, taskID, AnnouncementPrefix+id)
}

// Key implements Record.
func (a *Announcement) Key() store.Key { return AnnouncementKey(a.TaskID, a.ID) }

// Scope is that of the task.
func (a *Announcement) Scope() access.Scope {
	if a.Task == nil {
		return access.Scope{}
	}
	return a.Task.Scope()
}

// WidestScope returns the scope of one of a public task, which most callers see.
func (*Announcement) WidestScope() access.Scope { return new(TaskItem).Scope() }
