package record

import (
	"encoding/json"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
)

// AuditEntry records a change that others rely on. The transaction of the change writes the entry. Only Anonymize changes an entry,
// which outlives its subject. It stores only the IDs of people; names are read when the entry is shown.
type AuditEntry struct {
	Meta
	OrganizerID string          `json:"organizerId" doc:"the organizer, or the organizer of the task, dataset and so on"`
	TaskID      string          `json:"taskId,omitempty" doc:"absent when it concerns the organizer, and so all of its tasks"`
	ActorID     string          `json:"actorId" doc:"the user who did it"`
	Actor       *Person         `json:"actor,omitempty" doc:"who that is"`
	Action      string          `json:"action" enum:"organizer.created,members.changed,owners.changed,invitation.created,invitation.withdrawn,task.created,task.rules-changed,task.deleted,dataset.created,dataset.changed,truth.changed,evaluator.changed,board.released,dataset.deleted,registration.created,registration.changed,registration.decided,registration.deleted,exception.granted,exception.withdrawn,submission.created,submission.changed,submission.deleted,run.changed,run.deleted,deletion.undone,review.updated,user.deleted,announcement.created,announcement.changed,announcement.deleted,webhook.created,webhook.changed,webhook.deleted" doc:"what was done" example:"review.updated"`
	Subject     string          `json:"subject" doc:"path of the resource, which may have been deleted since" example:"/v1/runs/01JZ3V7Q0D8T5RZ0S6R1W9C4XK/review"`
	UserIDs     []string        `json:"userIds,omitempty" doc:"the users whom it concerns: the owner of the registration, submission or run, or the members who came and went"`
	Users       []*Person       `json:"users,omitempty" doc:"who those are"`
	Before      json.RawMessage `json:"before,omitempty" doc:"the resource before the change; for members, the users who left"`
	After       json.RawMessage `json:"after,omitempty" doc:"the resource after the change; for members, the users who joined"`
}

// The actions of audit entries.
const (
	OrganizerCreated    = "organizer.created"
	MembersChanged      = "members.changed"
	OwnersChanged       = "owners.changed"
	InvitationCreated   = "invitation.created"
	InvitationWithdrawn = "invitation.withdrawn"
	TaskCreated         = "task.created"
	TaskRulesChanged    = "task.rules-changed"
	TaskDeleted         = "task.deleted"
	DatasetCreated      = "dataset.created"
	DatasetChanged      = "dataset.changed"
	TruthChanged        = "truth.changed"
	EvaluatorChanged    = "evaluator.changed"
	BoardReleased       = "board.released"
	DatasetDeleted      = "dataset.deleted"
	RegistrationCreated = "registration.created"
	RegistrationChanged = "registration.changed"
	RegistrationDecided = "registration.decided"
	RegistrationDeleted = "registration.deleted"
	ExceptionGranted    = "exception.granted"
	ExceptionWithdrawn  = "exception.withdrawn"
	SubmissionCreated   = "submission.created"
	SubmissionChanged   = "submission.changed"
	SubmissionDeleted   = "submission.deleted"
	RunChanged          = "run.changed"
	RunDeleted          = "run.deleted"
	Restored            = "deletion.undone"
	ReviewUpdated       = "review.updated"
	UserDeleted         = "user.deleted"
	WebhookCreated      = "webhook.created"
	WebhookChanged      = "webhook.changed"
	WebhookDeleted      = "webhook.deleted"
	AnnouncementCreated = "announcement.created"
	AnnouncementChanged = "announcement.changed"
	AnnouncementDeleted = "announcement.deleted"
)

// maxAuditBytes is the greatest size of each of Before and After, so that an entry stays a small item.
const maxAuditBytes = 100 << 10

// NewAudit returns an entry about a resource in the scope. It concerns the resource's owner and the users. before and after are the
// audited parts of the resource, or nil if it did not exist. They must name people only by their IDs.
func NewAudit(now time.Time, of access.Scope, actorID, action, subject string, before, after any, users ...string) *AuditEntry {
	a := &AuditEntry{Meta: NewMeta(now), OrganizerID: of.OrganizerID, TaskID: of.TaskID, ActorID: actorID, Action: action, Subject: subject,
		UserIDs: users, Before: auditSide(before), After: auditSide(after)}
	if of.OwnerID != "" {
		a.UserIDs = append([]string{of.OwnerID}, users...)
	}
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
	return store.Key{Partition: AuditPartition(a.OrganizerID), Sort: a.ID}
}

// AuditPartition returns the partition of the table with the audit entries of an organizer and its tasks.
func AuditPartition(organizerID string) string { return "AUDIT#" + organizerID }

// Indexes implements Record. The entries serve the list of a task, and the list of an organizer's entries without a task. Otherwise
// both would have to search all entries of the organizer.
func (a *AuditEntry) Indexes() [store.NumIndexes]store.Key {
	if a.TaskID != "" {
		return indexes{}.in(KindTask, a.TaskID, KindAudit, access.Organizers, a.ID)
	}
	return indexes{}.in(KindOrganizer, a.OrganizerID, KindAudit, access.Organizers, a.ID)
}

// Named returns the entry that organizers see, with the people that it names.
func (a *AuditEntry) Named() *AuditEntry {
	v, in := *a, access.Scope{OrganizerID: a.OrganizerID, TaskID: a.TaskID}
	v.Actor = PersonIn(in, a.ActorID)
	v.Users = lists.Map(a.UserIDs, func(id string) *Person { return PersonIn(in, id) })
	return &v
}
