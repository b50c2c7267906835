package record

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"assay/shared/store"
)

// Day is the length of the window that a daily quota slides over.
const Day = 24 * time.Hour

// Allowance is what a team has used of a task's quota. It is written in the transaction that makes the runs, so that no
// race overshoots.
type Allowance struct {
	Meta   // ID is the registration's; for baselines without one, and for what a user used in a former team, the user's
	TaskID string
	Used   // of the task's quota
	// Datasets is what was used of the quota of each dataset of the task.
	Datasets map[string]*Used `json:",omitempty"`
	// TruthFailures are the instants within the last Day at which blinded runs failed for what only the truth can know.
	TruthFailures []Instant `json:",omitempty"`
	// Waiting has the ids of the runs that are not known to have ended. A run that ends leaves it only when somebody looks,
	// which is when there would be too many: so their bound costs nothing until it is met.
	Waiting []string `json:",omitempty"`
	// Submissions is how many of the team's submissions under a registration are there. What was used of the quota stays used when one goes.
	Submissions int
	// Runs is how many of the team's runs are there, by dataset: what a dataset that is to be deleted is asked for.
	Runs map[string]int `json:",omitempty"`
	// Final has the ids of the runs that are marked as final, by dataset.
	Final map[string][]string `json:",omitempty"`
	// Exceptions are what organizers grant to the team, the newest first.
	Exceptions []Exception `json:",omitempty"`
	// Rejected is whether the organizers had rejected a registration of the user, who was deleted since. It is set only where the ID is
	// of a DeletedUser.
	Rejected bool `json:",omitempty"`
}

// DeletedUser is the id of the allowance in the task of a user who was deleted. It is the same when the person signs in again, and tells
// nothing to one who does not know the id of the user; in another task it is another.
func DeletedUser(taskID, userID string) string {
	sum := sha256.Sum256([]byte(taskID + "/" + userID))
	return hex.EncodeToString(sum[:])
}

// AllowancePrefix begins the sort keys of a task's allowances.
const AllowancePrefix = "ALLOWANCE#"

// AllowanceKey is the key of the allowance in a task with the id, of a registration or a user.
func AllowanceKey(taskID, id string) store.Key {
	return keyOf(KindTask, taskID, AllowancePrefix+id)
}

// Key implements Record.
func (a *Allowance) Key() store.Key { return AllowanceKey(a.TaskID, a.ID) }

// HasUsed reports whether a team used something, or had a failure that counts, or a deleted user was rejected: otherwise the allowance is
// of baselines alone. A nil Allowance has not.
func (a *Allowance) HasUsed() bool {
	return a != nil && (a.Total+a.Submissions+len(a.TruthFailures) > 0 || a.Rejected)
}

// CarryOver raises the user's usage to that of the team that the user leaves. Otherwise changing teams would reset the quota.
func (a *Allowance) CarryOver(team *Allowance) {
	a.atLeast(&team.Used)
	for id, used := range team.Datasets {
		a.used(id).atLeast(used)
	}
	a.TruthFailures = latest(a.TruthFailures, team.TruthFailures, func(x, y Instant) int { return x.Compare(y.Time) })
	a.Rejected = a.Rejected || team.Rejected
}

// MaxTruthFailures is how many blinded runs of a team in a task may fail in a Day for what only the truth can know. That a run
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

// Drop is the inverse of Keep. The run is none of the final ones any more.
func (a *Allowance) Drop(datasetID, runID string) {
	if a.Runs[datasetID] > 1 {
		a.Runs[datasetID]--
	} else {
		delete(a.Runs, datasetID)
	}
	a.unmark(datasetID, runID)
}
