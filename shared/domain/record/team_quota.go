package record

import (
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
// problems, and on names the dataset of its runs. keep is the greatest number of runs that Used.Recent holds. morePerDay and moreTotal are
// the parts that exceptions have added. carriedOver is Allowance.CarriedOver.
type limits struct {
	name, on              string
	perDay, total, keep   int
	morePerDay, moreTotal int
	carriedOver           bool
}

// counting adds to the sentence about the rest of a quota that the usage of an earlier team counts, if it does.
func (l limits) counting(sentence problem.Text) problem.Text {
	if !l.carriedOver {
		return sentence
	}
	return problem.Sentence("%s An earlier team of a member had used more of the quota, and your team counts as having used as much.",
		sentence)
}

// makes says how many runs of a submission the quota would count.
func (l limits) makes(n int) string { return "This submission makes " + plural.Count(n, "run") + l.on }

// left says what a limit leaves of a submission with n runs. Of used runs can be more than the limit: organizers can lower it, and runs
// whose refund has ended count again. Exceptions have added more to the limit.
func (l limits) left(n, used, limit int, within string, more int) problem.Text {
	included := ""
	if more > 0 {
		included = ", exceptions of your team included"
	}
	if used > limit {
		return problem.Sentence("%s, and %s count already, although %s allows %d %s%s.", l.makes(n), plural.Count(used, "run"),
			l.name, limit, within, included)
	}
	if included != "" {
		included += ","
	}
	return problem.Sentence("%s, and %d of the %d that %s allows %s%s are left.", l.makes(n), limit-used, limit, l.name, within, included)
}

func madeAt(id string) time.Time { return ulid.Time(ulid.MustParse(id).Time()) }

// expire removes runs that are at least a Day old at now from Recent.
func (u *Used) expire(now time.Time) {
	u.Recent = slices.DeleteFunc(u.Recent, func(id string) bool { return !madeAt(id).After(now.Add(-Day)) })
}

// refuseAlways returns a problem if the limits will not allow n more runs at any time.
func (u *Used) refuseAlways(l limits, n int) error {
	switch {
	case l.total > 0 && u.Total+n > l.total:
		left := l.left(n, u.Total, l.total, "in all", l.moreTotal)
		return problem.QuotaExhausted.New("%s If you need more, ask the organizers of the task for an exception.", l.counting(left))
	case l.perDay > 0 && n > l.perDay:
		return problem.QuotaExhausted.New("%s, and %s allows %d in 24 hours: submit to fewer datasets at once while runs are left, or "+
			"ask the organizers of the task for an exception.", l.makes(n), l.name, l.perDay)
	}
	return nil
}

// refuseUntil returns the problem that the daily limit does not allow n more runs before the time free. first is the dataset of the
// submission that closes first, at the time closes; nil: none closes.
func (g grant) refuseUntil(free time.Time, n int, first *DatasetItem, closes *Instant, now time.Time) error {
	u, l := g.used, g.limits
	left := l.left(n, len(u.Recent), l.perDay, "in 24 hours", l.morePerDay)
	left = l.counting(left)
	if closes != nil && !free.Before(closes.Time) {
		return problem.QuotaExhausted.New("%s Not enough come back before the dataset \"%s\" closes at %s. If you need more, ask the "+
			"organizers of the task for an exception.", left, first.Name, closes)
	}
	return problem.QuotaToday.New("%s Enough come back at %s.", left, At(free)).After(free.Sub(now))
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
		name:        "the task",
		perDay:      t.Submissions.PerDay,
		total:       t.Submissions.Total,
		keep:        MaxPerDay,
		carriedOver: a.CarriedOver,
	})
}

// ofDataset returns the dataset's own limits for the team, including its exceptions.
func (a *Allowance) ofDataset(d *DatasetItem) limits {
	return a.extended(d.ID, limits{
		name:        "this dataset",
		on:          " on the dataset \"" + d.Name + "\"",
		perDay:      d.Submissions.PerDay,
		total:       d.Submissions.Total,
		keep:        MaxDatasetPerDay,
		carriedOver: a.CarriedOver,
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
	if err := a.refuseAlways(t, sets, len(runIDs)); err != nil {
		return err
	}
	if err := a.refuseToday(t, sets, len(runIDs), now); err != nil {
		return err
	}
	a.count(MaxPerDay, runIDs...)
	for i, d := range sets {
		a.used(d.ID).count(MaxDatasetPerDay, runIDs[i])
	}
	return nil
}

// refuseAlways returns a problem if a limit will not allow n more runs, one on each dataset, at any time.
func (a *Allowance) refuseAlways(t *TaskItem, sets []*DatasetItem, n int) error {
	if err := a.Used.refuseAlways(a.ofTask(t), n); err != nil {
		return err
	}
	for _, d := range sets {
		if err := a.used(d.ID).refuseAlways(a.ofDataset(d), 1); err != nil {
			return err
		}
	}
	return nil
}

// refuseToday returns a problem if a daily limit does not allow n more runs now, one on each dataset. The problem names the limit for which
// the team has to wait longest. Waiting helps, because refuseAlways has passed.
func (a *Allowance) refuseToday(t *TaskItem, sets []*DatasetItem, n int, now time.Time) error {
	last, runs := grant{&a.Used, a.ofTask(t)}, n
	last.used.expire(now)
	free, _ := last.allows(n, now)
	for _, d := range sets {
		of := grant{a.used(d.ID), a.ofDataset(d)}
		of.used.expire(now)
		if at, _ := of.allows(1, now); at.After(free) {
			last = of
			runs = 1
			free = at
		}
	}
	if !free.After(now) {
		return nil
	}
	first, closes := a.firstClose(t, sets)
	return last.refuseUntil(free, runs, first, closes, now)
}

// firstClose returns the first of the datasets to close for the team, and when it closes. It returns nil if none closes.
func (a *Allowance) firstClose(t *TaskItem, sets []*DatasetItem) (first *DatasetItem, closes *Instant) {
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
// remains.
func (a *Allowance) Quota(t *TaskItem, sets []*DatasetItem, p Participation, now time.Time) Quota {
	ofTask := grant{&a.Used, a.ofTask(t)}
	q := Quota{QuotaLeft: ofTask.used.left(ofTask.limits, now), CarriedOver: a.CarriedOver}
	q.bind(now, ofTask)
	for _, d := range sets {
		of := grant{a.used(d.ID), a.ofDataset(d)}
		left := of.used.left(of.limits, now)
		left.bind(now, ofTask, of)
		w := a.submissionWindow(t, d, p, now)
		if left.NextAt != nil && !w.opensBy(*left.NextAt) {
			left.NextAt = nil
		}
		q.Datasets = append(q.Datasets, DatasetQuota{
			DatasetID:        d.ID,
			QuotaLeft:        left,
			SubmissionWindow: w,
			Types:            SubmissionTypes(t.Submissions.Types, d.Builds),
			StartsBlinded:    d.StartsBlinded(),
		})
	}
	return q
}
