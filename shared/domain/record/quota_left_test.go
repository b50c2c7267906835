package record_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// TestQuota_SaysWhyADatasetIsClosed asks for the window of a dataset. A team that is not accepted learns what else is in the way.
func TestQuota_SaysWhyADatasetIsClosed(t *testing.T) {
	before := new(record.At(noon.Add(-time.Hour)))
	after := new(record.At(noon.Add(time.Hour)))
	pending := record.Participation{State: record.Pending}
	terms := record.Participation{State: record.Accepted, LacksTerms: true}
	for name, c := range map[string]struct {
		opens, closes *record.Instant
		truth         int64
		team          record.Participation
		want          record.ClosedReason
	}{
		"pending":                     {nil, after, 1, pending, record.ClosedUnregistered},
		"pending, closed":             {nil, before, 1, pending, record.ClosedLate},
		"pending, not open yet":       {after, nil, 1, pending, record.ClosedEarly},
		"pending, no ground truth":    {nil, nil, 0, pending, record.ClosedNoTruth},
		"without terms":               {nil, after, 1, terms, record.ClosedByTerms},
		"without terms, closed":       {nil, before, 1, terms, record.ClosedLate},
		"pending and without terms":   {nil, nil, 1, record.Participation{State: record.Pending, LacksTerms: true}, record.ClosedUnregistered},
		"accepted, never opens":       {after, after, 1, record.Participation{State: record.Accepted}, record.ClosedAlways},
		"accepted, with all it needs": {before, after, 1, record.Participation{State: record.Accepted}, ""},
	} {
		set := new(record.DatasetItem)
		set.TruthVersion = c.truth
		set.Submissions.OpensAt, set.Submissions.ClosesAt = c.opens, c.closes
		q := new(record.Allowance).Quota(new(record.TaskItem), []*record.DatasetItem{set}, c.team, noon).Datasets[0]
		if q.ClosedReason != c.want || q.Open != (c.want == "") {
			t.Errorf("%s: open %v, because %q, want %q", name, q.Open, q.ClosedReason, c.want)
		}
	}
}

// TestQuota_PromisesNoRunAfterTheLastClose uses up the daily quota of a task. The next run comes a day later, if a dataset takes it then.
func TestQuota_PromisesNoRunAfterTheLastClose(t *testing.T) {
	soon := new(record.At(noon.Add(time.Hour)))
	later := new(record.At(noon.Add(2 * record.Day)))
	for _, c := range []struct {
		closes []*record.Instant
		helps  bool
	}{
		{nil, true}, {[]*record.Instant{nil}, true}, {[]*record.Instant{soon}, false}, {[]*record.Instant{soon, later}, true},
		{[]*record.Instant{soon, soon}, false},
	} {
		task := new(record.TaskItem)
		task.Submissions.PerDay = 1
		var sets []*record.DatasetItem
		for i, closes := range c.closes {
			set := new(record.DatasetItem)
			set.ID = strconv.Itoa(i)
			set.TruthVersion = 1
			set.Submissions.ClosesAt = closes
			sets = append(sets, set)
		}
		a := new(record.Allowance)
		a.Recent = []string{record.NewID(noon)}
		q := a.Quota(task, sets, record.Participation{State: record.Accepted}, noon)
		if got := q.NextAt != nil; got != c.helps || *q.Left != 0 {
			t.Errorf("closes %v: the next run comes at %v, and %d are left", c.closes, q.NextAt, *q.Left)
		}
	}
}

// TestCharge_AdvisesFewerDatasets submits to two datasets at once. Fewer help only if the task and one of the datasets take a run at all.
func TestCharge_AdvisesFewerDatasets(t *testing.T) {
	const fewer = "Submit to fewer datasets at once while runs are left, or ask the organizers of the task for an exception."
	const exception = "If you need more, ask the organizers of the task for an exception."
	for name, c := range map[string]struct {
		perDay, total, ofFirst, ofSecond int
		want                             string
	}{
		"the day of the task is too short":      {perDay: 1, want: fewer},
		"one dataset is used up":                {ofFirst: 1, want: fewer},
		"both datasets are used up":             {ofFirst: 1, ofSecond: 1, want: exception},
		"the task has one run left":             {total: 3, want: fewer},
		"the task and one dataset are used up":  {total: 2, ofFirst: 1, want: exception},
		"the day of the task, and all datasets": {perDay: 1, ofFirst: 1, ofSecond: 1, want: exception},
	} {
		task := new(record.TaskItem)
		var both []*record.DatasetItem
		for _, id := range []string{"one", "two"} {
			both = append(both, &record.DatasetItem{Dataset: record.Dataset{Meta: record.Meta{ID: id}}})
		}
		var a record.Allowance
		charge := func() error {
			return a.Charge(task, both, []string{record.NewID(noon), record.NewID(noon)}, noon.Add(time.Hour))
		}
		if err := charge(); err != nil {
			t.Fatal(err)
		}
		task.Submissions.PerDay, task.Submissions.Total = c.perDay, c.total
		both[0].Submissions.Total, both[1].Submissions.Total = c.ofFirst, c.ofSecond
		p, refused := errors.AsType[*problem.Error](charge())
		if !refused || p.Kind != problem.QuotaExhausted || !strings.HasSuffix(p.Detail, "left. "+c.want) &&
			!strings.HasSuffix(p.Detail, "in 24 hours. "+c.want) {
			t.Errorf("%s: got %v, want %s", name, p, c.want)
		}
	}
}
