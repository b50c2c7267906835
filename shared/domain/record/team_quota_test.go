package record_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/testing/nightlytest"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

// quotaModel counts a team's usage of the quotas of a task and its datasets in the simplest way.
type quotaModel struct {
	task       *record.TaskItem
	sets       []*record.DatasetItem
	exceptions []record.Exception
	runs       []modelRun // runs that count
}

type modelRun struct {
	id, datasetID string
	at            time.Time
}

// used returns the runs of the last Day, and all runs, of a dataset or, without one, of the task.
func (m *quotaModel) used(datasetID string, now time.Time) (today, all int) {
	for _, r := range m.runs {
		if datasetID != "" && r.datasetID != datasetID {
			continue
		}
		all++
		if r.at.After(now.Add(-record.Day)) {
			today++
		}
	}
	return today, all
}

// room returns how many more runs are allowed, or a large number without a limit.
func (m *quotaModel) room(datasetID string, perDay, total int, now time.Time) int {
	today, all := m.used(datasetID, now)
	left := 1_000_000
	for _, e := range m.exceptions {
		if e.DatasetID != datasetID {
			continue
		}
		if perDay > 0 {
			perDay += e.PerDay
		}
		if total > 0 {
			total += e.Total
		}
	}
	if perDay > 0 {
		left = min(left, perDay-today)
	}
	if total > 0 {
		left = min(left, total-all)
	}
	return left
}

func drawQuota(t *rapid.T) *quotaModel {
	m := &quotaModel{task: new(record.TaskItem)}
	m.task.ID = "task"
	m.task.Submissions.PerDay = rapid.IntRange(0, 5).Draw(t, "perDay")
	m.task.Submissions.Total = rapid.IntRange(0, 12).Draw(t, "total")
	for _, id := range []string{"one", "two"} {
		d := &record.DatasetItem{Dataset: record.Dataset{Meta: record.Meta{ID: id}}}
		d.TaskID = "task"
		d.TruthVersion = 1
		d.Submissions.PerDay = rapid.IntRange(0, 3).Draw(t, "perDay of "+id)
		d.Submissions.Total = rapid.IntRange(0, 7).Draw(t,
			"total of "+id)
		m.sets = append(m.sets, d)
	}
	for range rapid.IntRange(0, 2).Draw(t, "exceptions") {
		e := record.Exception{ExceptionDraft: record.ExceptionDraft{DatasetID: rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "of")}}
		e.PerDay = rapid.IntRange(0, 2).Draw(t, "more a day")
		e.Total = rapid.IntRange(0, 2).Draw(t, "more in all")
		m.exceptions = append(m.exceptions, e)
	}
	return m
}

// TestAllowance_CountsTheRunsOfADay compares quotas of a task and its datasets with quotaModel, through charges, refunds, recharges,
// exceptions and time.
func TestAllowance_CountsTheRunsOfADay(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		m := drawQuota(t)
		a := record.Allowance{Exceptions: m.exceptions}
		var refunded []modelRun
		now := noon
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 10*3600).Draw(t, "seconds")) * time.Second)
			if len(m.runs) > 0 && rapid.IntRange(0, 3).Draw(t, "refund") == 0 {
				i := rapid.IntRange(0, len(m.runs)-1).Draw(t, "which")
				a.Refund(m.runs[i].datasetID, m.runs[i].id)
				refunded = append(refunded, m.runs[i])
				m.runs = slices.Delete(m.runs, i, i+1)
				continue
			}
			if len(refunded) > 0 && rapid.Bool().Draw(t, "recharge") {
				a.Recharge(refunded[0].datasetID, refunded[0].id, now)
				m.runs, refunded = append(m.runs, refunded[0]), refunded[1:]
				continue
			}
			sets := m.sets[:rapid.IntRange(1, 2).Draw(t, "datasets")]
			var ids []string
			for range sets {
				ids = append(ids, record.NewID(now))
			}
			err := a.Charge(m.task, sets, ids, now)
			if (err == nil) != m.fits(sets, now) {
				t.Fatalf("%d more than %+v under %+v, %+v: %v", len(ids), m.runs, m.task.Submissions, m.sets, err)
			}
			p, _ := errors.AsType[*problem.Error](err)
			if problem.QuotaToday.Is(err) && (p.RetryAfter <= 0 || !m.fits(sets, now.Add(p.RetryAfter))) {
				t.Fatalf("%v does not say when enough come back", err)
			}
			if err != nil {
				continue
			}
			for i, d := range sets {
				m.runs = append(m.runs, modelRun{ids[i], d.ID, now})
			}
			m.checkQuota(t, a.Quota(m.task, m.sets, record.Participation{State: record.Accepted}, now), now)
		}
	})
}

// TestCharge_NamesTheLimitsThatBind uses up several limits. An exception or waiting helps only against one of them, so all are named.
func TestCharge_NamesTheLimitsThatBind(t *testing.T) {
	type limits struct{ PerDay, Total int }
	const used = 2 // runs on the dataset
	for name, c := range map[string]struct {
		task, set limits
		granted   int // of the task, by an exception
		kind      *problem.Kind
		want      string
	}{
		"no limit": {limits{}, limits{}, 0, nil, ""},
		"the day of the task": {limits{PerDay: 2}, limits{}, 0, problem.QuotaToday,
			"This submission makes 1 run, and 0 of the 2 that the task allows in 24 hours are left. Enough come back at 2"},
		"all of the task, and its day": {limits{PerDay: 2, Total: 2}, limits{}, 0, problem.QuotaExhausted,
			"This submission makes 1 run, and 0 of the 2 that the task allows in all are left, and 0 of the 2 that the task allows in 24 hours " +
				"are left. If you need more, ask"},
		"all of the dataset, and the day of the task": {limits{PerDay: 2}, limits{Total: 2}, 0, problem.QuotaExhausted,
			`This submission makes 1 run, and 0 of the 2 that the dataset "Rivers" allows in all are left, and 0 of the 2 that the task ` +
				"allows in 24 hours are left. If you need more, ask"},
		"all of the task, and all of the dataset": {limits{Total: 2}, limits{Total: 2}, 0, problem.QuotaExhausted,
			"This submission makes 1 run, and 0 of the 2 that the task allows in all are left, and 0 of the 2 that " +
				`the dataset "Rivers" allows in all are left. If`},
		"the day of the task, and the day of the dataset": {limits{PerDay: 2}, limits{PerDay: 2}, 0, problem.QuotaToday,
			"This submission makes 1 run, and 0 of the 2 that the task allows in 24 hours are left, and 0 of the 2 that " +
				`the dataset "Rivers" allows in 24 hours are left. Enough`},
		"the day of the dataset": {limits{PerDay: 3, Total: 3}, limits{PerDay: 2, Total: 3}, 0, problem.QuotaToday,
			`This submission makes 1 run, and 0 of the 2 that the dataset "Rivers" allows in 24 hours are left. Enough`},
		"all of the task, with an exception": {limits{Total: 1}, limits{}, 1, problem.QuotaExhausted,
			"This submission makes 1 run, and 0 of the 2 that the task allows in all, exceptions of your team included, are left. If"},
		"the day of the task, with an exception": {limits{PerDay: 1}, limits{}, 1, problem.QuotaToday,
			"This submission makes 1 run, and 0 of the 2 that the task allows in 24 hours, exceptions of your team included, are left."},
		"all of the task, exceeded": {limits{Total: 1}, limits{}, 0, problem.QuotaExhausted,
			"This submission makes 1 run, and 2 runs count already, although the task allows 1 in all. If you need more, ask"},
		"the day of the dataset, exceeded": {limits{}, limits{PerDay: 1}, 0, problem.QuotaToday,
			`This submission makes 1 run, and 2 runs count already, although the dataset "Rivers" allows 1 in 24 hours. Enough`},
	} {
		t.Run(name, func(t *testing.T) {
			task := new(record.TaskItem)
			set := &record.DatasetItem{Dataset: record.Dataset{Meta: record.Meta{ID: "rivers"}}}
			set.Name = "Rivers"
			var a record.Allowance
			charge := func() error {
				return a.Charge(task, []*record.DatasetItem{set}, []string{record.NewID(noon)}, noon.Add(time.Hour))
			}
			for range used {
				if err := charge(); err != nil {
					t.Fatal(err)
				}
			}
			task.Submissions.PerDay, task.Submissions.Total = c.task.PerDay, c.task.Total
			set.Submissions.PerDay, set.Submissions.Total = c.set.PerDay, c.set.Total
			a.Exceptions = []record.Exception{{ExceptionDraft: record.ExceptionDraft{PerDay: c.granted, Total: c.granted}}}
			p, refused := errors.AsType[*problem.Error](charge())
			if refused != (c.kind != nil) || refused && (p.Kind != c.kind || !strings.HasPrefix(p.Detail, c.want)) {
				t.Errorf("got %+v, want %q", p, c.want)
			}
		})
	}
}

// TestCharge_NamesTheDatasetThatClosesFirst submits to two datasets that close at different times, of which one has used up its day.
func TestCharge_NamesTheDatasetThatClosesFirst(t *testing.T) {
	task := new(record.TaskItem)
	closing := func(name string, in time.Duration, perDay int) *record.DatasetItem {
		d := &record.DatasetItem{Dataset: record.Dataset{Meta: record.Meta{ID: name}}}
		d.Name = name
		d.Submissions.ClosesAt = new(record.At(noon.Add(in)))
		d.Submissions.PerDay = perDay
		return d
	}
	both := []*record.DatasetItem{closing("Rivers", 5*time.Hour, 1), closing("Lakes", 3*time.Hour, 0)}
	var a record.Allowance
	charge := func() error {
		return a.Charge(task, both, []string{record.NewID(noon), record.NewID(noon)}, noon.Add(time.Hour))
	}
	if err := charge(); err != nil {
		t.Fatal(err)
	}
	err := charge()
	const want = `This submission makes 2 runs, and 0 of the 1 that the dataset "Rivers" allows in 24 hours are left. ` +
		`Not enough come back before the dataset "Lakes" closes at `
	if p, refused := errors.AsType[*problem.Error](err); !refused || !strings.HasPrefix(p.Detail, want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// fits reports whether the quotas allow a run on each of the datasets at an instant.
func (m *quotaModel) fits(sets []*record.DatasetItem, at time.Time) bool {
	fits := m.room("", m.task.Submissions.PerDay, m.task.Submissions.Total, at) >= len(sets)
	for _, d := range sets {
		fits = fits && m.room(d.ID, d.Submissions.PerDay, d.Submissions.Total, at) >= 1
	}
	return fits
}

// left returns how many more runs on a dataset, or without one on any, the quotas allow at an instant; nil: no limit.
func (m *quotaModel) left(d *record.DatasetItem, at time.Time) *int {
	left := m.room("", m.task.Submissions.PerDay, m.task.Submissions.Total, at)
	if d != nil {
		left = min(left, m.room(d.ID, d.Submissions.PerDay, d.Submissions.Total, at))
	}
	if left > 100_000 {
		return nil
	}
	return new(max(0, left))
}

// next returns the earliest instant after now at which left is greater than now, and nil if there is none.
func (m *quotaModel) next(d *record.DatasetItem, now time.Time) (next *record.Instant) {
	left := m.left(d, now)
	for _, r := range m.runs {
		at := r.at.Add(record.Day)
		if left != nil && at.After(now) && *m.left(d, at) > *left && (next == nil || at.Before(next.Time)) {
			next = new(record.At(at))
		}
	}
	return next
}

func (m *quotaModel) checkQuota(t *rapid.T, q record.Quota, now time.Time) {
	check := func(name string, got record.QuotaLeft, d *record.DatasetItem) {
		if left := m.left(d, now); !reflect.DeepEqual(got.Left, left) {
			t.Fatalf("%s: left is %v, want %v", name, values(got.Left), values(left))
		}
		if next := m.next(d, now); !reflect.DeepEqual(got.NextAt, next) {
			t.Fatalf("%s: the next one comes at %v, want %v", name, got.NextAt, next)
		}
		id := ""
		perDay := m.task.Submissions.PerDay
		total := m.task.Submissions.Total
		if d != nil {
			id = d.ID
			perDay = d.Submissions.PerDay
			total = d.Submissions.Total
		}
		for limit, remain := range map[*int]int{got.RemainingToday: m.room(id, perDay, 0, now), got.Remaining: m.room(id, 0, total, now)} {
			if limit != nil && *limit != max(0, remain) {
				t.Fatalf("%s: %d remain, want %d", name, *limit, remain)
			}
		}
	}
	check("the task", q.QuotaLeft, nil)
	for i, d := range m.sets {
		got := q.Datasets[i]
		if got.DatasetID != d.ID || (got.PerDay != nil) != (d.Submissions.PerDay > 0) || (got.Total != nil) != (d.Submissions.Total > 0) {
			t.Fatalf("%+v for %s with %+v", got, d.ID, d.Submissions)
		}
		check(d.ID, got.QuotaLeft, d)
	}
}

// values returns the value for messages of tests.
func values(n *int) any {
	if n == nil {
		return "no limit"
	}
	return *n
}

// TestAllowance_MarksAtMostSoManyFinalRuns marks, unmarks and deletes runs at random.
func TestAllowance_MarksAtMostSoManyFinalRuns(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		d := &record.DatasetItem{}
		d.FinalRuns = rapid.IntRange(0, 3).Draw(t, "finalRuns")
		var a record.Allowance
		marked := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			run := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "run")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				if err := a.Mark(d, run, false); err != nil {
					t.Fatal(err)
				}
				delete(marked, run)
			case 1:
				a.Keep(d.ID)
				a.Drop(d.ID, run)
				delete(marked, run)
			default:
				before := len(marked)
				if marked[run] {
					continue // a run is marked only once
				}
				if err := a.Mark(d, run, true); (err == nil) != (before < d.FinalRuns) {
					t.Fatalf("with %d of %d marked: %v", before, d.FinalRuns, err)
				} else if err == nil {
					marked[run] = true
				}
			}
			if len(a.Final[d.ID]) != len(marked) {
				t.Fatalf("%v are marked, not %v", a.Final, marked)
			}
		}
	})
}

// TestCharge_SaysThatRunsOfAnEarlierTeamCount refuses a run for limits in all and of a day, which an earlier team of a member has used.
func TestCharge_SaysThatRunsOfAnEarlierTeamCount(t *testing.T) {
	id := record.NewID(noon)
	left := record.Allowance{Used: record.Used{Total: 1, Recent: []string{id}}}
	for _, limits := range []record.SubmissionRules{{Total: 1}, {PerDay: 1}} {
		task := new(record.TaskItem)
		task.Submissions = limits
		for name, a := range map[string]*record.Allowance{"joined": {}, "returned": {Used: left.Used}} {
			a.CarryOver(&left)
			err := a.Charge(task, []*record.DatasetItem{{}}, []string{id}, noon)
			const carried = "An earlier team of a member had used more of the quota, and your team counts as having used as much."
			if said := strings.Contains(err.Error(), carried); said != (name == "joined") {
				t.Errorf("%+v, %s: %v", limits, name, err)
			}
		}
	}
}

// TestAllowance_CarriesOverTheLaterOfBoth checks CarryOver: at every later instant, the usage is at least the team's and at least the
// user's own.
func TestAllowance_CarriesOverTheLaterOfBoth(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		draw := func(name string) (a record.Allowance) {
			for _, hours := range slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(0, 47), 0, 5).Draw(t, name))) {
				at := noon.Add(time.Duration(hours) * time.Hour)
				a.Recent = append(a.Recent, record.NewID(at))
				a.TruthFailures = append(a.TruthFailures, record.At(at))
			}
			a.Total = len(a.Recent)
			return a
		}
		ofTeam, ofUser := draw("team"), draw("user")
		both := ofTeam
		both.CarryOver(&ofUser)
		if ids := slices.Clone(both.Recent); !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(both.Recent) {
			t.Fatalf("%v", both.Recent)
		}
		now := noon.Add(48*time.Hour + time.Duration(rapid.IntRange(0, 24).Draw(t, "later"))*time.Hour)
		today := func(a record.Allowance) (runs, failures int) {
			after := now.Add(-record.Day)
			for i, id := range a.Recent {
				if ulid.Time(ulid.MustParse(id).Time()).After(after) {
					runs++
				}
				if a.TruthFailures[i].After(after) {
					failures++
				}
			}
			return runs, failures
		}
		runs, failures := today(both)
		for _, a := range []record.Allowance{ofTeam, ofUser} {
			if r, f := today(a); runs < r || failures < f {
				t.Fatalf("%d runs and %d failures count, where %d and %d were", runs, failures, r, f)
			}
		}
	})
}
