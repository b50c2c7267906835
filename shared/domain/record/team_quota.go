package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"github.com/oklog/ulid/v2"
)

// MaxDatasetPerDay is the greatest daily quota of a dataset. MaxPerDay is the greatest daily quota of a task.
const MaxDatasetPerDay = 100

// Used is a team's usage of one quota.
type Used struct {
	Total  int      // runs that count
	Recent []string // IDs of counted runs made within the last Day, oldest first; an ID contains the time at which it was made
}

// limits are the limits of one quota, including exceptions. A perDay or total of 0 does not limit. name names the owner of the quota in
// problems. keep is the greatest number of runs that Used.Recent holds. morePerDay and moreTotal are the parts that exceptions have added.
type limits struct {
	name                  string
	perDay, total, keep   int
	morePerDay, moreTotal int
}

// left says what a limit leaves. Of used runs can be more than the limit: organizers can lower it, and runs whose refund has ended count
// again. Exceptions have added more to the limit.
func (l limits) left(used, limit int, within string, more int) string {
	included := ""
	if more > 0 {
		included = ", exceptions of your team included"
	}
	if used > limit {
		return fmt.Sprintf("%s count already, although %s allows %d %s%s", plural.Count(used, "run"), l.name, limit, within, included)
	}
	if included != "" {
		included += ","
	}
	left := limit - used
	return fmt.Sprintf("%d of the %d that %s allows %s%s %s left", left, limit, l.name, within, included, plural.Verb(left, "is", "are"))
}

func madeAt(id string) time.Time { return ulid.Time(ulid.MustParse(id).Time()) }

// expire removes runs that are at least a Day old at now from Recent.
func (u *Used) expire(now time.Time) {
	u.Recent = slices.DeleteFunc(u.Recent, func(id string) bool { return !madeAt(id).After(now.Add(-Day)) })
}

// short says what the limits of the grant leave that allow fewer than n more runs now: the limits in all, and those of a day.
func (g grant) short(n int) (inAll, ofDay []string) {
	l, u := g.limits, g.used
	if l.total > 0 && u.Total+n > l.total {
		inAll = append(inAll, l.left(u.Total, l.total, "in all", l.moreTotal))
	}
	if l.perDay > 0 && len(u.Recent)+n > l.perDay {
		ofDay = append(ofDay, l.left(len(u.Recent), l.perDay, "in 24 hours", l.morePerDay))
	}
	return inAll, ofDay
}

// count counts the runs, and keeps the newest keep runs in Recent.
func (u *Used) count(keep int, runIDs ...string) {
	u.Total += len(runIDs)
	u.Recent = append(u.Recent, runIDs...)
	if drop := len(u.Recent) - keep; drop > 0 {
		u.Recent = slices.Delete(u.Recent, 0, drop)
	}
}

func (u *Used) refund(runID string) {
	u.Total = max(0, u.Total-1)
	u.Recent = slices.DeleteFunc(u.Recent, func(id string) bool { return id == runID })
}

func (u *Used) recharge(runID string, now time.Time) {
	u.Total++
	if madeAt(runID).After(now.Add(-Day)) {
		u.Recent = append(u.Recent, runID)
		slices.Sort(u.Recent)
	}
}

// atLeast raises the usage to at least that of other, and reports whether it was less.
func (u *Used) atLeast(other *Used) (raised bool) {
	before := *u
	u.Total = max(u.Total, other.Total)
	u.Recent = latest(u.Recent, other.Recent, strings.Compare)
	return u.Total != before.Total || !slices.Equal(u.Recent, before.Recent)
}

// latest compares two lists, each oldest first, position by position from the end, and takes the later element of each pair. For any
// age, the result has at least as many younger elements as each list. The result is as long as the longer list.
func latest[T any](a, b []T, compare func(T, T) int) []T {
	if len(a) < len(b) {
		a, b = b, a
	}
	all, more := slices.Clone(a), len(a)-len(b)
	for i, other := range b {
		if compare(other, all[more+i]) > 0 {
			all[more+i] = other
		}
	}
	return all
}

// left returns what each of the limits leaves by itself.
func (u *Used) left(l limits, now time.Time) (q QuotaLeft) {
	u.expire(now)
	if l.perDay > 0 {
		q.PerDay = &l.perDay
		q.RemainingToday = new(max(0, l.perDay-len(u.Recent)))
		if len(u.Recent) > 0 {
			q.ResetsAt = new(At(madeAt(u.Recent[0]).Add(Day)))
		}
	}
	if l.total > 0 {
		q.Total, q.Remaining = &l.total, new(max(0, l.total-u.Total))
	}
	return q
}

// ofTask returns the task's limits for the team, including its exceptions.
func (a *Allowance) ofTask(t *TaskItem) limits {
	return a.extended("", limits{
		name:   "the task",
		perDay: t.Submissions.PerDay,
		total:  t.Submissions.Total,
		keep:   MaxPerDay,
	})
}

// ofDataset returns the dataset's own limits for the team, including its exceptions.
func (a *Allowance) ofDataset(d *DatasetItem) limits {
	return a.extended(d.ID, limits{
		name:   fmt.Sprintf("the dataset %q", d.Name),
		perDay: d.Submissions.PerDay,
		total:  d.Submissions.Total,
		keep:   MaxDatasetPerDay,
	})
}

// extended adds the exceptions for the dataset to the limits; an empty ID means those for the task. Exceptions add to limits that
// exist, and create none.
func (a *Allowance) extended(datasetID string, l limits) limits {
	perDay, total := l.perDay, l.total
	for _, e := range a.Exceptions {
		if e.DatasetID == datasetID && perDay > 0 {
			l.perDay = min(l.perDay+e.PerDay, l.keep)
		}
		if e.DatasetID == datasetID && total > 0 {
			l.total += e.Total
		}
	}
	l.morePerDay, l.moreTotal = l.perDay-perDay, l.total-total
	return l
}

// used returns the usage of the dataset's quota.
func (a *Allowance) used(datasetID string) *Used {
	if a.Datasets == nil {
		a.Datasets = map[string]*Used{}
	}
	if a.Datasets[datasetID] == nil {
		a.Datasets[datasetID] = new(Used)
	}
	return a.Datasets[datasetID]
}

// Charge counts one new run on each dataset of the task. If a quota does not allow the runs, Charge returns a problem and counts
// nothing.
func (a *Allowance) Charge(t *TaskItem, sets []*DatasetItem, runIDs []string, now time.Time) error {
	if err := a.refuse(t, sets, len(runIDs), now); err != nil {
		return err
	}
	a.count(MaxPerDay, runIDs...)
	for i, d := range sets {
		a.used(d.ID).count(MaxDatasetPerDay, runIDs[i])
	}
	return nil
}

// refuse returns a problem if a limit does not allow n more runs now, one on each dataset. The problem names all limits that do not,
// because an exception or waiting helps only against one of them.
func (a *Allowance) refuse(t *TaskItem, sets []*DatasetItem, n int, now time.Time) error {
	ofTask := grant{&a.Used, a.ofTask(t)}
	ofTask.used.expire(now)
	inAll, ofDay := ofTask.short(n)
	free, waitingHelps := ofTask.allows(n, now)
	fewerHelp := false // whether the limits allow a submission to one of several datasets at some time
	_, taskTakes := ofTask.allows(1, now)
	for _, d := range sets {
		of := grant{a.used(d.ID), a.ofDataset(d)}
		of.used.expire(now)
		inAllOf, ofDayOf := of.short(1)
		inAll = append(inAll, inAllOf...)
		ofDay = append(ofDay, ofDayOf...)
		at, takes := of.allows(1, now)
		waitingHelps = waitingHelps && takes
		fewerHelp = fewerHelp || n > 1 && takes && taskTakes
		if at.After(free) {
			free = at
		}
	}
	if len(inAll)+len(ofDay) == 0 {
		return nil
	}
	left := fmt.Sprintf("This submission makes %s, and %s.", plural.Count(n, "run"), strings.Join(append(inAll, ofDay...), ", and "))
	if a.CarriedOver {
		left += " An earlier team of a member had used more of the quota, and your team counts as having used as much."
	}
	first, closes := a.FirstClose(t, sets)
	switch {
	case !waitingHelps && fewerHelp:
		return problem.QuotaExhausted.New("%s Submit to fewer datasets at once while runs are left, or ask the organizers of the task for an "+
			"exception.", left)
	case !waitingHelps:
		return problem.QuotaExhausted.New("%s If you need more, ask the organizers of the task for an exception.", left)
	case closes != nil && !free.Before(closes.Time):
		return problem.QuotaExhausted.New("%s Not enough come back before the dataset %q closes at %s. If you need more, ask the "+
			"organizers of the task for an exception.", left, first.Name, closes)
	}
	return problem.QuotaToday.New("%s Enough come back at %s.", left, At(free)).After(free.Sub(now))
}

// FirstClose returns the first of the datasets to close for the team, and when it closes. It returns nil if none closes.
func (a *Allowance) FirstClose(t *TaskItem, sets []*DatasetItem) (first *DatasetItem, closes *Instant) {
	for _, d := range sets {
		_, at := a.Window(t, d)
		if at != nil && (closes == nil || at.Before(closes.Time)) {
			first = d
			closes = at
		}
	}
	return first, closes
}

// Refund reverses Charge for a run that failed or was cancelled.
func (a *Allowance) Refund(datasetID, runID string) {
	a.refund(runID)
	a.used(datasetID).refund(runID)
	a.Waiting = slices.DeleteFunc(a.Waiting, func(id string) bool { return id == runID })
}

// Recharge counts a refunded run that is evaluated after all. It never refuses, because an organizer caused the evaluation, not the
// team.
func (a *Allowance) Recharge(datasetID, runID string, now time.Time) {
	a.recharge(runID, now)
	a.used(datasetID).recharge(runID, now)
}

// NoteUnserved sets in q which types of submissions to the datasets no worker serves at now.
func (q *Quota) NoteUnserved(t *TaskItem, sets []*DatasetItem, serving *Serving, now time.Time) {
	for i, d := range sets {
		q.Datasets[i].UnservedTypes = serving.UnservedTypes(t, d, now)
	}
}

// Quota returns what remains of the task's quota for a team, and for each of the datasets whether the team can submit to it and what
// remains. The task's NextAt is nil if no dataset takes runs by then.
func (a *Allowance) Quota(t *TaskItem, sets []*DatasetItem, p Participation, now time.Time) Quota {
	ofTask := grant{&a.Used, a.ofTask(t)}
	q := Quota{QuotaLeft: ofTask.used.left(ofTask.limits, now), CarriedOver: a.CarriedOver}
	q.bind(now, ofTask)
	helps := len(sets) == 0
	for _, d := range sets {
		of := grant{a.used(d.ID), a.ofDataset(d)}
		left := of.used.left(of.limits, now)
		left.bind(now, ofTask, of)
		w := a.submissionWindow(t, d, p, now)
		if left.NextAt != nil && !w.opensBy(*left.NextAt) {
			left.NextAt = nil
		}
		helps = helps || q.NextAt != nil && w.opensBy(*q.NextAt)
		q.Datasets = append(q.Datasets, DatasetQuota{
			DatasetID:        d.ID,
			QuotaLeft:        left,
			SubmissionWindow: w,
			Types:            SubmissionTypes(t.Submissions.Types, d.Builds),
			StartsBlinded:    d.StartsBlinded(),
		})
	}
	if !helps {
		q.NextAt = nil
	}
	return q
}
