package record

import (
	"cmp"
	"slices"
	"time"
)

// Quota says how many runs a team may still submit to a task and to its datasets.
type Quota struct {
	QuotaLeft
	Datasets []DatasetQuota `json:"datasets,omitempty" doc:"whether the team can submit to each dataset, and what is left: of a registration for the datasets of the task, of a submission for its own. A run counts in the quotas of its dataset and of the task"`

	CarriedOver bool `json:"carriedOver,omitempty" doc:"whether an earlier team of a member had used more of the quota, so that the team counts as having used as much"`
}

// DatasetQuota says whether a team can submit to a dataset, and how many runs.
type DatasetQuota struct {
	DatasetID string `json:"datasetId"`
	QuotaLeft
	SubmissionWindow
	Types         []SubmissionType `json:"types" enum:"upload,image,repository" doc:"the types of submissions that the dataset takes: those of the task, and repository only if builds of the dataset is set"`
	StartsBlinded bool             `json:"startsBlinded" doc:"whether runs on the dataset start blinded: until the organizers unblind them, nobody else sees their scores"`
	UnservedTypes []SubmissionType `json:"unservedTypes,omitempty" enum:"upload,image,repository" doc:"only in a registration: the types of submissions whose runs would wait now, because no worker that they need has been seen for a minute in the pool of the dataset; absent: no type"`
}

// QuotaLeft is the remaining part of a quota, including exceptions. Left and NextAt follow from all limits together. The other members
// describe one limit each.
type QuotaLeft struct {
	Left           *int     `json:"left,omitempty" doc:"how many runs can be submitted now: the least that all limits leave, of a day and in all, and for a dataset those of its task, too; absent: no limit"`
	NextAt         *Instant `json:"nextAt,omitempty" doc:"when left grows next, because a run has left the sliding 24 hours; absent when waiting does not make it grow, or when, as far as is known now, no dataset of the quota takes runs of the team by then"`
	PerDay         *int     `json:"perDay,omitempty" doc:"runs allowed in 24 hours; absent: no limit"`
	RemainingToday *int     `json:"remainingToday,omitempty" doc:"how many runs perDay by itself leaves now; other limits can leave fewer, see left"`
	ResetsAt       *Instant `json:"resetsAt,omitempty" doc:"when the oldest run that counts in perDay leaves the 24 hours; left grows then only if no other limit binds, see nextAt. Absent when no run counts"`
	Total          *int     `json:"total,omitempty" doc:"runs allowed in all; absent: no limit"`
	Remaining      *int     `json:"remaining,omitempty" doc:"how many runs total by itself leaves; other limits can leave fewer, see left"`
}

// ClosedReason says why a team cannot submit to a dataset.
type ClosedReason string

// The reasons.
const (
	ClosedUnregistered ClosedReason = "registration"
	ClosedEarly        ClosedReason = "early"
	ClosedLate         ClosedReason = "late"
	ClosedAlways       ClosedReason = "always"
	ClosedNoTruth      ClosedReason = "truth"
	ClosedDeleting     ClosedReason = "deletion"
	ClosedByTerms      ClosedReason = "terms"
)

// SubmissionWindow says whether and until when a team can submit to a dataset.
type SubmissionWindow struct {
	Open         bool         `json:"open" doc:"whether the dataset takes submissions of the team now, if left is not 0. Limits of the user (usage of the user), and of runs that have not ended, can still refuse a submission"`
	ClosedReason ClosedReason `json:"closedReason,omitempty" enum:"registration,early,late,always,truth,deletion,terms" doc:"why it takes none. early: it is before opensAt; late: closesAt has passed; always: it closes before it opens; truth: the organizers have announced no ground truth, or one with errors; deletion: the dataset is being deleted; registration: none of these is in the way, but the organizers have not accepted the team; terms: nothing else is in the way, but the team has not accepted the present terms of the task"`
	OpensAt      *Instant     `json:"opensAt,omitempty" doc:"when the dataset opens for the team; absent: it has no opening"`
	ClosesAt     *Instant     `json:"closesAt,omitempty" doc:"when it closes for the team, exceptions included; absent: it has no close"`
}

// grant is one quota of a team: its limits, and what the team has used of it.
type grant struct {
	used   *Used
	limits limits
}

// bind sets Left to the least that the limits of the grants leave, and NextAt.
func (q *QuotaLeft) bind(now time.Time, grants ...grant) {
	for _, g := range grants {
		g.used.expire(now)
		q.Left = least(q.Left, g.limits.total, g.used.Total)
		q.Left = least(q.Left, g.limits.perDay, len(g.used.Recent))
	}
	if q.Left == nil {
		return
	}
	var next time.Time
	for _, g := range grants {
		at, grows := g.allows(*q.Left+1, now)
		if !grows {
			return
		}
		if at.After(next) {
			next = at
		}
	}
	q.NextAt = new(At(next))
}

// least returns the lesser of left and what a limit leaves. A limit of 0, and a left of nil, do not limit.
func least(left *int, limit, used int) *int {
	if limit == 0 {
		return left
	}
	of := max(0, limit-used)
	return new(min(*cmp.Or(left, &of), of))
}

// allows returns when the grant allows n more runs, at the earliest now. It returns false if waiting does not help.
func (g grant) allows(n int, now time.Time) (at time.Time, ever bool) {
	l, u := g.limits, g.used
	if l.total > 0 && u.Total+n > l.total || l.perDay > 0 && n > l.perDay {
		return at, false
	}
	over := len(u.Recent) + n - l.perDay
	if l.perDay == 0 || over <= 0 {
		return now, true
	}
	return madeAt(u.Recent[over-1]).Add(Day), true
}

// SubmissionTypes returns the types of submissions that a dataset takes. ofTask are the types of its task, which takes all types unless it
// names some. builds reports whether the dataset takes repositories.
func SubmissionTypes(ofTask []SubmissionType, builds bool) (takes []SubmissionType) {
	for _, of := range []SubmissionType{UploadType, ImageType, RepositoryType} {
		if (len(ofTask) == 0 || slices.Contains(ofTask, of)) && (of != RepositoryType || builds) {
			takes = append(takes, of)
		}
	}
	return takes
}

// StartsBlinded reports whether runs on the dataset start blinded.
func (d *DatasetItem) StartsBlinded() bool { return d.Split == Test }

// opensBy reports whether the dataset takes submissions of the team at the time, as far as is known now.
func (w SubmissionWindow) opensBy(at Instant) bool {
	opens := w.Open || w.ClosedReason == ClosedEarly || w.ClosedReason == ClosedByTerms
	return opens && (w.ClosesAt == nil || at.Before(w.ClosesAt.Time))
}

// Participation says whether a team takes part in a task and has accepted its terms. Besides windows and quotas, it decides whether the
// team can submit.
type Participation struct {
	State      RegistrationState
	LacksTerms bool // The team has not accepted the present terms of the task.
}

// submissionWindow says whether a team can submit to the dataset of the task. A team that the organizers do not accept learns why the
// dataset takes no runs of accepted teams either. Missing terms are the last reason: a team that accepts them can submit at once.
func (a *Allowance) submissionWindow(t *TaskItem, d *DatasetItem, p Participation, now time.Time) SubmissionWindow {
	var w SubmissionWindow
	w.OpensAt, w.ClosesAt = a.Window(t, d)
	reason := ReasonClosed(w.OpensAt, w.ClosesAt, now)
	switch {
	case d.Deleting():
		w.ClosedReason = ClosedDeleting
	case reason != "":
		w.ClosedReason = reason
	case d.TruthVersion == 0 && !d.AwaitsTruth():
		w.ClosedReason = ClosedNoTruth
	case p.State != Accepted:
		w.ClosedReason = ClosedUnregistered
	case p.LacksTerms:
		w.ClosedReason = ClosedByTerms
	}
	w.Open = w.ClosedReason == ""
	return w
}
