package record

import (
	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/store"
)

// ReviewDraft is what an organizer writes of a review.
type ReviewDraft struct {
	Published        bool   `json:"published" doc:"others see the evaluation, unless it is blinded"`
	Blinded          bool   `json:"blinded" doc:"not even the owner sees the evaluation"`
	Comment          string `json:"comment" maxLength:"65536" doc:"to the owner; Markdown"`
	NoErrors         bool   `json:"noErrors"`
	MissingOutput    bool   `json:"missingOutput"`
	ExtraneousOutput bool   `json:"extraneousOutput"`
	InvalidOutput    bool   `json:"invalidOutput"`
	HasErrorOutput   bool   `json:"hasErrorOutput"`
	OtherErrors      bool   `json:"otherErrors"`
}

// Check says what is wrong with the draft.
func (d *ReviewDraft) Check() []problem.Field { return checkText("/comment", d.Comment) }

// Review is the organizers' verdict on a run.
type Review struct {
	Meta                // ID is a ULID of its own
	RunID      string   `json:"runId" readOnly:"true"`
	ReviewerID string   `json:"reviewerId,omitempty" readOnly:"true" doc:"who changed it last"`
	ReviewedAt *Instant `json:"reviewedAt,omitempty" readOnly:"true"`
	ReviewDraft
}

// ReviewItem is a review as the store holds it.
type ReviewItem struct {
	Review
	OrganizerID string `json:"organizerId"`
	TaskID      string `json:"taskId"`
	UserID      string `json:"userId"` // the run's owner
}

// Key implements Record.
func (r *ReviewItem) Key() store.Key { return ReviewKey(r.RunID) }

// ReviewKey is where a run's review stands in the table.
func ReviewKey(runID string) store.Key { return store.Key{Partition: "RUN#" + runID, Sort: "REVIEW"} }

// Indexes implements Record: a review is reached through its run alone.
func (r *ReviewItem) Indexes() [store.NumIndexes]store.Key { return indexes{} }

// Scope says where the review stands: between the run's owner and the organizers.
func (r *ReviewItem) Scope() access.Scope {
	return access.Scope{OrganizerID: r.OrganizerID, TaskID: r.TaskID, OwnerID: r.UserID, Audience: access.Owners}
}
