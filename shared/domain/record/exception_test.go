package record_test

import (
	"testing"
	"time"

	"assay/shared/domain/record"
)

// A dataset that is being deleted takes no submissions, so it does not keep a team open whose other datasets have closed.
func TestClosed_IgnoresDatasetsThatAreBeingDeleted(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	closed := new(record.At(now.Add(-time.Hour)))
	past := new(record.DatasetItem)
	past.Submissions.ClosesAt = closed
	open := new(record.DatasetItem)
	var a *record.Allowance
	if at := a.Closed(new(record.TaskItem), []*record.DatasetItem{past, open}, now); at != nil {
		t.Errorf("a task with an open dataset closed at %s", at)
	}
	open.PendingWork = record.NewPendingWork(record.DeleteDataset, now)
	if at := a.Closed(new(record.TaskItem), []*record.DatasetItem{past, open}, now); at == nil || !at.Equal(closed.Time) {
		t.Errorf("a task whose open dataset is being deleted closed at %v, want %s", at, closed)
	}
	if at := a.Closed(new(record.TaskItem), []*record.DatasetItem{open}, now); at != nil {
		t.Errorf("a task without a window, whose dataset is being deleted, closed at %s", at)
	}
}
