package record

import "assay/shared/access"

// AccessAttributes are copied to everything below a task from the task, the submission, the registration and the review, so
// that one read decides who may see a record. When one of those changes, package propagation updates the copies.
type AccessAttributes struct {
	OrganizerID string `json:"organizerId"`
	PrivateTask bool   `json:"privateTask,omitempty"`
	Public      bool   `json:"public,omitempty"`    // the submission is public
	Anonymous   bool   `json:"anonymous,omitempty"` // the registration shows its alias
	Alias       string `json:"alias,omitempty"`
	Published   bool   `json:"published,omitempty"` // of the review
	Blinded     bool   `json:"blinded,omitempty"`   // of the review
	Baseline    bool   `json:"baseline,omitempty"`  // the submission is a baseline
	Title       string `json:"title,omitempty"`     // of the submission
	PaperURL    string `json:"paperUrl,omitempty"`  // of the submission
	Affiliation string `json:"affiliation,omitempty"`
}

// taskAudience is the widest audience of anything in the task.
func (s AccessAttributes) taskAudience() access.Audience {
	if s.PrivateTask {
		return access.Registrants
	}
	return access.Everyone
}

// submissionAudience is who sees a submission and its runs.
func (s AccessAttributes) submissionAudience() access.Audience {
	if s.Public {
		return s.taskAudience()
	}
	return access.Owners
}

// Shown reports whether the review lets others than owner and organizers see results.
func (s AccessAttributes) Shown() bool { return s.Published && !s.Blinded }

// evaluationAudience is who sees an evaluation: the review decides, not the submission.
func (s AccessAttributes) evaluationAudience() access.Audience {
	switch {
	case s.Shown():
		return s.taskAudience()
	case s.Blinded:
		return access.Organizers
	default:
		return access.Owners
	}
}
