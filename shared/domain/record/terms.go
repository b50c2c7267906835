package record

import (
	"cmp"

	"assay/shared/language/problem"
)

// Terms are the terms that participants in a task accept. Each text has its own version, so that it is known which text a team
// accepted.
type Terms struct {
	Text    string `json:"text" maxLength:"65536" doc:"Markdown"`
	Version int64  `json:"version" required:"false" minimum:"0" doc:"set by the service: it grows with each change of the text"`
}

// NumberTerms sets the version of the task's terms. A new text gets a new version; an unchanged text keeps the version of before, which
// can be nil.
func (t *TaskItem) NumberTerms(before *Terms) error {
	if t.Terms == nil {
		return nil
	}
	was := cmp.Or(before, new(Terms))
	if given := t.Terms.Version; given != 0 && given != was.Version {
		return problem.InvalidMember("/terms/version", "is set by the service: leave it out")
	}
	numbered := Terms{t.Terms.Text, was.Version}
	if numbered.Text != was.Text {
		t.TermsVersion++
		numbered.Version = t.TermsVersion
	}
	t.Terms = &numbered
	return nil
}

// requiredTerms returns the version of the terms that teams must have accepted, or 0 without terms.
func (t *TaskItem) requiredTerms() int64 { return cmp.Or(t.Terms, new(Terms)).Version }

// Accept records that the team accepts the version of the task's terms. It refuses versions other than the present one.
func (r *RegistrationItem) Accept(t *TaskItem, version int64, now Instant) error {
	switch required := t.requiredTerms(); {
	case version == required && version != 0:
		r.TermsAcceptedAt = &now
	case required == 0 && version != 0:
		return problem.InvalidMember("/acceptedTerms", "goes with a task that has terms, and this one has none: leave it out")
	case version != required:
		return problem.InvalidMember("/acceptedTerms", "must be %d, the version of the terms of the task, once you have read and accept them: "+
			"{terms} of %s has their text, and {terms} of a preview of joining by an invitation", required, problem.GetTask.With(t.ID))
	}
	r.AcceptedTerms = version
	return nil
}

// lacksTerms reports whether the team has not accepted the present terms of the task.
func (r *RegistrationItem) lacksTerms(t *TaskItem) bool {
	required := t.requiredTerms()
	return required != 0 && r.AcceptedTerms != required
}

// Participation says how the team takes part in the task.
func (r *RegistrationItem) Participation(t *TaskItem) Participation {
	return Participation{State: r.State, LacksTerms: r.lacksTerms(t)}
}

// CheckTerms returns a problem if the team has not accepted the present terms of the task.
func (r *RegistrationItem) CheckTerms(t *TaskItem) error {
	if r.lacksTerms(t) {
		required := t.requiredTerms()
		return problem.Forbidden.New("Your team has not accepted the present terms of the task, version %d. Read {terms} of %s. To accept "+
			"them, use %s.",
			required, problem.GetTask.With(t.ID), problem.UpdateRegistration.With(t.ID, r.ID).Setting("acceptedTerms", required))
	}
	return nil
}
