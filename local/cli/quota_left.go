package main

import (
	"fmt"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/language/plural"
)

// leftOf returns how many runs are left, and when the next one comes back. It is empty without a limit.
func leftOf(q record.QuotaLeft) string {
	if q.Left == nil {
		return ""
	}
	left := plural.Count(*q.Left, "run")
	if q.NextAt != nil {
		left += ", and one more at " + localTime(q.NextAt)
	}
	return left
}

// leftNow returns how many runs are left for a dataset, or why it takes none. It is empty for an open dataset without a limit.
func leftNow(q record.DatasetQuota) string {
	if !q.Open {
		return "no run, because " + whyClosed(q)
	}
	return leftOf(q.QuotaLeft)
}

// whyClosed says in a clause why a dataset that is not open takes no runs of the team.
func whyClosed(q record.DatasetQuota) string {
	switch q.ClosedReason {
	case record.ClosedEarly:
		return "it opens only at " + localTime(q.OpensAt)
	case record.ClosedLate:
		return "it closed at " + localTime(q.ClosesAt)
	case record.ClosedAlways:
		return "it closes before it opens"
	case record.ClosedNoTruth:
		return "the organizers have not stored a ground truth without errors"
	case record.ClosedDeleting:
		return "it is being deleted"
	case record.ClosedByTerms:
		return "your team has not accepted the terms of the task"
	default:
		return "the organizers have not accepted your team"
	}
}

// withCarriedOver adds to a refusal that runs of earlier teams count in the quota, if they do.
func withCarriedOver(why string, q record.Quota) string {
	if !q.CarriedOver {
		return why
	}
	return why + " " + carriedOver
}

// leftOfTask says that the quota of the task leaves fewer runs than there are datasets, and why. Otherwise it is empty.
func leftOfTask(q record.Quota, datasets []object) string {
	n := len(datasets)
	if q.Left == nil || *q.Left >= n {
		return ""
	}
	fewer := ""
	if *q.Left > 0 {
		fewer = " Submit to fewer datasets at once."
	}
	return "Left to submit to all datasets together: " + leftOf(q.QuotaLeft) + "." + mayAtMost(limitsBelow(q.QuotaLeft, n, "the task")) + fewer
}

// noneLeft says that no run is left for a dataset, because of which limits, and how the team gets more.
func noneLeft(d object, of record.DatasetQuota, q record.Quota) string {
	said := "Left to submit to " + d.text("name") + ": " + leftOf(of.QuotaLeft) + "." +
		mayAtMost(append(limitsBelow(of.QuotaLeft, 1, "the dataset"), limitsBelow(q.QuotaLeft, 1, "the task")...))
	if of.NextAt == nil {
		said += " If you need more, ask the organizers of the task for an exception."
	}
	return said
}

// limitsBelow returns the limits of a quota that leave fewer than n runs.
func limitsBelow(q record.QuotaLeft, n int, of string) (limits []string) {
	if q.Remaining != nil && *q.Remaining < n {
		limits = append(limits, fmt.Sprintf("%d in all to %s", *q.Total, of))
	}
	if q.RemainingToday != nil && *q.RemainingToday < n {
		limits = append(limits, fmt.Sprintf("%d in 24 hours to %s", *q.PerDay, of))
	}
	return limits
}

// mayAtMost says which limits bind. It is empty without limits.
func mayAtMost(limits []string) string {
	if len(limits) == 0 {
		return ""
	}
	return " Your team may submit at most " + strings.Join(limits, " and ") + "."
}

// tellCarriedOver says that runs of earlier teams count in the quota, if they do.
func (c *call) tellCarriedOver(q record.Quota) {
	if q.CarriedOver && c.err == nil {
		c.note(carriedOver)
	}
}

const carriedOver = "An earlier team of a member had used more of the quota, and your team counts as having used as much."
