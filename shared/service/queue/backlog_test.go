package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/metrics"
)

func TestTeamBacklogs_YieldsEachTeamPoolAndKindOnce(t *testing.T) {
	f := newFixture(t)
	oldest := f.addImage("")
	otherTask := func(r *recordtest.Run) { r.TaskID = f.truth.ID }
	for range 3 {
		f.addImage("")
		f.addImage("a")
		f.addImage("a", ofRepository)
		f.addImage("a", ofRepository, otherTask)
	}
	n := 0
	for b, err := range f.queue().TeamBacklogs(f.ctx) {
		f.must(err)
		n++
		if strings.HasPrefix(b.Runs.From, record.DefaultPool) && !b.Since.Equal(oldest.QueuedAt.Time) {
			t.Errorf("%s begins at %s", b.Runs.From, b.Since)
		}
	}
	if n != 4 {
		t.Errorf("%d backlogs, want 4", n)
	}
}

func TestRecordWaiting_CountsByPoolAndKindOfWork(t *testing.T) {
	f := newFixture(t)
	f.add(recordtest.Queued)
	f.add(recordtest.Queued, func(r *recordtest.Run) { r.Queue = record.QueueSlow })
	oldest := f.addImage("a")
	for range 3 {
		f.addImage("a", ofRepository)
		f.addImage("a")
	}
	got := map[string]float64{}
	q := f.queueAfter(time.Minute)
	q.Metrics = func(m *metrics.Metric, value float64, labels ...string) {
		got[m.Name+" "+strings.Join(labels, " ")] += value
	}
	f.must(q.RecordWaiting(f.ctx))
	for series, want := range map[string]float64{"runs_waiting (builtin) evaluation": 2, "runs_waiting a image": 4,
		"runs_waiting a repository":          3,
		"oldest_run_waiting_seconds a image": q.Now().Sub(oldest.QueuedAt.Time).Seconds()} {
		if got[series] != want {
			t.Errorf("%s: %v, want %v of %v", series, got[series], want, got)
		}
	}
	if len(got) != 6 {
		t.Errorf("%v, want six series", got)
	}
	for i := range metrics.MaxPools + 5 {
		f.addImage(fmt.Sprintf("pool-%d", i))
	}
	clear(got)
	f.must(q.RecordWaiting(f.ctx))
	if n := got["runs_waiting (other) (other)"]; n != 7 || len(got) != 2*(1+metrics.MaxPools+1) {
		t.Errorf("%d series, %v runs in other pools", len(got), n)
	}
}

func TestRecordWaiting_OfNoRunIsNoTime(t *testing.T) {
	f := newFixture(t)
	q := f.queue()
	now := q.Now
	reads := 0
	q.Now = func() time.Time { reads++; return now().Add(time.Duration(reads) * time.Second) } // time goes on meanwhile
	var got []float64
	q.Metrics = func(_ *metrics.Metric, value float64, _ ...string) { got = append(got, value) }
	f.must(q.RecordWaiting(f.ctx))
	if !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("%v: no run waits for the built-in evaluators, so the oldest waits for no time", got)
	}
}
