package record

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"assay/shared/storage/store"
)

// DatasetSubmissions is the window and the quota of a dataset, within those of its task.
type DatasetSubmissions struct {
	OpensAt  *Instant `json:"opensAt,omitempty" doc:"in place of the task's: nothing can be submitted to the dataset before"`
	ClosesAt *Instant `json:"closesAt,omitempty" doc:"in place of the task's: nothing can be submitted to the dataset from then on"`
	PerDay   int      `json:"perDay" required:"false" minimum:"0" maximum:"100" doc:"runs on the dataset that a team may have in a sliding 24 hours, of those that the task allows; 0: no limit of its own"`
	Total    int      `json:"total" required:"false" minimum:"0" maximum:"1000000" doc:"runs on the dataset that a team may have in all, of those that the task allows; 0: no limit of its own"`
}

// LimitsRuns reports whether the dataset has a quota of its own.
func (s *DatasetSubmissions) LimitsRuns() bool { return s.PerDay+s.Total > 0 }

// Window returns when runs on the dataset can be submitted. Each instant is the dataset's own or, without one, the task's.
func (d *DatasetItem) Window(t *TaskItem) (opens, closes *Instant) { return d.window(&t.Submissions) }

// NeverOpens reports whether the dataset closes before it opens, because one of the two instants is its own and the other is the task's.
func (d *DatasetItem) NeverOpens(t *TaskItem) bool { return isReversed(d.Window(t)) }

func (d *DatasetDraft) window(task *SubmissionRules) (opens, closes *Instant) {
	return d.Submissions.window(task)
}

func (s DatasetSubmissions) window(task *SubmissionRules) (opens, closes *Instant) {
	return cmp.Or(s.OpensAt, task.OpensAt), cmp.Or(s.ClosesAt, task.ClosesAt)
}

// Extension is a later close that an exception grants to a team, for one dataset of a task or, without an ID, for all its datasets.
type Extension struct {
	DatasetID string  `json:"datasetId,omitempty"`
	ClosesAt  Instant `json:"closesAt"`
}

// extend returns the later of closes and the extension's close, if the extension is for the dataset. Otherwise it returns closes. A nil
// closes means that the window never closes, and stays nil.
func (e Extension) extend(closes *Instant, datasetID string) *Instant {
	if closes != nil && (e.DatasetID == "" || e.DatasetID == datasetID) && e.ClosesAt.After(closes.Time) {
		return &e.ClosesAt
	}
	return closes
}

// Embargo names the datasets of a task that show columns from a close or an instant on. A task has an Embargo once a dataset asks for one
// or an exception grants a later close.
//
// Every transaction that moves such an instant updates the Embargo. Its pending work then copies the result to runs and evaluations, which
// moves them between the partitions of lists. Reads do not depend on these copies: they compare the stored closes with the time
// (ValueRules).
type Embargo struct {
	Meta                            // ID is the ID of the task
	Extensions map[string]Extension `json:",omitempty"` // by the ID of the exception
	// Datasets lists the datasets that show columns from a close or an instant on, and those whose columns have changed since the last
	// pass of the pending work.
	Datasets    []string     `json:",omitempty"`
	PendingWork *PendingWork `json:",omitempty"`
}

// EmbargoKey returns the key of a task's Embargo.
func EmbargoKey(taskID string) store.Key { return keyOf(KindTask, taskID, "EMBARGO") }

// Key implements Record.
func (e *Embargo) Key() store.Key { return EmbargoKey(e.ID) }

// Indexes implements Record.
func (e *Embargo) Indexes() [store.NumIndexes]store.Key {
	return indexes{}.pending(DueOthers, e.PendingWork, e.ID)
}

// Release is when the window of the last team closes, from which on columns with FromClose are shown.
type Release struct {
	At      Instant
	Unknown bool // no close is known
}

// Withholds reports whether such columns are not shown at now.
func (r Release) Withholds(now time.Time) bool { return r.Unknown || now.Before(r.At.Time) }

// lastClose returns when the last window of a team closes.
func (d *DatasetItem) lastClose(t *TaskItem, e *Embargo) Release {
	_, closes := d.Window(t)
	if e != nil {
		for _, x := range e.Extensions {
			closes = x.extend(closes, d.ID)
		}
	}
	if closes == nil {
		return Release{Unknown: true}
	}
	return Release{At: *closes}
}

// Extend adds the later close of the exception.
func (e *Embargo) Extend(by Exception) {
	e.Extensions = maps.Clone(e.Extensions)
	if e.Extensions == nil {
		e.Extensions = map[string]Extension{}
	}
	e.Extensions[by.ID] = Extension{DatasetID: by.DatasetID, ClosesAt: *by.ClosesAt}
}

// Drop removes the extensions of the exceptions, and reports whether it removed any.
func (e *Embargo) Drop(gone ...Exception) bool {
	before := len(e.Extensions)
	for _, x := range gone {
		delete(e.Extensions, x.ID)
	}
	return len(e.Extensions) < before
}

// Add adds a dataset.
func (e *Embargo) Add(datasetID string) {
	if !slices.Contains(e.Datasets, datasetID) {
		e.Datasets = append(e.Datasets, datasetID)
	}
}
