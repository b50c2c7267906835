package record

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"assay/shared/storage/store"
)

// Day is the length of the sliding window of daily quotas.
const Day = 24 * time.Hour

// Allowance records how much of a task's quota a team has used, and what else counts for the team in the task. It is updated in the
// transaction that creates the runs, so that concurrent submissions cannot exceed the quota.
//
// Its ID depends on whose usage it records:
//
//	team                     ID of the registration
//	baselines of a user      ID of the user, who needs no registration
//	users who left a team    ID of the user; CarryOver raises the usage of the next team
//	deleted user             DeletedUser(TaskID, ID of the user)
type Allowance struct {
	Meta   // see above for the ID
	TaskID string
	Used   // usage of the task's quota
	// Datasets holds the usage of the datasets' own quotas, by dataset ID.
	Datasets map[string]*Used `json:",omitempty"`
	// TruthFailures lists the failures within the last Day that FailByTruth counted.
	TruthFailures []Instant `json:",omitempty"`
	// Waiting lists runs that may not have ended, by ID. A run that ends stays in the list until the list reaches its limit and is
	// checked. So most submissions need not read the waiting runs.
	Waiting []string `json:",omitempty"`
	// Submissions counts the team's submissions that exist. Deleting a submission decreases it, but gives back none of the quota.
	Submissions int
	// Runs counts the team's runs that exist, by dataset ID. A dataset can be deleted once no team has a run on it.
	Runs map[string]int `json:",omitempty"`
	// Final lists the IDs of the runs that are marked as final, by dataset ID.
	Final map[string][]string `json:",omitempty"`
	// Exceptions lists what organizers have granted to the team, newest first.
	Exceptions []Exception `json:",omitempty"`
	// CarriedOver reports whether CarryOver has raised the usage.
	CarriedOver bool `json:",omitempty"`
	// Rejected reports whether organizers rejected a registration of the user before the user was deleted. Only a DeletedUser has it.
	Rejected bool `json:",omitempty"`
}

// DeletedUser returns the ID of a deleted user's allowance in a task. The same person gets the same ID after signing in again. The ID
// reveals nothing to readers who do not know the user's ID, and differs from task to task.
func DeletedUser(taskID, userID string) string {
	sum := sha256.Sum256([]byte(taskID + "/" + userID))
	return hex.EncodeToString(sum[:])
}

// AllowancePrefix begins the sort keys of a task's allowances.
const AllowancePrefix = "ALLOWANCE#"

// AllowanceKey returns the key of the allowance with the ID in the task.
func AllowanceKey(taskID, id string) store.Key {
	return keyOf(KindTask, taskID, AllowancePrefix+id)
}

// Key implements Record.
func (a *Allowance) Key() store.Key { return AllowanceKey(a.TaskID, a.ID) }

// HasUsed reports whether the allowance must outlive its registration or user: it has usage, submissions or counted failures, or
// records a rejection. It returns false for nil and for allowances that only baselines use.
func (a *Allowance) HasUsed() bool {
	return a != nil && (a.Total+a.Submissions+len(a.TruthFailures) > 0 || a.Rejected)
}

// CarryOver raises the user's usage to that of the team that the user leaves. Otherwise changing teams would reset the quota.
func (a *Allowance) CarryOver(team *Allowance) {
	a.CarriedOver = a.atLeast(&team.Used) || a.CarriedOver
	for id, used := range team.Datasets {
		a.CarriedOver = a.used(id).atLeast(used) || a.CarriedOver
	}
	a.TruthFailures = latest(a.TruthFailures, team.TruthFailures, func(x, y Instant) int { return x.Compare(y.Time) })
	a.Rejected = a.Rejected || team.Rejected
}

// MaxTruthFailures is how many runs of a team in a task, whose values the team does not see, may fail within a Day for reasons that depend
// on the ground truth (qrels, labels). Each such failure reveals something about the ground truth, and failed runs do not count against the
// quota. Beyond the limit, such runs end as completed, with null for every measure.
const MaxTruthFailures = 5

// NextTruthFailure returns when a run whose values its team does not see may next fail for a reason that depends on the ground truth. It
// returns nil if one may fail now.
func (a *Allowance) NextTruthFailure(now time.Time) *Instant {
	a.TruthFailures = slices.DeleteFunc(a.TruthFailures, func(at Instant) bool { return !at.After(now.Add(-Day)) })
	over := len(a.TruthFailures) - MaxTruthFailures
	if over < 0 {
		return nil
	}
	return new(At(a.TruthFailures[over].Add(Day)))
}

// FailByTruth counts the failure of a run whose values its team does not see for a reason that depends on the ground truth, and returns
// true. If the team has reached MaxTruthFailures, it counts nothing and returns false.
func (a *Allowance) FailByTruth(now time.Time) bool {
	if a.NextTruthFailure(now) != nil {
		return false
	}
	a.TruthFailures = append(a.TruthFailures, At(now))
	return true
}

// Keep counts a new run on the dataset.
func (a *Allowance) Keep(datasetID string) {
	if a.Runs == nil {
		a.Runs = map[string]int{}
	}
	a.Runs[datasetID]++
}

// Drop is the inverse of Keep: it stops counting the run, and removes the run's mark as final.
func (a *Allowance) Drop(datasetID, runID string) {
	if a.Runs[datasetID] > 1 {
		a.Runs[datasetID]--
	} else {
		delete(a.Runs, datasetID)
	}
	a.Unmark(datasetID, runID)
}
