package record

import (
	"cmp"
	"slices"
	"time"

	"assay/shared/store"
)

// Scores says when the scores of runs on a dataset are shown.
type Scores string

// The rules for scores.
const (
	ScoresLive       Scores = "live"
	ScoresAfterClose Scores = "afterClose"
)

// DatasetSubmissions are the window and the quota of a dataset within those of its task.
type DatasetSubmissions struct {
	OpensAt  *Instant `json:"opensAt,omitempty" doc:"in place of the task's: nothing can be submitted to the dataset before"`
	ClosesAt *Instant `json:"closesAt,omitempty" doc:"in place of the task's: nothing can be submitted to the dataset from then on"`
	PerDay   int      `json:"perDay" required:"false" minimum:"0" maximum:"100" doc:"runs on the dataset that a team may have in a sliding 24 hours, of those that the task allows; 0: no limit of its own"`
	Total    int      `json:"total" required:"false" minimum:"0" maximum:"1000000" doc:"runs on the dataset that a team may have in all, of those that the task allows; 0: no limit of its own"`
}

// Window is when runs on the dataset of the task can be submitted: each instant is the dataset's own or, where it has none, the task's.
func (d *DatasetItem) Window(t *TaskItem) (opens, closes *Instant) { return d.window(&t.Submissions) }

func (d *DatasetDraft) window(task *SubmissionRules) (opens, closes *Instant) {
	return cmp.Or(d.Submissions.OpensAt, task.OpensAt), cmp.Or(d.Submissions.ClosesAt, task.ClosesAt)
}

// Extension is a later close that an exception grants to a team, for one dataset of its task or, without an id, for all.
type Extension struct {
	DatasetID string  `json:"datasetId,omitempty"`
	ClosesAt  Instant `json:"closesAt"`
}

// extend returns the later of the close of the dataset and that of the extension, if it is for the dataset; nil when it never closes.
func (e Extension) extend(closes *Instant, datasetID string) *Instant {
	if closes != nil && (e.DatasetID == "" || e.DatasetID == datasetID) && e.ClosesAt.After(closes.Time) {
		return &e.ClosesAt
	}
	return closes
}

// Embargo says of which datasets of a task the scores are shown to organizers alone until the last team's window closes. A task has
// one once a dataset asks for that, or an exception grants a later close. It is written in the transaction of whatever moves a close,
// and its pending work copies what follows to runs and evaluations, for the partitions of lists. Nobody is shown more than the instants
// allow as they are stored, also by lists (visibility.Viewer.ApplyEmbargo).
type Embargo struct {
	Meta                            // ID is the task's
	Extensions map[string]Extension `json:",omitempty"` // by the id of the exception
	// Datasets are those whose scores are shown after the last close, and those of which that has been so until lately.
	Datasets    []string     `json:",omitempty"`
	PendingWork *PendingWork `json:",omitempty"`
}

// EmbargoKey is the key of a task's Embargo.
func EmbargoKey(taskID string) store.Key { return keyOf(KindTask, taskID, "EMBARGO") }

// Key implements Record.
func (e *Embargo) Key() store.Key { return EmbargoKey(e.ID) }

// Indexes implements Record.
func (e *Embargo) Indexes() [store.NumIndexes]store.Key {
	return indexes{}.pending(e.PendingWork, e.ID)
}

// Release is when scores of a dataset are shown to others than the organizers; the zero Release when nothing delays them.
type Release struct {
	At      Instant
	Unknown bool // no close is known that ends the wait for them
}

// Withholds reports whether scores are withheld at now.
func (r Release) Withholds(now time.Time) bool { return r.Unknown || now.Before(r.At.Time) }

// Release is that of scores of the dataset. The Embargo is nil where the task has none.
func (d *DatasetItem) Release(t *TaskItem, e *Embargo) Release {
	if d.Scores != ScoresAfterClose {
		return Release{}
	}
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

// Embargo sets in the access attributes of a run on the dataset, or of its evaluation, whether scores are withheld at now.
func (d *DatasetItem) Embargo(a *AccessAttributes, r Release, now time.Time) {
	a.AfterClose, a.Embargoed = d.Scores == ScoresAfterClose, r.Withholds(now)
}

// Drop removes the later closes that the exceptions granted, and reports whether there were any.
func (e *Embargo) Drop(gone ...Exception) bool {
	before := len(e.Extensions)
	for _, x := range gone {
		delete(e.Extensions, x.ID)
	}
	return len(e.Extensions) < before
}

// Add adds a dataset whose scores are shown after the last close.
func (e *Embargo) Add(datasetID string) {
	if !slices.Contains(e.Datasets, datasetID) {
		e.Datasets = append(e.Datasets, datasetID)
	}
}
