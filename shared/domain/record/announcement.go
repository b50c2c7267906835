package record

import (
	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// AnnouncementDraft holds the members of an announcement that organizers write.
type AnnouncementDraft struct {
	Title string `json:"title" minLength:"1" maxLength:"200" doc:"one line" example:"The test topics are available"`
	Body  string `json:"body" required:"false" maxLength:"65536" doc:"Markdown"`
}

// Check reports the draft's errors.
func (d *AnnouncementDraft) Check() []problem.Field {
	return append(checkName("/title", d.Title), checkText("/body", d.Body)...)
}

// Announcement is a message of organizers to everyone who sees a task.
type Announcement struct {
	Meta
	TaskID string `json:"taskId"`
	AnnouncementDraft

	Task *TaskItem `json:"-"` // nil unless it was read too
}

// AnnouncementPrefix begins the sort keys of a task's announcements. AnnouncementEnd is greater than all of them.
const (
	AnnouncementPrefix = "ANNOUNCEMENT#"
	AnnouncementEnd    = "ANNOUNCEMENT$"
)

// AnnouncementKey returns the key of the announcement.
func AnnouncementKey(taskID, id string) store.Key {
	return keyOf(KindTask, taskID, AnnouncementPrefix+id)
}

// Key implements Record.
func (a *Announcement) Key() store.Key { return AnnouncementKey(a.TaskID, a.ID) }

// Scope returns the scope of the task.
func (a *Announcement) Scope() access.Scope {
	if a.Task == nil {
		return access.Scope{}
	}
	return a.Task.Scope()
}

// WidestScope returns the scope of announcements of public tasks, which most callers see.
func (*Announcement) WidestScope() access.Scope { return new(TaskItem).Scope() }
