package record_test

import (
	"testing"
	"time"

	"assay/shared/domain/record"
)

// TestStage_FollowsTheDatasets checks tasks whose datasets have windows of their own, at noon.
func TestStage_FollowsTheDatasets(t *testing.T) {
	now := time.Date(2027, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(hours int) *record.Instant { return new(record.At(now.Add(time.Duration(hours) * time.Hour))) }
	type sets = []record.DatasetSubmissions
	ended := record.DatasetSubmissions{ClosesAt: at(-1)}
	later := record.DatasetSubmissions{OpensAt: at(2), ClosesAt: at(5)}
	for name, c := range map[string]struct {
		task record.SubmissionRules
		sets sets
		want record.Stage
	}{
		"without windows":         {sets: sets{{}}, want: record.Stage{Open: true}},
		"without datasets":        {task: record.SubmissionRules{ClosesAt: at(0)}, want: record.Stage{ClosesAt: at(0)}},
		"each dataset has closed": {sets: sets{ended, {ClosesAt: at(-2)}}, want: record.Stage{ClosesAt: at(-1)}},
		"the dataset closes after the task": {
			record.SubmissionRules{ClosesAt: at(-1)}, sets{{}, {ClosesAt: at(3)}}, record.Stage{Open: true, ClosesAt: at(3)}},
		"the dataset closes before the task": {
			record.SubmissionRules{ClosesAt: at(4)}, sets{ended}, record.Stage{ClosesAt: at(-1)}},
		"one dataset has no close":     {sets: sets{ended, {}}, want: record.Stage{Open: true}},
		"one dataset opens later":      {sets: sets{ended, later, {OpensAt: at(3)}}, want: record.Stage{OpensAt: at(2)}},
		"one is open, one opens later": {sets: sets{later, {ClosesAt: at(1)}}, want: record.Stage{Open: true, ClosesAt: at(5)}},
		"the task opens later": {
			record.SubmissionRules{OpensAt: at(1), ClosesAt: at(2)}, nil, record.Stage{OpensAt: at(1), ClosesAt: at(2)}},
	} {
		got := (&record.Task{TaskDraft: record.TaskDraft{Submissions: c.task}}).Stage(c.sets, now)
		same := func(x, y *record.Instant) bool { return x == y || x != nil && y != nil && x.Equal(y.Time) }
		if got.Open != c.want.Open || !same(got.OpensAt, c.want.OpensAt) || !same(got.ClosesAt, c.want.ClosesAt) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if past := c.want.ClosesAt != nil && !now.Before(c.want.ClosesAt.Time); got.Past() != past {
			t.Errorf("%s: past %v", name, got.Past())
		}
	}
}
