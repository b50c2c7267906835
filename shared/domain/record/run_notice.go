package record

import (
	"cmp"
	"fmt"
	"strings"
)

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

// withheldNotice says when the values of a completed run are shown, to a caller who sees none. Otherwise it is empty. Others than the
// team must not learn whether the run is blinded.
func (r *RunItem) withheldNotice(s Sight) string {
	if r.State != Completed || s.Entry() {
		return ""
	}
	var awaited []string
	if s.awaitsColumns() {
		awaited = append(awaited, "the window of every team has closed")
	}
	if !canSeeIdentity(s.roles) {
		awaited = append(awaited, "it is published and not blinded")
		return "The run is completed. Others than its team see the values that it has once " + strings.Join(awaited, " and ") + "."
	}
	if r.Access.Blinded {
		awaited = append(awaited, "the organizers have unblinded it")
	}
	once := strings.Join(awaited, " and ")
	if r.Access.Published {
		return "The run is completed. Values that it has are shown to its team and to others once " + once + "."
	}
	return "The run is completed. Values that it has are shown to its team once " + once + ", and to others once the organizers have " +
		"published it as well."
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
