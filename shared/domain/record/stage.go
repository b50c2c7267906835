package record

import "time"

// Stage says whether a task takes submissions at an instant.
type Stage struct {
	// Open reports whether the task takes submissions to one of its datasets.
	Open bool
	// OpensAt is when the next dataset opens. It is nil while the task is open, and after its last close.
	OpensAt *Instant
	// ClosesAt is the last close of the task's datasets. It is nil if one of them has no close.
	ClosesAt *Instant
}

// Past reports whether the last dataset has closed.
func (s Stage) Past() bool { return !s.Open && s.OpensAt == nil }

// Stage returns the stage of the task with the windows of its datasets. The window of the task itself stands for the datasets that have
// none, and for a task without datasets.
func (t *Task) Stage(datasets []DatasetSubmissions, now time.Time) (s Stage) {
	if len(datasets) == 0 {
		datasets = []DatasetSubmissions{{}}
	}
	endless := false
	for _, d := range datasets {
		opens, closes := d.window(&t.Submissions)
		past := closes != nil && !now.Before(closes.Time)
		early := opens != nil && now.Before(opens.Time)
		switch {
		case past:
		case !early:
			s.Open = true
		case s.OpensAt == nil || opens.Before(s.OpensAt.Time):
			s.OpensAt = opens
		}
		endless = endless || closes == nil
		if closes != nil && (s.ClosesAt == nil || closes.After(s.ClosesAt.Time)) {
			s.ClosesAt = closes
		}
	}
	if endless {
		s.ClosesAt = nil
	}
	if s.Open {
		s.OpensAt = nil
	}
	return s
}
