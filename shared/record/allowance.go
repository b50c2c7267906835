package record

import (
	"slices"
	"time"

	"assay/shared/plural"
	"assay/shared/problem"
	"assay/shared/store"

	"github.com/oklog/ulid/v2"
)

// Day is the length of the window that a daily quota slides over.
const Day = 24 * time.Hour

// Allowance is what a user has used of a task's quota. It is written in the transaction that makes the runs, so that no
// race overshoots.
type Allowance struct {
	Meta   // ID is the user's
	TaskID string
	Total  int      // runs that count
	Recent []string // ids of those made within the last Day, oldest first; an id tells its instant
	// TruthFailures are the instants within the last Day at which blinded runs failed for what only the truth can know.
	TruthFailures []Instant `json:",omitempty"`
	// Waiting has the ids of the runs that are not known to have ended. A run that ends leaves it only when somebody looks,
	// which is when there would be too many: so their bound costs nothing until it is met.
	Waiting []string `json:",omitempty"`
	// Submissions is how many of the user's submissions under a registration are there. What was used of the quota stays used when one goes.
	Submissions int
	// Runs is how many of the user's runs are there, by dataset: what a dataset that is to be deleted is asked for.
	Runs map[string]int `json:",omitempty"`
}

// AllowancePrefix begins the sort keys of a task's allowances.
const AllowancePrefix = "ALLOWANCE#"

// AllowanceKey is the key of a user's allowance in a task.
func AllowanceKey(taskID, userID string) store.Key {
	return keyOf(KindTask, taskID, AllowancePrefix+userID)
}

// Key implements Record.
func (a *Allowance) Key() store.Key { return AllowanceKey(a.TaskID, a.ID) }

// expire forgets the recent runs that are a Day old at now.
func (a *Allowance) expire(now time.Time) {
	a.Recent = slices.DeleteFunc(a.Recent, func(id string) bool { return !madeAt(id).After(now.Add(-Day)) })
}

func madeAt(id string) time.Time { return ulid.Time(ulid.MustParse(id).Time()) }

// Charge counts the new runs, or returns the problem when the rules do not allow so many.
func (a *Allowance) Charge(rules SubmissionRules, runIDs []string, now time.Time) error {
	a.expire(now)
	n := len(runIDs)
	if rules.Total > 0 && a.Total+n > rules.Total {
		return problem.QuotaExhausted.New("This submission makes %s, and %d of the %d that the task allows in all are left.",
			plural.Count(n, "run"), max(0, rules.Total-a.Total), rules.Total)
	}
	if rules.PerDay > 0 && len(a.Recent)+n > rules.PerDay {
		if n > rules.PerDay {
			return problem.QuotaExhausted.New("This submission makes %s, and the task allows %d in 24 hours: submit to fewer datasets at once.",
				plural.Count(n, "run"), rules.PerDay)
		}
		free := madeAt(a.Recent[len(a.Recent)+n-rules.PerDay-1]).Add(Day)
		return problem.QuotaToday.New("This submission makes %s, and %d of the %d that the task allows in 24 hours are left. Enough come back "+
			"at %s.",
			plural.Count(n, "run"), max(0, rules.PerDay-len(a.Recent)), rules.PerDay, At(free).sortable()).After(free.Sub(now))
	}
	a.Total += n
	a.Recent = append(a.Recent, runIDs...)
	if drop := len(a.Recent) - MaxPerDay; drop > 0 {
		a.Recent = slices.Delete(a.Recent, 0, drop)
	}
	return nil
}

// MaxTruthFailures is how many blinded runs of a user in a task may fail in a Day for what only the truth can know. That a run
// failed tells something of the truth, and a failed run does not count in the quota: what fails beyond the bound ends as
// completed, with measures that are null.
const MaxTruthFailures = 5

// NextTruthFailure returns when a blinded run may fail again for what only the truth can know; nil when it may now.
func (a *Allowance) NextTruthFailure(now time.Time) *Instant {
	a.TruthFailures = slices.DeleteFunc(a.TruthFailures, func(at Instant) bool { return !at.After(now.Add(-Day)) })
	over := len(a.TruthFailures) - MaxTruthFailures
	if over < 0 {
		return nil
	}
	return new(At(a.TruthFailures[over].Add(Day)))
}

// FailByTruth counts a failure of a blinded run for what only the truth can know, and reports whether it may be one.
func (a *Allowance) FailByTruth(now time.Time) bool {
	if a.NextTruthFailure(now) != nil {
		return false
	}
	a.TruthFailures = append(a.TruthFailures, At(now))
	return true
}

// Keep counts that a run on the dataset is there, and Drop that it is no more.
func (a *Allowance) Keep(datasetID string) {
	if a.Runs == nil {
		a.Runs = map[string]int{}
	}
	a.Runs[datasetID]++
}

// Drop is the inverse of Keep.
func (a *Allowance) Drop(datasetID string) {
	if a.Runs[datasetID]--; a.Runs[datasetID] <= 0 {
		delete(a.Runs, datasetID)
	}
}

// Refund takes back what Charge counted for a run that failed or was cancelled.
func (a *Allowance) Refund(runID string) {
	a.Total = max(0, a.Total-1)
	left := func(id string) bool { return id == runID }
	a.Recent = slices.DeleteFunc(a.Recent, left)
	a.Waiting = slices.DeleteFunc(a.Waiting, left)
}

// Recharge counts a run again that was refunded and now is evaluated after all. It never refuses: the organizer's
// change brought the run back, not its user.
func (a *Allowance) Recharge(runID string, now time.Time) {
	a.Total++
	if madeAt(runID).After(now.Add(-Day)) {
		a.Recent = append(a.Recent, runID)
		slices.Sort(a.Recent)
	}
}

// Quota tells what is left under the rules.
func (a *Allowance) Quota(rules SubmissionRules, now time.Time) Quota {
	a.expire(now)
	var q Quota
	if rules.PerDay > 0 {
		q.PerDay, q.RemainingToday = &rules.PerDay, new(max(0, rules.PerDay-len(a.Recent)))
		if len(a.Recent) > 0 {
			q.ResetsAt = new(At(madeAt(a.Recent[0]).Add(Day)))
		}
	}
	if rules.Total > 0 {
		q.Total, q.Remaining = &rules.Total, new(max(0, rules.Total-a.Total))
	}
	return q
}
