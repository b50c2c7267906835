package queue_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
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

func TestPendingWork_LeaseOfWorkerIsReclaimedAfterGrace(t *testing.T) {
	f := newFixture(t)
	f.addImage("")
	r := f.leaseWork(record.DefaultPool, record.ExecuteImage)
	entry := r.Indexes()[record.ByWork-1]
	if at, err := record.DueAt(entry.Sort); err != nil || entry.Partition != record.DueRuns ||
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
