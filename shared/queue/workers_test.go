package queue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/metrics"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store/storetest"
)

func TestLease_MatchesPoolAndKindOfWork(t *testing.T) {
	f := newFixture(t)
	f.addImage("gpu")
	if r := f.lease(); r != nil {
		t.Errorf("a built-in evaluator leased %s", r.ID)
	}
	for _, tt := range []struct {
		pool string
		work record.Work
	}{{record.DefaultPool, record.ExecuteImage}, {"gp", record.ExecuteImage}, {"gpu", record.ExecuteRepository}, {"gpu", record.Evaluate},
		{"gpu2", record.ExecuteImage}} {
		if r := f.leaseWork(tt.pool, tt.work); r != nil {
			t.Errorf("%v: leased %s", tt, r.ID)
		}
	}
	if r := f.leaseWork("gpu", record.ExecuteImage); r == nil || r.State != record.Running || r.Attempts != 1 || r.Lease.Holder != "worker" {
		t.Errorf("%+v", r)
	}
}

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
		if strings.HasPrefix(b.Prefix, record.DefaultPool) && !b.Since.Equal(oldest.QueuedAt.Time) {
			t.Errorf("%s begins at %s", b.Prefix, b.Since)
		}
	}
	if n != 4 {
		t.Errorf("%d backlogs, want 4", n)
	}
}

func lines(texts ...string) []record.LogLine {
	var all []record.LogLine
	for _, text := range texts {
		all = append(all, record.LogLine{Stream: record.StreamStdout, Text: text})
	}
	return all
}

func TestHeartbeat_StoresEachLineOnce(t *testing.T) {
	f := newFixture(t)
	f.addImage("")
	l := f.leaseRef()
	version := f.run(l.RunID).Version
	for _, beat := range []struct {
		first  int64
		lines  []record.LogLine
		err    error
		change int64 // of the version
	}{
		{0, lines("a", "b"), nil, 1}, {0, lines("a", "b"), nil, 0}, {1, lines("b", "c"), nil, 1}, {0, lines("a"), nil, 0},
		{4, lines("e"), queue.ErrLinesMissing, 0}, {3, lines("d"), nil, 1}, {4, nil, nil, 0},
	} {
		if _, err := f.queue().Heartbeat(f.ctx, l, leaseTime, beat.first, beat.lines); !errors.Is(err, beat.err) {
			t.Fatalf("%+v: %v", beat, err)
		}
		if version += beat.change; f.run(l.RunID).Version != version {
			t.Fatalf("%+v: version %d, want %d", beat, f.run(l.RunID).Version, version)
		}
	}
	_, err := f.queue().Release(f.ctx, l)
	f.must(err)
	if _, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 4, lines("e")); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("lines under an old lease: %v", err)
	}
	r := f.run(l.RunID)
	if want := "Attempt 1 of 3 begins on the worker worker.\na\nb\nc\nd"; r.LogTail != want || r.Logs.Execution.Lines != 5 {
		t.Errorf("tail %q, %+v", r.LogTail, r.Logs)
	}
}

func TestReclaimExpired_UnconfirmedLeaseIsNoAttempt(t *testing.T) {
	f := newFixture(t)
	id := f.addImage("").ID
	for n := range record.MaxRestarts + record.MaxAttempts {
		if f.leaseWork(record.DefaultPool, record.ExecuteImage) == nil {
			t.Fatal("nothing to lease after", n)
		}
		f.now = f.now.Add(leaseTime)
		f.reclaim(id)
		if r, want := f.run(id), max(0, n+1-record.MaxRestarts); r.Attempts != want {
			t.Fatalf("%d attempts after %d leases, want %d", r.Attempts, n+1, want)
		}
	}
	if r := f.run(id); r.State != record.Failed {
		t.Errorf("a run whose worker always dies is %s", r.State)
	}
}

func TestReclaimExpired_ConfirmedLeaseIsAnAttempt(t *testing.T) {
	f := newFixture(t)
	id := f.addImage("").ID
	_, err := f.queue().Heartbeat(f.ctx, f.leaseRef(), leaseTime, 0, nil)
	f.must(err)
	f.now = f.now.Add(leaseTime)
	f.reclaim(id)
	if r := f.run(id); r.State != record.Queued || r.Attempts != 1 || len(r.Diagnostics) != 1 {
		t.Errorf("%+v", r)
	}
}

// A heartbeat without lines writes the extension of its lease, and not the run, which is due again when the lease was to end.
func TestHeartbeat_LeavesTheRunAsItIs(t *testing.T) {
	f := newFixture(t)
	id := f.addImage("").ID
	l := f.leaseRef()
	beat := func() error {
		_, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 0, nil)
		return err
	}
	f.must(beat()) // it confirms the lease
	confirmed := f.run(id)
	due := confirmed.Lease.Until
	f.now = f.now.Add(leaseTime / 2)
	f.must(beat())
	if r := f.run(id); r.Stored() != confirmed.Stored() {
		t.Errorf("a heartbeat wrote the run: version %d, %d before", r.Stored(), confirmed.Stored())
	}
	if _, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 1, nil); !errors.Is(err, queue.ErrLinesMissing) {
		t.Errorf("a heartbeat behind lines that did not come: %v", err)
	}
	f.now = due.Time
	if f.reclaim(id) {
		t.Fatal("a run was reclaimed whose lease had been extended")
	}
	r := f.run(id)
	if want := due.Add(leaseTime / 2); !r.Lease.Until.Equal(want) {
		t.Errorf("it is due again at %s, want %s", r.Lease.Until, want)
	}
	f.now = r.Lease.Until.Time
	if !f.reclaim(id) || f.run(id).State != record.Queued {
		t.Errorf("a run whose lease is over is %s", f.run(id).State)
	}
	if err := beat(); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("a heartbeat after that: %v", err)
	}
}

// Of a heartbeat and of what reclaims the run at the same time one wins: no worker is told that it has a lease which another one gets.
func TestHeartbeat_RacesWithTheEndOfItsLease(t *testing.T) {
	f := newFixture(t)
	id := f.addImage("").ID
	l := f.leaseRef()
	_, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 0, nil)
	f.must(err)
	f.now = f.now.Add(leaseTime)
	meanwhile := func(do func()) queue.Queue {
		q := f.queue()
		once := false
		q.Store = &storetest.Hooked{Store: q.Store, Before: func(c storetest.Call) error {
			if c.Writes != nil && !once {
				once = true
				do()
			}
			return nil
		}}
		return q
	}
	beats := meanwhile(func() {
		_, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 0, nil)
		f.must(err)
	})
	if reclaimed, err := beats.ReclaimExpired(f.ctx, id); err != nil || reclaimed {
		t.Errorf("reclaimed although a heartbeat was faster: %v, %v", reclaimed, err)
	}
	f.now = f.now.Add(leaseTime)
	reclaims := meanwhile(func() {
		if !f.reclaim(id) {
			t.Error("nothing was reclaimed")
		}
	})
	if _, err := reclaims.Heartbeat(f.ctx, l, leaseTime, 0, nil); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("a heartbeat that came too late: %v", err)
	}
}

func TestPendingWork_LeaseOfWorkerIsReclaimedAfterGrace(t *testing.T) {
	f := newFixture(t)
	f.addImage("")
	r := f.leaseWork(record.DefaultPool, record.ExecuteImage)
	entry := r.Indexes()[record.ByWork-1]
	if at, err := record.DueAt(entry.Sort); err != nil || entry.Partition != record.DuePartition ||
		!at.Equal(r.Lease.Until.Add(record.ReclaimGrace)) {
		t.Errorf("due at %s, %v; the lease ends at %s", at, err, r.Lease.Until)
	}
}

func TestCompleteExecution_TakesAStoredOutputOnce(t *testing.T) {
	f := newFixture(t)
	f.Files = recordtest.OpenFiles(t)
	out := recordtest.File("run.txt", "ranked\n", record.FilePending)
	limits := record.UsageLimits{StoredBytes: out.Size + 1}
	complete := func(l queue.LeaseRef) (*record.RunItem, []record.File, error) {
		return f.queue().CompleteExecution(f.ctx, f.Files, l, []record.File{out}, limits)
	}
	usage := func() int64 {
		if u := recordtest.Get[record.Usage](t, f.Store, record.UsageKey(recordtest.UserID("ann"))); u != nil {
			return u.Bytes
		}
		return 0
	}
	f.addImage("")
	l := f.leaseRef()
	r, missing, err := complete(l)
	if err != nil || len(missing) != 1 || r.State != record.Running || len(r.Files) != 0 || len(r.Lease.Outputs) != 1 || usage() != 0 {
		t.Fatalf("before the upload: %+v, missing %v, %v, %d bytes count", r, missing, err, usage())
	}
	f.File(record.HolderRuns, r.ID, out.Name, "ranked\n")
	r, missing, err = complete(l)
	if err != nil || len(missing) != 0 || r.State != record.Evaluating || r.Lease != nil || r.Attempts != 0 ||
		r.Queue != record.QueueBuiltin ||
		r.Files[0].State != record.FileStored || r.Bytes != out.Size || usage() != out.Size {
		t.Fatalf("%+v, missing %v, %v, %d bytes count", r, missing, err, usage())
	}
	if _, _, err = complete(l); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("an output delivered twice: %v", err)
	}
	if got := f.lease(); got == nil || got.ID != r.ID || got.State != record.Evaluating || got.Attempts != 1 {
		t.Errorf("the built-in evaluator got %+v", got)
	}
	if _, _, err = complete(queue.LeaseRefOf(f.run(r.ID))); !problem.Conflict.Is(err) {
		t.Errorf("an output of a run that is evaluated: %v", err)
	}
	f.addImage("")
	r, missing, err = complete(f.leaseRef())
	if err != nil || r.State != record.Failed || len(missing) != 0 || len(r.Diagnostics) != 1 ||
		!strings.Contains(r.Diagnostics[0].Message, "may store") || usage() != out.Size {
		t.Errorf("beyond the quota: %s with %v, %v, %d bytes count", r.State, r.Diagnostics, err, usage())
	}
}

func TestReevaluate_MovesWaitingRunsToThePoolOfTheDataset(t *testing.T) {
	f := newFixture(t)
	r := f.addImage("")
	f.truth.Pool = "gpu"
	if !queue.NeedsReevaluation(f.run(r.ID), f.truth) {
		t.Error("a run that waits in another pool needs no reevaluation")
	}
	f.reevaluate(r.ID)
	if changed, err := f.queue().Reevaluate(f.ctx, r.ID, f.truth); err != nil || changed {
		t.Fatal(changed, err)
	}
	if f.leaseWork(record.DefaultPool, record.ExecuteImage) != nil || f.leaseWork("gpu", record.ExecuteImage) == nil {
		t.Error("the run does not wait in the pool that its dataset names")
	}
}

func TestRelease_QueuesInThePresentPoolOfTheDataset(t *testing.T) {
	f := newFixture(t)
	for name, back := range map[string]func(queue.LeaseRef) error{
		"released": func(l queue.LeaseRef) error {
			r, err := f.queue().Release(f.ctx, l)
			if err == nil && (r.State != record.Queued || r.Queue != record.QueueWorkers || r.Attempts != 0) {
				t.Errorf("released: %+v", r)
			}
			return err
		},
		"failed": func(l queue.LeaseRef) error {
			if _, err := f.queue().FailAttempt(f.ctx, l, "it broke"); err != nil {
				return err
			}
			if r := f.leaseWork("new", record.ExecuteImage); r != nil {
				t.Error("a run that a worker gave back has no delay")
			}
			return f.queueAfter(time.Minute).Resume(f.ctx, l.RunID)
		},
		"expired": func(l queue.LeaseRef) error {
			_, err := f.queueAfter(leaseTime).ReclaimExpired(f.ctx, l.RunID)
			return err
		},
	} {
		r := f.addImage("old")
		l := queue.LeaseRefOf(f.leaseWork("old", record.ExecuteImage))
		f.truth.Pool = "new"
		f.Replace(f.truth)
		if err := back(l); err != nil {
			t.Fatal(name, err)
		}
		if got := f.leaseWork("new", record.ExecuteImage); got == nil || got.ID != r.ID {
			t.Errorf("a run that was %s waits in its old pool", name)
		}
	}
}

func TestPostpone_LeasesNothingBeforeTheDelayIsOver(t *testing.T) {
	f := newFixture(t)
	id := f.addImage("").ID
	r, err := f.queue().Postpone(f.ctx, f.leaseRef(), time.Minute)
	if err != nil || r.State != record.Queued || r.Attempts != 0 {
		t.Fatal(r, err)
	}
	for _, tt := range []struct {
		after time.Duration
		waits bool
	}{{0, false}, {59 * time.Second, false}, {time.Minute, true}} {
		f.must(f.queueAfter(tt.after).Resume(f.ctx, id))
		if got := f.leaseWork(record.DefaultPool, record.ExecuteImage); (got != nil) != tt.waits {
			t.Errorf("after %v: %+v", tt.after, got)
		}
	}
}

func TestRecordWaiting_CountsByPoolAndKindOfWork(t *testing.T) {
	f := newFixture(t)
	f.add(recordtest.Queued)
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
	for series, want := range map[string]float64{"runs_waiting (builtin) evaluation": 1, "runs_waiting a image": 4,
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
