package record

import (
	"assay/shared/access"
	"assay/shared/measure"
)

// knows reports whether one who has the roles may know which user and team stand behind an alias.
func knows(roles access.Role) bool {
	return roles&(access.Owner|access.Organizer|access.Admin) != 0
}

// shownAs returns what one who has the roles is shown of user and team.
func (s Standing) shownAs(roles access.Role, userID, team string) (string, string) {
	if s.Anonymous && !knows(roles) {
		return "", s.Alias
	}
	return userID, team
}

// For returns the submission as one who has the roles sees it.
func (s *SubmissionItem) For(roles access.Role) Submission {
	v := s.Submission
	v.UserID, v.Team = s.Standing.shownAs(roles, s.UserID, s.Team)
	return v
}

// For returns the run as one who has the roles sees it, save the links of its files. Its evaluation is named only to
// those who may see that. What running and evaluating it told is for its owner and the organizers, until the review shows
// it to all; while the run is blinded, for the organizers and, as far as the owner needs it to do better, for the owner.
func (r *RunItem) For(roles access.Role) Run {
	v := r.Run
	if v.Files == nil {
		v.Files = []File{}
	}
	if v.Diagnostics == nil {
		v.Diagnostics = []measure.Diagnostic{}
	}
	v.UserID, v.Team = r.Standing.shownAs(roles, r.UserID, r.Team)
	if !access.Sees(roles, r.Standing.evaluationAudience()) {
		v.EvaluationID = ""
	}
	switch {
	case roles&(access.Organizer|access.Admin) != 0:
	case !knows(roles) && !r.Standing.Shown():
		v.LogTail, v.Diagnostics = "", []measure.Diagnostic{}
	case r.Standing.Blinded:
		v.LogTail = ""
		if r.State.Ended() {
			v.Diagnostics = errorsOf(r.Diagnostics)
		}
	}
	return v
}

// errorsOf leaves out warnings. What makes a run fail its owner needs, and while the run is blinded it does not say what
// the truth has; warnings tell which topics and labels that is.
func errorsOf(all []measure.Diagnostic) []measure.Diagnostic {
	only := []measure.Diagnostic{}
	for _, d := range all {
		if d.Severity == measure.Error {
			only = append(only, d)
		}
	}
	return only
}

// For returns the evaluation as one who has the roles sees it.
func (e *EvaluationItem) For(roles access.Role) Evaluation {
	v := e.Evaluation
	v.UserID, v.Team = e.Standing.shownAs(roles, e.UserID, e.Team)
	v.columns = e.Columns
	return v
}
