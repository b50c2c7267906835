package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/language/clock"
	"assay/shared/language/lists"
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
	Published   bool   `json:"published,omitempty"`  // the review is published
	Blinded     bool   `json:"blinded,omitempty"`    // the review blinds the run
	AfterClose  bool   `json:"afterClose,omitempty"` // the dataset shows scores only after the last close (see Embargo)
	Embargoed   bool   `json:"embargoed,omitempty"`  // AfterClose is set, and the last close was in the future when this was written
	Baseline    bool   `json:"baseline,omitempty"`   // the submission is a baseline
	Title       string `json:"title,omitempty"`      // of the submission
	PaperURL    string `json:"paperUrl,omitempty"`   // of the submission
	Affiliation string `json:"affiliation,omitempty"`
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

// ShowsResults reports whether the review shows results to callers other than the owner and the organizers.
func (s AccessAttributes) ShowsResults() bool { return s.hidden() == "" }

// Conceals reports whether only organizers see anything of the run that depends on the ground truth (qrels, labels). Not even the owner
// sees it.
func (s AccessAttributes) Conceals() bool { return s.Blinded || s.Embargoed }

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

// evaluationAudience returns the audience of an evaluation. The review decides it, not the submission.
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

// hidden returns why only the owner and the organizers see the evaluation, or only the organizers. It returns "" if others see it.
func (s AccessAttributes) hidden() Hidden {
	switch {
	case s.Blinded:
		return HiddenBlinded
	case !s.Published:
		return HiddenUnpublished
	case s.Embargoed:
		return HiddenAfterClose
	default:
		return ""
	}
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

// ReadsFiles reports whether a caller with the roles, who sees the run, may read its files. The owner and the organizers may, and
// everyone else may once the review shows the results.
func (r *RunItem) ReadsFiles(roles access.Role) bool {
	return canSeeIdentity(roles) || r.Access.ShowsResults()
}

// ReadsValues reports whether a caller with the roles may read the run's evaluations. The run need not have any.
func (r *RunItem) ReadsValues(roles access.Role) bool {
	return access.Sees(roles, r.Access.evaluationAudience())
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

// againNotice says that a run that was completed before is evaluated again, or failed then. It is empty for other runs.
func (r *RunItem) againNotice() string {
	switch {
	case len(r.Evaluations) == 0:
	case r.State == Failed:
		failed := "The run was completed before. It failed when it was evaluated again, after a change of the ground truth or the evaluator."
		if r.Access.RegistrationID == "" { // a baseline, which counts in no team's quota
			return failed
		}
		return failed + " It no longer counts in the quota."
	case !r.State.Ended():
		return "The run was completed before. It is evaluated again, after a change of the ground truth or the evaluator."
	}
	return ""
}

// For returns the run that a caller with the roles sees, without links to its files. It names the evaluation only to callers who may
// see the evaluation. Diagnostics are visible to the owner and the organizers, and to everyone once the review shows the results.
// Diagnostics that reveal something about the ground truth are visible to organizers, and to the owner unless the run is blinded. For
// decides this at each read, because the review can change after the diagnostics were stored.
func (r *RunItem) For(roles access.Role) Run {
	v := r.Run
	if v.Files == nil || r.Access.Anonymous && !r.ReadsFiles(roles) {
		v.Files = []File{} // the same name or digest elsewhere would identify the team
	}
	v.Title = r.Access.Title
	if r.Access.hidesEntry(roles) {
		v.Title = ""
		v.Label = ""
		v.RunTag = ""
	}
	v.UserID, v.Team = r.Access.shownAs(roles, r.UserID, r.Team)
	v.RegistrationID, v.Alias = r.Access.identity(roles)
	v.User = personFor(roles, r.UserID, r.Access, r.TaskID)
	if !r.ReadsValues(roles) {
		v.EvaluationID = ""
	}
	v.Notice = r.noticeFor(roles)
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
					MaxTruthFailures, clock.Instant(r.NextTruthFailure.Time))})
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

// withheldNotice says when the values of a completed run are shown, to a caller with the roles who sees none. Otherwise it is empty.
// Others than the team must not learn whether the run is blinded.
func (r *RunItem) withheldNotice(roles access.Role) string {
	switch {
	case r.State != Completed || r.ReadsValues(roles):
		return ""
	case r.Access.Embargoed:
		return "The run is completed: it is valid as far as its files and the inputs of the dataset can tell. Its values are shown once " +
			"the window of every team has closed, if the organizers have not blinded it, and to others if they have published it."
	case !canSeeIdentity(roles):
		return "The run is completed. Others than its team see its values once it is published and not blinded."
	case r.Access.Published:
		return "The run is completed and published, but blinded. Its values are shown to its team and to others once the organizers unblind it."
	default:
		return "The run is completed. Its values are shown to its team once the organizers unblind it, and to others once they have " +
			"published it as well."
	}
}

// noticeFor returns what a caller with the roles is told about the state of the run.
func (r *RunItem) noticeFor(roles access.Role) string {
	notice := r.withheldNotice(roles)
	if canSeeIdentity(roles) || r.Access.ShowsResults() {
		notice = cmp.Or(r.againNotice(), notice)
	}
	if canSeeIdentity(roles) && r.AwaitsWorker() {
		notice = strings.TrimSpace(fmt.Sprintf("%s The run waits for a worker of the pool %s.", notice, cmp.Or(r.Pool, DefaultPool)))
	}
	return notice
}

// visibleDiagnostics returns all diagnostics, or only those that reveal nothing about the ground truth. For a failed run it always
// returns an error.
func (r *RunItem) visibleDiagnostics(all bool) []measure.Diagnostic {
	visible := r.Diagnostics
	if !all {
		visible = measure.SafeDiagnostics(visible)
	}
	visible = Disclosed(visible)
	if r.State == Failed && !measure.HasErrors(visible) {
		visible = append(visible, withheldErrors(len(visible) > 0))
	}
	return visible
}

// Disclosed returns the diagnostics in the form of answers: without SafeWhileBlinded.
func Disclosed(all []measure.Diagnostic) []measure.Diagnostic {
	return lists.Map(all, func(d measure.Diagnostic) measure.Diagnostic {
		d.SafeWhileBlinded = false
		return d
	})
}

// withheldErrors returns the error that replaces all errors which could reveal the ground truth. Its text names the warnings beside it if
// warned is true.
func withheldErrors(warned bool) measure.Diagnostic {
	why := "Why the run failed is not shown here, since it could tell of the truth. "
	if warned {
		why = "The run failed, and a warning beside this may name the cause. More is not shown here, since it could tell of the truth. "
	}
	return measure.Diagnostic{Severity: measure.Error, Message: why +
		"Compare the ids, tokens and labels in its files with the inputs and the description of the dataset, if it has them. " +
		"Otherwise ask the organizers, who can see the reason. At most " + strconv.Itoa(MaxTruthFailures) +
		" of your runs in a task fail for such reasons in 24 hours: others end as completed, without values."}
}

// For returns the evaluation that a caller with the roles sees.
func (e *EvaluationItem) For(roles access.Role) Evaluation {
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
	v.Audience = audienceNames[e.Scope().Audience]
	v.Hidden = e.Access.hidden()
	v.Published = e.Access.Published
	v.UserID, v.Team = e.Access.shownAs(roles, e.UserID, e.Team)
	v.RegistrationID, v.Alias = e.Access.identity(roles)
	v.User = personFor(roles, e.UserID, e.Access, e.TaskID)
	v.columns = e.Columns
	return v
}
