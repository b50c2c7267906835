package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/language/clock"
	"assay/shared/language/lists"
)

// againNotice says that a run that was completed before is evaluated again, or failed then. It is empty for other runs.
func (r *RunItem) againNotice() string {
	switch {
	case len(r.Evaluations) == 0:
	case r.State == Failed:
		failed := "The run was completed before. It failed when it was evaluated again, after a change of the ground truth or the evaluator."
		if r.Uncounted() {
			return failed
		}
		return failed + " No quota counts it."
	case !r.State.Ended():
		return "The run was completed before. It is evaluated again, after a change of the ground truth or the evaluator."
	}
	return ""
}

// For returns the run that the caller sees, without links to its files. It names the evaluation only to callers who see values of it.
// Diagnostics are visible to the owner and the organizers, and to others who see all values. Diagnostics that reveal something about the
// ground truth are visible to organizers, and to the owner if the owner sees all values. For decides this at each read, because the
// review and the columns can change after the diagnostics were stored.
func (r *RunItem) For(s Sight) Run {
	roles := s.roles
	v := r.Run
	if v.Files == nil || r.Access.Anonymous && !s.ReadsFiles() {
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
	if !s.Entry() {
		v.EvaluationID = ""
	}
	v.Notice = r.noticeFor(s)
	v.Again = canSeeIdentity(roles) && r.State != Completed && len(r.Evaluations) > 0
	if !canSeeIdentity(roles) && !s.All() {
		v.Diagnostics = []measure.Diagnostic{}
	} else {
		v.Diagnostics = r.visibleDiagnostics(s)
		if !s.All() && r.State == Completed && r.NextTruthFailure != nil {
			v.Diagnostics = append(v.Diagnostics, r.failuresUsedUp(s.now))
		}
	}
	if !s.ReadsLog(ExecutionLog) {
		v.LogTail, v.ExecutionLog = "", nil
	}
	if !s.ReadsLog(EvaluationLog) {
		v.EvaluationLogTail, v.EvaluationLog = "", nil
	}
	return v
}

// withheldNotice says when the values of a completed run are shown, to a caller who sees none. Otherwise it is empty. Others than the
// team must not learn whether the run is blinded.
func (r *RunItem) withheldNotice(s Sight) string {
	if r.State != Completed || s.Entry() {
		return ""
	}
	others, never := s.conditions(access.Registrants)
	if !canSeeIdentity(s.roles) {
		if never {
			return "The run is completed. Only " + r.insiders() + " see values that it has."
		}
		if w := s.rules.Wait(access.Registrants, s.now); w.Over {
			others = nil
		} else {
			others = []string{w.Condition()}
		}
		once := strings.Join(append(others, "it is published and not blinded"), " and ")
		return "The run is completed. Others than " + r.insiders() + " see the values that it has once " + once + "."
	}
	own, hidden := s.conditions(access.Owners)
	said := "The run is completed. Values that it has are shown to " + r.submitter()
	once := strings.Join(own, " and ")
	switch {
	case hidden:
		return "The run is completed. Only the organizers see values that it has."
	case never:
		return said + " once " + once + ", and not to others."
	case slices.Equal(own, others):
		return said + " and to others once " + once + "."
	case len(others) > len(own) && slices.Equal(own, others[:len(own)]):
		return said + " once " + once + ", and to others once the organizers have published it as well."
	default:
		return said + " once " + once + ", and to others once " + strings.Join(others, " and ") + "."
	}
}

// submitter names the team of the run, or the user who submitted a baseline without a team.
func (r *RunItem) submitter() string {
	if r.Unregistered() {
		return "the user who submitted it"
	}
	return "its team"
}

// insiders names the people who always see the run, to others: its team and the organizers.
func (r *RunItem) insiders() string {
	if r.Unregistered() {
		return "the organizers"
	}
	return "its team and the organizers"
}

// noticeFor returns what the caller is told about the state of the run.
func (r *RunItem) noticeFor(s Sight) string {
	notice := r.withheldNotice(s)
	if canSeeIdentity(s.roles) || s.All() {
		notice = cmp.Or(r.againNotice(), notice)
	}
	if canSeeIdentity(s.roles) && r.AwaitsWorker() {
		notice = strings.TrimSpace(fmt.Sprintf("%s The run waits for a worker of the pool %s.", notice, cmp.Or(r.Pool, DefaultPool)))
	}
	return notice
}

// visibleDiagnostics returns all diagnostics to the team and the organizers if they see all values, and otherwise only those that reveal
// nothing about the ground truth. For a failed run it always returns an error.
func (r *RunItem) visibleDiagnostics(s Sight) []measure.Diagnostic {
	visible := r.Diagnostics
	if !canSeeIdentity(s.roles) || !s.All() {
		visible = measure.SafeDiagnostics(visible)
	}
	visible = Disclosed(visible)
	switch {
	case r.State != Failed || measure.HasErrors(visible):
		return visible
	case r.Anonymized() && !measure.HasErrors(r.Diagnostics):
		return append(visible, deletedErrors(canSeeIdentity(s.roles)))
	case canSeeIdentity(s.roles):
		return append(visible, withheldErrors(len(visible) > 0))
	}
	return append(visible, measure.Diagnostic{Severity: measure.Error, Message: "Only " + r.insiders() +
		" see why the run failed, since it could tell of the truth."})
}

// failuresUsedUp says that the run may have completed only because its team had no failures left when it was evaluated, see
// LimitsTruthFailures.
func (r *RunItem) failuresUsedUp(now time.Time) measure.Diagnostic {
	rule := "fails for such reasons: each ends"
	if !now.Before(r.NextTruthFailure.Time) {
		rule = "failed for such reasons: each ended"
	}
	return measure.Diagnostic{Severity: measure.Warning, Message: fmt.Sprintf("When the run was evaluated, runs of your team had failed %d "+
		"times within 24 hours for reasons that could tell of the truth. Until %s no further run of your team in the task whose values you do "+
		"not see %s as completed, also one that could not be evaluated. %s", MaxTruthFailures, clock.Instant(r.NextTruthFailure.Time), rule,
		failuresByChanges)}
}

// Disclosed returns the diagnostics in the form of answers: without SafeWhileBlinded.
func Disclosed(all []measure.Diagnostic) []measure.Diagnostic {
	return lists.Map(all, func(d measure.Diagnostic) measure.Diagnostic {
		d.SafeWhileBlinded = false
		return d
	})
}

// withheldErrors returns the error that replaces all errors which could reveal the ground truth. Its text refers to the run's warnings if
// warned is true.
func withheldErrors(warned bool) measure.Diagnostic {
	why := "Why the run failed is not shown here, since it could tell of the truth. "
	if warned {
		why = "The run failed, and one of its warnings may name the cause. More is not shown here, since it could tell of the truth. "
	}
	return measure.Diagnostic{Severity: measure.Error, Message: why +
		"Compare the ids, tokens and labels in its files with the inputs and the description of the dataset, if it has them. " +
		"Otherwise ask the organizers, who can see the reason. At most " + strconv.Itoa(MaxTruthFailures) +
		" new runs of a team in a task fail for such reasons in 24 hours: others end as completed, without values. " + failuresByChanges}
}

// deletedErrors returns the error that replaces the errors of a run whose user was deleted, see RunItem.Anonymize. Only insiders learn that
// the user was deleted.
func deletedErrors(insider bool) measure.Diagnostic {
	message := "The reason why the run failed was deleted, so nobody sees it any more."
	if insider {
		message = "The reason why the run failed was deleted with the account of the user who submitted it, so nobody sees it any more. If " +
			"the ground truth or the evaluator changes, the run is evaluated again, and a new reason is shown if it fails again."
	}
	return measure.Diagnostic{Severity: measure.Error, Message: message}
}

// failuresByChanges names the failures that MaxTruthFailures does not limit, see RunItem.LimitsTruthFailures.
const failuresByChanges = "If the organizers change the ground truth, runs that were evaluated before can fail as well."
