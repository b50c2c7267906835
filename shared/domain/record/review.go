package record

import (
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// ReviewDraft holds the members of a review that organizers write.
type ReviewDraft struct {
	Published        bool   `json:"published" doc:"others see the evaluation, unless it is blinded or the dataset withholds scores until the last close"`
	Blinded          bool   `json:"blinded" doc:"not even the team sees the evaluation"`
	Comment          string `json:"comment" maxLength:"65536" doc:"to the team, or of a baseline to its submitter; Markdown"`
	NoErrors         bool   `json:"noErrors"`
	MissingOutput    bool   `json:"missingOutput"`
	ExtraneousOutput bool   `json:"extraneousOutput"`
	InvalidOutput    bool   `json:"invalidOutput"`
	HasErrorOutput   bool   `json:"hasErrorOutput"`
	OtherErrors      bool   `json:"otherErrors"`
}

// Check reports the draft's errors.
func (d *ReviewDraft) Check() []problem.Field {
	fields := checkText("/comment", d.Comment)
	for _, m := range []struct {
		name string
		set  bool
	}{
		{"missingOutput", d.MissingOutput}, {"extraneousOutput", d.ExtraneousOutput}, {"invalidOutput", d.InvalidOutput},
		{"hasErrorOutput", d.HasErrorOutput}, {"otherErrors", d.OtherErrors},
	} {
		fields.AddIf(m.set && d.NoErrors, "/"+m.name, "contradicts {noErrors}: only one of the two can hold")
	}
	return fields
}

// Review is the organizers' verdict on a run.
type Review struct {
	Meta                // ID is a ULID of its own
	RunID      string   `json:"runId"`
	ReviewerID string   `json:"reviewerId,omitempty" doc:"who changed it last"`
	Reviewer   *Person  `json:"reviewer,omitempty" doc:"who that is; for organizers"`
	ReviewedAt *Instant `json:"reviewedAt,omitempty"`
	ReviewDraft
	Notice   string `json:"notice,omitempty" doc:"which parts of the published results others do not see, and why"`
	Audience string `json:"audience,omitempty" enum:"everyone,registrants,team,organizers" doc:"who sees the results of the run now, as in its evaluations; absent while it has none, or none that the caller sees"`
	// Diagnostics are the run's. They are not stored with the review.
	Diagnostics []measure.Diagnostic `json:"diagnostics,omitempty" doc:"all that is wrong with the run, also what its team is not shown while it is blinded; for organizers"`
}

// ReviewItem is a stored review.
type ReviewItem struct {
	Review
	OrganizerID string `json:"organizerId"`
	TaskID      string `json:"taskId"`
	UserID      string `json:"userId"` // the run's owner

	Run *RunItem `json:"-"` // nil unless it was read too
}

// AuditedReview is the part of a review that audit entries keep.
type AuditedReview struct {
	RunIdentity
	ReviewDraft
}

// Audited returns the part of the review that audit entries keep. The review's run must have been read.
func (r *ReviewItem) Audited() AuditedReview { return AuditedReview{r.Run.identity(), r.ReviewDraft} }

// Key implements Record.
func (r *ReviewItem) Key() store.Key { return ReviewKey(r.RunID) }

// ReviewKey returns the key of a run's review.
func ReviewKey(runID string) store.Key { return keyOf(KindRun, runID, "REVIEW") }

// notice says which parts of a published review's results others do not see. It returns "" for other reviews.
func (r *ReviewItem) notice(sight Sight) string {
	if !r.Published || r.Run == nil {
		return ""
	}
	s, state := r.Run.Access, r.Run.State
	switch {
	case (state == Failed || state == Cancelled) && r.Run.ListedID() == "":
		return "The review is published, but the run " + map[RunState]string{Failed: "failed", Cancelled: "was cancelled"}[state] +
			", so leaderboards show nothing of it."
	case !sight.rules.Wait(access.Registrants, sight.now).Over:
		return r.columnsNotice(sight)
	case r.Blinded:
		return "The review is published, but the run is blinded, so nobody except the organizers sees its evaluation. Set blinded to false to " +
			"show it."
	}
	notice := ""
	if state == Failed {
		notice = "The run has failed against the changed ground truth: leaderboards show its earlier result until they show the results " +
			"against that truth, and nothing of it from then on. "
	}
	switch {
	case s.Anonymous && s.Public:
		notice += "The team is anonymous, so others are shown the alias " + s.Alias +
			" without team, affiliation, title, description, label, run tag and paper. The values, diagnostics, logs and files of the run are " +
			"shown, and what stands in them can name the team."
	case s.Anonymous:
		notice += "The team is anonymous and the submission private, so leaderboards show the values under the alias " + s.Alias +
			" without team, affiliation, title, label, run tag and paper. Others see neither the submission nor the diagnostics, logs and files " +
			"of the run."
	case !s.Public:
		notice += "The review is published, but the submission is private, so leaderboards show the values and the team without title, label, " +
			"run tag and paper. Those who submitted it can make the submission public to show them."
	}
	return strings.TrimSpace(notice)
}

// columnsNotice is the notice of a published review while no column of the dataset is shown to others than the team and the organizers.
func (r *ReviewItem) columnsNotice(sight Sight) string {
	insiders := "the organizers"
	if sight.rules.Wait(access.Owners, sight.now).Over && !r.Blinded {
		insiders = r.Run.insiders()
	}
	wait := sight.rules.Wait(access.Registrants, sight.now)
	said := "The review is published, but "
	if r.Blinded {
		said += "the run is blinded, and "
	}
	if wait.Never {
		return said + "the dataset shows no column to others: only " + insiders + " see the evaluation."
	}
	until := wait.Condition()
	if r.Blinded {
		until += " and blinded is false"
	}
	return said + "the dataset shows no column to others before: only " + insiders + " see the evaluation until " + until + "."
}

// For returns the review that a caller sees who sees s of the run.
func (r *ReviewItem) For(s Sight) Review {
	v := r.Review
	v.Notice = r.notice(s)
	if r.Run != nil && r.Run.ListedID() != "" && s.Entry() {
		v.Audience = audienceNames[s.Audience()]
	}
	if s.roles&(access.Organizer|access.Admin) == 0 {
		return v
	}
	if v.ReviewerID != "" {
		v.Reviewer = PersonIn(r.Scope(), v.ReviewerID)
	}
	if r.Run != nil {
		v.Diagnostics = r.Run.For(s).Diagnostics
	}
	return v
}

// Scope returns the scope of the review: the run's team and the organizers. Only the run names the team, so without it the scope has
// only the owner.
func (r *ReviewItem) Scope() access.Scope {
	if r.Run != nil {
		return r.Run.Access.scope(r.TaskID, r.UserID, access.Owners)
	}
	return access.Scope{OrganizerID: r.OrganizerID, TaskID: r.TaskID, OwnerID: r.UserID, Audience: access.Owners}
}
