package record

import (
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
)

// AccessAttributes are copied from the task, the submission, the registration and the review to every record below the task, so that
// one read decides who may see a record. When one of the sources changes, package propagation updates the copies.
type AccessAttributes struct {
	OrganizerID string `json:"organizerId"`
	// RegistrationID identifies the team. Baselines without a registration have none.
	RegistrationID string `json:"registrationId,omitempty"`

	PrivateTask bool   `json:"privateTask,omitempty"`
	Public      bool   `json:"public,omitempty"`    // the submission is public
	Anonymous   bool   `json:"anonymous,omitempty"` // the registration shows its alias
	Alias       string `json:"alias,omitempty"`
	Published   bool   `json:"published,omitempty"` // the review is published
	Blinded     bool   `json:"blinded,omitempty"`   // the review blinds the run
	Baseline    bool   `json:"baseline,omitempty"`  // the submission is a baseline
	Title       string `json:"title,omitempty"`     // of the submission
	PaperURL    string `json:"paperUrl,omitempty"`  // of the submission
	Affiliation string `json:"affiliation,omitempty"`

	// ColumnsFor is the widest audience of a column of the dataset when this was written; empty means everyone. It selects the partitions
	// of lists. ValueRules decide who sees a value.
	ColumnsFor ColumnAudience `json:"columnsFor,omitempty"`
	// Concealed reports whether the team did not see all columns when this was written. It selects how a run is evaluated.
	Concealed bool `json:"concealed,omitempty"`
	// Waits reports whether the dataset waited for a close when this was written. It selects what is read with the dataset's rules.
	Waits bool `json:"waits,omitempty"`
}

// scope returns the scope of a user's record in the task.
func (s AccessAttributes) scope(taskID, userID string, a access.Audience) access.Scope {
	return access.Scope{OrganizerID: s.OrganizerID, TaskID: taskID, RegistrationID: s.RegistrationID, OwnerID: userID, Audience: a}
}

// taskAudience returns the widest audience that a record of the task can have.
func (s AccessAttributes) taskAudience() access.Audience {
	if s.PrivateTask {
		return access.Registrants
	}
	return access.Everyone
}

// submissionAudience returns the audience of a submission and its runs.
func (s AccessAttributes) submissionAudience() access.Audience {
	if s.Public {
		return s.taskAudience()
	}
	return access.Owners
}

// Unregistered reports whether the record belongs to a baseline submitted without a registration. Such a submission must stay a
// baseline, because no quota of the task counts it.
func (s AccessAttributes) Unregistered() bool { return s.Baseline && s.RegistrationID == "" }

// Conceals reports whether the run is to be evaluated so that its owner learns nothing from its end that depends on the ground truth
// (qrels, labels). ValueRules decide what the owner sees afterwards.
func (s AccessAttributes) Conceals() bool { return s.Blinded || s.Concealed }

// reviewAudience returns the widest audience that values of the run can have by its review. The submission does not matter.
func (s *AccessAttributes) reviewAudience() access.Audience {
	switch {
	case s.Blinded:
		return access.Organizers
	case s.Published:
		return s.taskAudience()
	default:
		return access.Owners
	}
}

// evaluationAudience returns the audience of the partitions that hold an evaluation. The review and the columns decide it, not the
// submission. It can differ from the audience of the values until ColumnsFor follows a change.
func (s AccessAttributes) evaluationAudience() access.Audience {
	return min(s.reviewAudience(), s.ColumnsFor.audience())
}

// canSeeIdentity reports whether a caller with the roles may learn which user and team use an alias.
func canSeeIdentity(roles access.Role) bool {
	return roles&(access.Owner|access.Organizer|access.Admin) != 0
}

// hides reports whether a caller with the roles must not see what the team wrote about itself and its entries. Title, paper, label and
// run tag can identify an anonymous team as its name does.
func (s AccessAttributes) hides(roles access.Role) bool { return s.Anonymous && !canSeeIdentity(roles) }

// hidesEntry reports whether a caller with the roles, who sees the evaluation, must not see what the team wrote about the submission
// and the run. This holds for anonymous teams, and for private submissions, whose evaluations can still be published.
func (s AccessAttributes) hidesEntry(roles access.Role) bool {
	return s.hides(roles) || !s.Public && !canSeeIdentity(roles)
}

// shownAs returns the user and the team that a caller with the roles sees.
func (s AccessAttributes) shownAs(roles access.Role, userID, team string) (string, string) {
	if s.hides(roles) {
		return "", s.Alias
	}
	return userID, team
}

// shownAlias returns the alias if the team is anonymous.
func (s AccessAttributes) shownAlias() string {
	if !s.Anonymous {
		return ""
	}
	return s.Alias
}

// identity returns the registration of the team, and the alias of an anonymous team, for callers who may know whose alias it is. Names
// do not identify a team: an anonymous team can have the name of another team.
func (s AccessAttributes) identity(roles access.Role) (registrationID, alias string) {
	if !canSeeIdentity(roles) {
		return "", ""
	}
	return s.RegistrationID, s.shownAlias()
}

// TeamName returns the name of the record's team in texts for organizers and the team.
func (s AccessAttributes) TeamName(team string) string { return TeamName(team, s.shownAlias()) }

// TeamName returns a team's name in texts for organizers and the team. The alias of an anonymous team distinguishes it from other teams
// with the name. It is empty for other teams.
func TeamName(team, alias string) string {
	if alias == "" || alias == team { // the team of a deleted user has its alias as name
		return team
	}
	return team + " (alias " + alias + ")"
}

// IsListedFor reports whether lists of evaluations for a caller with the roles look for the listed evaluation of the run. It can differ
// from Sight.Entry until ColumnsFor follows a change.
func (r *RunItem) IsListedFor(roles access.Role) bool {
	return r.ListedID() != "" && access.Sees(roles, r.Access.evaluationAudience())
}

// ShownUserID returns the user whose run it is, or "" if the team is anonymous to a caller with the roles.
func (r *RunItem) ShownUserID(roles access.Role) string {
	userID, _ := r.Access.shownAs(roles, r.UserID, r.Team)
	return userID
}

// ShownUserID returns the user whose run was evaluated, or "" if the team is anonymous to a caller with the roles.
func (e *EvaluationItem) ShownUserID(roles access.Role) string {
	userID, _ := e.Access.shownAs(roles, e.UserID, e.Team)
	return userID
}

// ReadsTruth reports whether a caller with the roles, who sees the dataset, may read the files of one of its ground truths. If the
// ground truth is public, callers who may read the inputs may read the files that the dataset names now. They may not read other files,
// because the ground truth in use may be an earlier one that is hidden.
func (d *DatasetItem) ReadsTruth(roles access.Role, files []File) bool {
	return d.ManagesTruth(roles) ||
		d.TruthsPublic && d.ReadsInputs(roles) && !slices.ContainsFunc(files, func(f File) bool { return !d.hasTruth(f) })
}

// ReadsInputs reports whether a caller with the roles, who sees the dataset, may read its inputs.
func (d *DatasetItem) ReadsInputs(roles access.Role) bool {
	return d.InputsFor != InputsForRegistrants || d.ManagesTruth(roles) || roles&access.Registrant != 0
}

// ManagesTruth reports whether a caller with the roles may read every ground truth of the dataset and its diagnostics.
func (d *DatasetItem) ManagesTruth(roles access.Role) bool {
	return roles&(access.Organizer|access.Admin|access.Worker) != 0
}

// For returns the dataset that a caller with the roles sees, without links.
func (d *DatasetItem) For(roles access.Role) Dataset {
	v := d.Dataset
	v.BoardVersion = d.Board().TruthVersion
	v.Columns = d.ShownColumns()
	if roles&(access.Organizer|access.Admin|access.Worker) == 0 {
		v.Columns = slices.DeleteFunc(v.Columns, func(c Column) bool { return c.Audience == ForOrganizers })
		hidden := func(name string) bool { return find(v.Columns, name) == nil }
		v.Evaluator.Measures = slices.DeleteFunc(slices.Clone(v.Evaluator.Measures), hidden)
	}
	if v.Inputs == nil || !d.ReadsInputs(roles) {
		v.Inputs = []File{}
	}
	if !d.ReadsTruth(roles, d.Truths) {
		v.Truths = nil
	}
	if !d.ManagesTruth(roles) {
		v.Diagnostics = nil
	}
	if roles&(access.Organizer|access.Admin) == 0 {
		v.TruthReport = nil
	}
	if len(v.Diagnostics) > 0 {
		v.Diagnostics = Disclosed(v.Diagnostics)
	}
	if v.Reevaluation == nil || v.Reevaluation.Progress == nil {
		return v
	}
	progress := v.Reevaluation.Progress
	if roles&(access.Organizer|access.Admin) == 0 {
		progress = &d.PublishedProgress // others must not learn how many runs exist
	}
	switch {
	case v.BoardVersion == d.TruthVersion && progress.Waiting == 0:
		v.Reevaluation = nil // only lists wait for the remaining work
	case progress.Runs == 0:
		v.Reevaluation = &Reevaluation{StartedAt: v.Reevaluation.StartedAt}
	default:
		v.Reevaluation = &Reevaluation{v.Reevaluation.StartedAt, progress}
	}
	return v
}

// For returns the submission that a caller with the roles sees.
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
	v.RegistrationID, v.Alias = s.Access.identity(roles)
	v.User = personFor(roles, s.UserID, s.Access, s.TaskID)
	return v
}

// For returns the evaluation that the caller sees, with the values of the columns that the caller sees.
func (e *EvaluationItem) For(s Sight) Evaluation {
	roles := s.roles
	v := e.Evaluation
	if !e.Access.hides(roles) {
		v.Affiliation = e.Access.Affiliation
	}
	v.Digests = e.Digests.shownTo(roles)
	if e.Access.hidesEntry(roles) {
		v.Label = ""
		v.RunTag = ""
		v.Digests.Run = "" // the same digest elsewhere would identify the team
	} else {
		v.Title, v.PaperURL = e.Access.Title, e.Access.PaperURL
	}
	v.Private = !e.Access.Public && !canSeeIdentity(roles)
	v.Audience = audienceNames[s.Audience()]
	v.Hidden = s.hidden()
	v.Published = e.Access.Published
	v.UserID, v.Team = e.Access.shownAs(roles, e.UserID, e.Team)
	v.RegistrationID, v.Alias = e.Access.identity(roles)
	v.User = personFor(roles, e.UserID, e.Access, e.TaskID)
	v.Columns = s.Columns(e.Measured)
	if len(v.Columns) == len(e.Measured) {
		return v
	}
	hidden := func(key string) bool { return !s.Sees(key) }
	v.Measures = without(e.Measures, hidden)
	v.Evaluator.Signatures = without(e.Evaluator.Signatures, hidden)
	v.Reasons = without(e.Reasons, func(key string) bool { return key != measure.PerTopicReason && hidden(key) })
	return v
}
