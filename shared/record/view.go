package record

import (
	"fmt"
	"slices"
	"strconv"

	"assay/shared/access"
	"assay/shared/lists"
	"assay/shared/measure"
)

// AccessAttributes are copied to everything below a task from the task, the submission, the registration and the review, so
// that one read decides who may see a record. When one of those changes, package propagation updates the copies.
type AccessAttributes struct {
	OrganizerID string `json:"organizerId"`
	// RegistrationID identifies the team. Baselines without a registration have none.
	RegistrationID string `json:"registrationId,omitempty"`

	PrivateTask bool   `json:"privateTask,omitempty"`
	Public      bool   `json:"public,omitempty"`    // the submission is public
	Anonymous   bool   `json:"anonymous,omitempty"` // the registration shows its alias
	Alias       string `json:"alias,omitempty"`
	Published   bool   `json:"published,omitempty"`  // of the review
	Blinded     bool   `json:"blinded,omitempty"`    // of the review
	AfterClose  bool   `json:"afterClose,omitempty"` // the dataset shows scores after the last close, as Embargo says
	Embargoed   bool   `json:"embargoed,omitempty"`  // and that had not come when this was written
	Baseline    bool   `json:"baseline,omitempty"`   // the submission is a baseline
	Title       string `json:"title,omitempty"`      // of the submission
	PaperURL    string `json:"paperUrl,omitempty"`   // of the submission
	Affiliation string `json:"affiliation,omitempty"`
}

// scope is that of a record of the user in the task, with the access attributes and the audience.
func (s AccessAttributes) scope(taskID, userID string, a access.Audience) access.Scope {
	return access.Scope{OrganizerID: s.OrganizerID, TaskID: taskID, RegistrationID: s.RegistrationID, OwnerID: userID, Audience: a}
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

// Unregistered reports whether the record is of a baseline that was submitted without a registration. No quota of the task counts it, so it
// stays a baseline.
func (s AccessAttributes) Unregistered() bool { return s.Baseline && s.RegistrationID == "" }

// ShowsResults reports whether the review lets others than owner and organizers see results.
func (s AccessAttributes) ShowsResults() bool { return s.Published && !s.Conceals() }

// Conceals reports whether nobody but the organizers is shown what only the truth can tell of the run, not even its owner.
func (s AccessAttributes) Conceals() bool { return s.Blinded || s.Embargoed }

// evaluationAudience is who sees an evaluation: the review decides, not the submission.
func (s AccessAttributes) evaluationAudience() access.Audience {
	switch {
	case s.ShowsResults():
		return s.taskAudience()
	case s.Conceals():
		return access.Organizers
	default:
		return access.Owners
	}
}

// canSeeIdentity reports whether one who has the roles may know which user and team stand behind an alias.
func canSeeIdentity(roles access.Role) bool {
	return roles&(access.Owner|access.Organizer|access.Admin) != 0
}

// hides reports whether one who has the roles is not shown what the team wrote of itself and of its entries: title, paper,
// label and run tag tell who is behind an alias as the name does.
func (s AccessAttributes) hides(roles access.Role) bool { return s.Anonymous && !canSeeIdentity(roles) }

// hidesEntry reports whether one who has the roles, and sees the evaluation, is not shown what the team wrote of the submission and
// the run: of an anonymous team, and of a private submission, whose evaluation can be published all the same.
func (s AccessAttributes) hidesEntry(roles access.Role) bool {
	return s.hides(roles) || !s.Public && !canSeeIdentity(roles)
}

// shownAs returns what one who has the roles is shown of user and team.
func (s AccessAttributes) shownAs(roles access.Role, userID, team string) (string, string) {
	if s.hides(roles) {
		return "", s.Alias
	}
	return userID, team
}

// ReadsFiles reports whether one who has the roles, and sees the run, may have the bytes of its files: its owner and the
// organizers, and everyone once its review shows it.
func (r *RunItem) ReadsFiles(roles access.Role) bool {
	return canSeeIdentity(roles) || r.Access.ShowsResults()
}

// ReadsValues reports whether one who has the roles may have the run's evaluations, of which there need be none.
func (r *RunItem) ReadsValues(roles access.Role) bool {
	return access.Sees(roles, r.Access.evaluationAudience())
}

// ReadsTruth reports whether one who has the roles, and sees the dataset, may have the files, which are of a truth of the
// dataset. Of a public one, for those who get the inputs, those are the files that the dataset names: the truth in use may be an earlier
// one that was hidden.
func (d *DatasetItem) ReadsTruth(roles access.Role, files []File) bool {
	return d.ManagesTruth(roles) ||
		d.TruthsPublic && d.ReadsInputs(roles) && !slices.ContainsFunc(files, func(f File) bool { return !d.hasTruth(f) })
}

// ReadsInputs reports whether one who has the roles, and sees the dataset, may have its inputs.
func (d *DatasetItem) ReadsInputs(roles access.Role) bool {
	return d.InputsFor != InputsForRegistrants || d.ManagesTruth(roles) || roles&access.Registrant != 0
}

// ManagesTruth reports whether one who has the roles may have every truth of the dataset, and what is wrong with it.
func (d *DatasetItem) ManagesTruth(roles access.Role) bool {
	return roles&(access.Organizer|access.Admin|access.Worker) != 0
}

// For returns the dataset as one who has the roles sees it, without links.
func (d *DatasetItem) For(roles access.Role) Dataset {
	v := d.Dataset
	v.BoardVersion = d.Board().TruthVersion
	if v.Inputs == nil || !d.ReadsInputs(roles) {
		v.Inputs = []File{}
	}
	if !d.ReadsTruth(roles, d.Truths) {
		v.Truths = nil
	}
	if !d.ManagesTruth(roles) {
		v.Diagnostics = nil
	}
	if len(v.Diagnostics) > 0 {
		v.Diagnostics = Disclosed(v.Diagnostics)
	}
	if v.Reevaluation == nil || v.Reevaluation.Progress == nil {
		return v
	}
	progress := v.Reevaluation.Progress
	if roles&(access.Organizer|access.Admin) == 0 {
		progress = &d.PublishedProgress // others must not learn how many runs there are
	}
	switch {
	case v.BoardVersion == d.TruthVersion && progress.Waiting == 0:
		v.Reevaluation = nil // what is left to do, lists alone wait for
	case progress.Runs == 0:
		v.Reevaluation = &Reevaluation{StartedAt: v.Reevaluation.StartedAt}
	default:
		v.Reevaluation = &Reevaluation{v.Reevaluation.StartedAt, progress}
	}
	return v
}

// For returns the submission as one who has the roles sees it.
func (s *SubmissionItem) For(roles access.Role) Submission {
	v := s.Submission
	if s.Access.hides(roles) {
		v.Title = ""
		v.Description = ""
		v.PaperURL = ""
		v.Image = ""
		v.URL = ""
		v.Ref = ""
		v.Command = ""
	}
	if roles&access.Owner == 0 {
		v.Notes = ""
	}
	v.UserID, v.Team = s.Access.shownAs(roles, s.UserID, s.Team)
	v.User = personFor(roles, s.UserID, s.Access, s.TaskID)
	return v
}

// For returns the run as one who has the roles sees it, without the links of its files. It names its evaluation only to
// those who may see that. Diagnostics are for its owner and the organizers, until the review shows them to all; those that
// reveal something of the truth are for the organizers, and for the owner unless the run is blinded. That is decided here and
// not when they are stored, because a review can change.
func (r *RunItem) For(roles access.Role) Run {
	v := r.Run
	if v.Files == nil || r.Access.Anonymous && !r.ReadsFiles(roles) {
		v.Files = []File{} // their names and digests would tell the team by the same file elsewhere
	}
	v.Title = r.Access.Title
	if r.Access.hidesEntry(roles) {
		v.Title = ""
		v.Label = ""
		v.RunTag = ""
	}
	v.UserID, v.Team = r.Access.shownAs(roles, r.UserID, r.Team)
	v.User = personFor(roles, r.UserID, r.Access, r.TaskID)
	if !r.ReadsValues(roles) {
		v.EvaluationID = ""
		switch {
		case r.State == Completed && r.Access.Embargoed:
			v.Notice = "The run is completed: it is valid as far as its files and the inputs of the dataset can tell. Its values are shown once " +
				"the window of every team has closed, if the organizers have not blinded it, and to others if they have published it."
		case r.State == Completed:
			v.Notice = "The run is completed. Its values are shown to its team once the organizers unblind it, and to others once they have " +
				"published it as well."
		}
	}
	blind := r.Access.Conceals() && roles&(access.Organizer|access.Admin) == 0
	if !canSeeIdentity(roles) && !r.Access.ShowsResults() {
		v.Diagnostics = []measure.Diagnostic{}
	} else {
		v.Diagnostics = r.visibleDiagnostics(canSeeIdentity(roles) && !blind)
		if blind && r.State == Completed && r.NextTruthFailure != nil {
			v.Diagnostics = append(v.Diagnostics, measure.Diagnostic{
				Severity: measure.Warning,
				Message: fmt.Sprintf("Your runs have failed %d times within 24 hours for reasons that could tell of the truth. "+
					"Until %s no blinded run of yours in the task fails for such reasons: each ends as completed, also one that could not be evaluated.",
					MaxTruthFailures, r.NextTruthFailure.sortable())})
		}
	}
	if !r.ReadsLog(ExecutionLog, roles) {
		v.LogTail, v.ExecutionLog = "", nil
	}
	if !r.ReadsLog(EvaluationLog, roles) {
		v.EvaluationLogTail, v.EvaluationLog = "", nil
	}
	return v
}

// visibleDiagnostics returns the diagnostics, all or those that tell nothing of the truth. A run that failed always says something.
func (r *RunItem) visibleDiagnostics(all bool) []measure.Diagnostic {
	visible := r.Diagnostics
	if !all {
		visible = measure.SafeDiagnostics(visible)
	}
	visible = Disclosed(visible)
	if r.State == Failed && !measure.HasErrors(visible) {
		visible = append(visible, undisclosed)
	}
	return visible
}

// Disclosed are diagnostics as answers have them, which do not say whether they are safe while blinded.
func Disclosed(all []measure.Diagnostic) []measure.Diagnostic {
	return lists.Map(all, func(d measure.Diagnostic) measure.Diagnostic {
		d.SafeWhileBlinded = false
		return d
	})
}

var undisclosed = measure.Diagnostic{Severity: measure.Error,
	Message: "Why the run failed is not shown here, since it could tell of the truth. Compare the ids, tokens and labels in its files with " +
		"those in the inputs of the dataset and in its description, or ask the organizers, who can see the reason. " +
		"At most " + strconv.Itoa(MaxTruthFailures) +
		" of your runs in a task fail for such reasons in 24 hours: others end as completed, without values."}

// For returns the evaluation as one who has the roles sees it.
func (e *EvaluationItem) For(roles access.Role) Evaluation {
	v := e.Evaluation
	if !e.Access.hides(roles) {
		v.Affiliation = e.Access.Affiliation
	}
	v.Digests = e.Digests.shownTo(roles)
	if e.Access.hidesEntry(roles) {
		v.Label = ""
		v.RunTag = ""
		v.Digests.Run = "" // the digest would tell the team by the same file elsewhere
	} else {
		v.Title, v.PaperURL = e.Access.Title, e.Access.PaperURL
	}
	v.Audience = audienceNames[e.Scope().Audience]
	if e.Access.Anonymous && canSeeIdentity(roles) {
		v.Alias = e.Access.Alias
	}
	v.UserID, v.Team = e.Access.shownAs(roles, e.UserID, e.Team)
	v.User = personFor(roles, e.UserID, e.Access, e.TaskID)
	v.columns = e.Columns
	return v
}
