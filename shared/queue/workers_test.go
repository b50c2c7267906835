package queue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"assay/shared/blob"
	"assay/shared/blob/directory"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
)

// addWork makes a run that waits for workers, of a task and in a pool.
func (s *scene) addWork(task, pool string, kind record.SubmissionType) *record.RunItem {
	s.t.Helper()
	s.now = s.now.Add(time.Millisecond)
	at := record.At(s.now)
	r := &record.RunItem{Queue: record.QueueWorkers, Pool: pool, Type: kind}
	r.Meta = record.NewMeta(s.now)
	r.State, r.QueuedAt, r.Files = record.Queued, &at, []record.File{}
	r.TaskID, r.DatasetID, r.UserID, r.SubmissionID = task, s.truth.ID, s.user, record.NewID(s.now)
	s.commit(new(records.Tx).Create(r))
	return r
}

func (s *scene) leaseWork(pool string, w record.Work) *record.RunItem {
	s.t.Helper()
	r, err := s.queue().Lease(s.ctx, record.WorkerSubqueue(pool, w), &s.order, record.Lease{Holder: "ann"}, leaseTime)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func TestAWorkerGetsOnlyWhatItsPoolAndKindHave(t *testing.T) {
	s := newScene(t, openStore(t))
	s.addWork(s.task, "gpu", record.ImageType)
	for _, tt := range []struct {
		pool string
		work record.Work
	}{{record.DefaultPool, record.ExecuteImage}, {"gp", record.ExecuteImage}, {"gpu", record.ExecuteRepository}, {"gpu", record.Evaluate}, {"gpu2", record.ExecuteImage}} {
		if r := s.leaseWork(tt.pool, tt.work); r != nil {
			t.Errorf("%v: leased %s", tt, r.ID)
		}
	}
	if r := s.leaseWork("gpu", record.ExecuteImage); r == nil || r.State != record.Running || r.Attempts != 1 || r.Lease.Holder != "ann" {
		t.Errorf("%+v", r)
	}
}

func TestEveryTurnIsSeen(t *testing.T) {
	s := newScene(t, openStore(t))
	other := record.NewID(s.now)
	oldest := s.addWork(s.task, "", record.ImageType)
	for range 3 {
		s.addWork(s.task, "", record.ImageType)
		s.addWork(s.task, "a", record.ImageType)
		s.addWork(s.task, "a", record.RepositoryType)
		s.addWork(other, "a", record.RepositoryType)
	}
	n := 0
	for turn, err := range s.queue().TeamBacklogs(s.ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; strings.HasPrefix(turn.Prefix, record.DefaultPool) && !turn.Since.Equal(oldest.QueuedAt.Time) {
			t.Errorf("%s begins at %s", turn.Prefix, turn.Since)
		}
	}
	if n != 4 {
		t.Errorf("%d turns, want 4", n)
	}
}

func lines(texts ...string) []record.LogLine {
	var all []record.LogLine
	for _, text := range texts {
		all = append(all, record.LogLine{Stream: record.StreamStdout, Text: text})
	}
	return all
}

func (s *scene) log(r *record.RunItem, k record.LogKind, files blob.Store) string {
	s.t.Helper()
	var texts []string
	for l, err := range runlog.From(s.ctx, s.store, files, r, k, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		texts = append(texts, l.Text)
	}
	return strings.Join(texts, "|")
}

func TestLinesThatComeTwiceAreKeptOnce(t *testing.T) {
	s := newScene(t, openStore(t))
	s.addWork(s.task, "", record.ImageType)
	h := queue.LeaseRefOf(s.leaseWork(record.DefaultPool, record.ExecuteImage))
	version := s.run(h.RunID).Version
	for _, beat := range []struct {
		first int64
		lines []record.LogLine
		err   error
		shown int64 // by how much the version grows
	}{
		{0, lines("a", "b"), nil, 1}, {0, lines("a", "b"), nil, 0}, {1, lines("b", "c"), nil, 1}, {0, lines("a"), nil, 0},
		{4, lines("e"), queue.ErrLinesMissing, 0}, {3, lines("d"), nil, 1}, {4, nil, nil, 0},
	} {
		if _, err := s.queue().Heartbeat(s.ctx, h, leaseTime, beat.first, beat.lines); !errors.Is(err, beat.err) {
			t.Fatalf("%+v: %v", beat, err)
		}
		if version += beat.shown; s.run(h.RunID).Version != version {
			t.Fatalf("%+v: version %d, want %d", beat, s.run(h.RunID).Version, version)
		}
	}
	r := s.run(h.RunID)
	const want = "Attempt 1 of 3 begins on the worker ann.|a|b|c|d"
	if got := s.log(r, record.ExecutionLog, nil); got != want || r.LogTail != strings.ReplaceAll(want, "|", "\n") || r.Lease.Lines != 4 {
		t.Errorf("%q, tail %q, %+v", got, r.LogTail, r.Lease)
	}
	if _, err := s.queue().Release(s.ctx, h); err != nil {
		t.Fatal(err)
	}
	if _, err := s.queue().Heartbeat(s.ctx, h, leaseTime, 4, lines("e")); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("lines under an old lease: %v", err)
	}
	if got := s.log(s.run(h.RunID), record.ExecutionLog, nil); got != want {
		t.Errorf("%q", got)
	}
}

func TestALeaseThatNobodyConfirmedIsNoAttempt(t *testing.T) {
	s := newScene(t, openStore(t))
	id := s.addWork(s.task, "", record.ImageType).ID
	lapse := func() *record.RunItem {
		s.now = s.now.Add(leaseTime)
		if err := s.queue().ReclaimExpired(s.ctx, id); err != nil {
			t.Fatal(err)
		}
		return s.run(id)
	}
	for n := range record.MaxRestarts + record.MaxAttempts {
		if s.leaseWork(record.DefaultPool, record.ExecuteImage) == nil {
			t.Fatal("nothing to lease after", n)
		}
		r := lapse()
		if want := max(0, n+1-record.MaxRestarts); r.Attempts != want {
			t.Fatalf("%d attempts after %d leases, want %d", r.Attempts, n+1, want)
		}
	}
	if r := s.run(id); r.State != record.Failed {
		t.Errorf("a run whose worker always dies is %s", r.State)
	}
}

func TestAConfirmedLeaseThatLapsesIsAnAttempt(t *testing.T) {
	s := newScene(t, openStore(t))
	id := s.addWork(s.task, "", record.ImageType).ID
	h := queue.LeaseRefOf(s.leaseWork(record.DefaultPool, record.ExecuteImage))
	if _, err := s.queue().Heartbeat(s.ctx, h, leaseTime, 0, nil); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(leaseTime)
	if err := s.queue().ReclaimExpired(s.ctx, id); err != nil {
		t.Fatal(err)
	}
	if r := s.run(id); r.State != record.Queued || r.Attempts != 1 || len(r.Diagnostics) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAnOutputIsTakenOnceItIsThere(t *testing.T) {
	s := newScene(t, openStore(t))
	files, err := directory.Open(t.TempDir(), "http://localhost")
	if err != nil {
		t.Fatal(err)
	}
	s.addWork(s.task, "gpu", record.ImageType)
	h := queue.LeaseRefOf(s.leaseWork("gpu", record.ExecuteImage))
	content := []byte("1 Q0 a 1 1.0 x\n")
	sum := sha256.Sum256(content)
	out := record.File{Name: "run.txt", Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain"}
	r, missing, err := s.queue().CompleteExecution(s.ctx, files, h, []record.File{out}, record.UsageLimits{})
	if err != nil || len(missing) != 1 || r.State != record.Running || len(r.Files) != 0 || len(r.Lease.Outputs) != 1 {
		t.Fatalf("%+v, missing %v, %v", r, missing, err)
	}
	key := record.ObjectKey(record.HolderRuns, r.ID, out.SHA256)
	if err := files.Put(s.ctx, blob.Object{Key: key, Size: out.Size, SHA256: out.SHA256}, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	r, missing, err = s.queue().CompleteExecution(s.ctx, files, h, []record.File{out}, record.UsageLimits{})
	if err != nil || len(missing) != 0 || r.State != record.Evaluating || r.Lease != nil || r.Attempts != 0 || r.Queue != record.QueueBuiltin || r.Files[0].State != record.FileStored {
		t.Fatalf("%+v, missing %v, %v", r, missing, err)
	}
	if _, _, err = s.queue().CompleteExecution(s.ctx, files, h, []record.File{out}, record.UsageLimits{}); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("an output delivered twice: %v", err)
	}
	if got := s.lease(); got == nil || got.ID != r.ID || got.State != record.Evaluating || got.Attempts != 1 {
		t.Errorf("the built-in evaluator got %+v", got)
	}
	if _, _, err = s.queue().CompleteExecution(s.ctx, files, queue.LeaseRefOf(s.run(r.ID)), []record.File{out}, record.UsageLimits{}); !problem.Conflict.Is(err) {
		t.Errorf("an output of a run that is evaluated: %v", err)
	}
}

func TestWaitingRunsFollowTheirDatasetsPool(t *testing.T) {
	s := newScene(t, openStore(t))
	r := s.addWork(s.task, "", record.ImageType)
	s.truth.Pool = "gpu"
	if stored := s.run(r.ID); !queue.NeedsReevaluation(stored, s.truth) {
		t.Error("a run that waits in another pool is not behind")
	}
	if changed, err := s.queue().Reevaluate(s.ctx, r.ID, s.truth); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if changed, err := s.queue().Reevaluate(s.ctx, r.ID, s.truth); err != nil || changed {
		t.Fatal(changed, err)
	}
	if s.leaseWork(record.DefaultPool, record.ExecuteImage) != nil || s.leaseWork("gpu", record.ExecuteImage) == nil {
		t.Error("the run does not wait in the pool that its dataset names")
	}
}

func TestTheEvaluatorWaitsBeforeItTakesBackFromWorkers(t *testing.T) {
	s := newScene(t, openStore(t))
	s.addWork(s.task, "", record.ImageType)
	r := s.leaseWork(record.DefaultPool, record.ExecuteImage)
	due, err := s.store.Query(s.ctx, store.Query{Index: record.ByWork, Partition: record.DuePartition, Limit: 1})
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	at, err := record.DueAt(due[0].Entry(record.ByWork).Sort)
	if err != nil || !at.Equal(r.Lease.Until.Add(record.ReclaimGrace)) {
		t.Errorf("due at %s, %v; the lease ends at %s", at, err, r.Lease.Until)
	}
}

func TestARunGoesBackToWhereItsDatasetHasItWaitNow(t *testing.T) {
	s := newScene(t, openStore(t))
	for name, back := range map[string]func(queue.LeaseRef) error{
		"released": func(h queue.LeaseRef) error {
			_, err := s.queue().Release(s.ctx, h)
			return err
		},
		"abandoned": func(h queue.LeaseRef) error {
			if _, err := s.queue().FailAttempt(s.ctx, h, "it broke"); err != nil {
				return err
			}
			if r := s.leaseWork("new", record.ExecuteImage); r != nil {
				t.Error("a run that a worker gave back has no delay")
			}
			return s.queueAfter(time.Minute).Resume(s.ctx, h.RunID)
		},
		"lapsed": func(h queue.LeaseRef) error {
			return s.queueAfter(leaseTime).ReclaimExpired(s.ctx, h.RunID)
		},
	} {
		r := s.addWork(s.task, "old", record.ImageType)
		h := queue.LeaseRefOf(s.leaseWork("old", record.ExecuteImage))
		s.truth.Pool = "new"
		s.commit(new(records.Tx).Replace(s.truth))
		if err := back(h); err != nil {
			t.Fatal(name, err)
		}
		if got := s.leaseWork("new", record.ExecuteImage); got == nil || got.ID != r.ID {
			t.Errorf("a run that was %s waits in its old pool", name)
		}
	}
}

func TestAPostponedRunIsLeftAloneForAWhile(t *testing.T) {
	s := newScene(t, openStore(t))
	id := s.addWork(s.task, "", record.ImageType).ID
	r, err := s.queue().Postpone(s.ctx, queue.LeaseRefOf(s.leaseWork(record.DefaultPool, record.ExecuteImage)), time.Minute)
	if err != nil || r.State != record.Queued || r.Attempts != 0 {
		t.Fatal(r, err)
	}
	for _, tt := range []struct {
		after time.Duration
		waits bool
	}{{0, false}, {59 * time.Second, false}, {time.Minute, true}} {
		if err := s.queueAfter(tt.after).Resume(s.ctx, id); err != nil {
			t.Fatal(err)
		}
		if got := s.leaseWork(record.DefaultPool, record.ExecuteImage); (got != nil) != tt.waits {
			t.Errorf("after %v: %+v", tt.after, got)
		}
	}
}
