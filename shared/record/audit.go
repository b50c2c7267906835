package record

import (
	"encoding/json"
	"time"

	"assay/shared/store"
)

// AuditEntry tells that somebody changed something that others rely on. It is written in the transaction of the change.
type AuditEntry struct {
	Meta
	TaskID  string          `json:"taskId,omitempty" readOnly:"true" doc:"absent when it concerns the organizer, and so all of its tasks"`
	ActorID string          `json:"actorId" readOnly:"true" doc:"the user who did it"`
	Action  string          `json:"action" readOnly:"true" enum:"task.rules-changed,members.changed,registration.created,registration.decided,registration.deleted,dataset.deleted,truth.changed,evaluator.changed,submission.deleted,run.deleted,review.updated" doc:"what was done" example:"review.updated"`
	Subject string          `json:"subject" readOnly:"true" doc:"path of the resource that was changed" example:"/v1/runs/01JZ3V7Q0D8T5RZ0S6R1W9C4XK/review"`
	Before  json.RawMessage `json:"before,omitempty" readOnly:"true" doc:"what it was"`
	After   json.RawMessage `json:"after,omitempty" readOnly:"true" doc:"what it is now"`
	// OrganizerID is set where TaskID is not.
	OrganizerID string `json:"organizerId,omitempty" readOnly:"true" doc:"the organizer, where it concerns all of its tasks"`
}

// maxAuditBytes bounds what an entry keeps of each side, so that the entry stays a small item.
const maxAuditBytes = 100 << 10

// NewAudit returns an entry for the task; before and after are the changed resource, nil where there is none.
func NewAudit(now time.Time, taskID, actorID, action, subject string, before, after any) *AuditEntry {
	return &AuditEntry{Meta: NewMeta(now), TaskID: taskID, ActorID: actorID, Action: action, Subject: subject,
		Before: auditSide(before), After: auditSide(after)}
}

// NewOrganizerAudit returns an entry that concerns all tasks of the organizer.
func NewOrganizerAudit(now time.Time, organizerID, actorID, action, subject string, before, after any) *AuditEntry {
	a := NewAudit(now, "", actorID, action, subject, before, after)
	a.OrganizerID = organizerID
	return a
}

func auditSide(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > maxAuditBytes {
		return json.RawMessage(`"too large to keep"`)
	}
	return b
}

// Key implements Record.
func (a *AuditEntry) Key() store.Key {
	return store.Key{Partition: AuditPartition(a.TaskID + a.OrganizerID), Sort: a.ID} // one of them
}

// AuditPartition holds the audit entries of a task, or of an organizer, in the table itself.
func AuditPartition(id string) string { return "AUDIT#" + id }

// Indexes implements Record.
func (a *AuditEntry) Indexes() [store.NumIndexes]store.Key { return indexes{} }
