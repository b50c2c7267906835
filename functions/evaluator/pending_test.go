package evaluator_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/blob"
	"assay/shared/measure"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/truth"
)

// pending makes a run wait for its file.
func pending(r *record.RunItem) {
	r.State, r.QueuedAt = record.AwaitingUpload, nil
	r.Files[0].State = record.FilePending
}

func TestRunDue_ExpiresUploadsAfterADay(t *testing.T) {
	s := newScene(t)
	arrived := s.add(ranked, pending).ID
	missing := s.add(ranked, pending, func(r *record.RunItem) {
		r.Files = []record.File{file("run.txt", "something else")}
		r.Files[0].State = record.FilePending
	}).ID
	s.wait(record.UploadTime - time.Minute)
	s.must(s.RunDue(s.ctx))
	if r := s.run(arrived); r.State != record.AwaitingUpload {
		t.Fatalf("%s before its time", r.State)
	}
	s.wait(2 * time.Minute)
	s.must(s.RunDue(s.ctx))
	if r := s.run(arrived); r.State != record.Queued {
		t.Fatalf("a run whose file arrived, though nobody was told, is %s: %v", r.State, r.Diagnostics)
	}
	if r := s.run(missing); r.State != record.Failed || r.Diagnostics[0].File != "run.txt" || !strings.Contains(r.Diagnostics[0].Message, r.Files[0].SHA256) {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
}

func TestReevaluate_EvaluatesEachRunOnce(t *testing.T) {
	s := newScene(t)
	good, bad := s.add(ranked).ID, s.add("nonsense\n").ID
	public := s.add(ranked, func(r *record.RunItem) { r.Access.Public = true }).ID
	for _, id := range []string{good, bad, public} {
		s.must(s.evaluate(id))
	}
	cancelled := s.add(ranked, func(r *record.RunItem) { r.State = record.Cancelled }).ID
	unarrived := s.add(ranked, pending, func(r *record.RunItem) { r.State = record.Failed }).ID
	s.truth.Number, s.dataset.TruthVersion = 2, 2
	s.dataset.PendingWork = record.NewPendingWork(record.Reevaluate, s.Now())
	s.commit(new(records.Tx).Replace(s.truth).Replace(s.dataset))
	s.must(s.RunDue(s.ctx))
	for _, id := range []string{good, bad, public} {
		if r := s.run(id); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 0 {
			t.Fatalf("%+v", r)
		}
		s.must(s.evaluate(id))
	}
	for range 3 {
		s.wait(5 * time.Second)
		s.must(s.RunDue(s.ctx))
	}
	if d := get[record.DatasetItem](s, s.dataset.Key()); d.PendingWork != nil {
		t.Fatalf("after all runs have followed: %+v", d.PendingWork)
	}
	for id, want := range map[string]record.RunState{good: record.Completed, bad: record.Failed, public: record.Completed, cancelled: record.Cancelled, unarrived: record.Failed} {
		if r := s.run(id); r.State != want || r.Attempts > 1 {
			t.Errorf("%s after %d attempts, want %s", r.State, r.Attempts, want)
		}
	}
	if r := s.run(good); len(r.Evaluations) != 2 || s.evaluations() != 2 {
		t.Fatalf("%d evaluations of the run, %d listed", len(r.Evaluations), s.evaluations())
	}
}

// A run that fails against a new truth counts as evaluated, and one that still waits for its first evaluation holds up nothing.
func TestReevaluate_FailedRunsCountAsDone(t *testing.T) {
	s := newScene(t)
	good, bad := s.add(ranked).ID, s.add(ranked).ID
	s.must(s.evaluate(good))
	s.must(s.evaluate(bad))
	s.add(ranked, func(r *record.RunItem) { r.Queue = record.QueueWorkers })
	old := *s.truth
	tx := new(records.Tx)
	s.dataset.Evaluator, s.dataset.RunFormat = s.truth.Evaluator, s.truth.RunFormat
	truth.Activate(tx, s.dataset, &old, s.Now())
	s.commit(tx.Replace(s.dataset))
	s.must(s.RunDue(s.ctx))
	s.must(s.evaluate(good))
	looks := func() *record.DatasetItem {
		for range 3 {
			s.wait(time.Minute)
			s.must(s.RunDue(s.ctx))
		}
		return get[record.DatasetItem](s, s.dataset.Key())
	}
	if d := looks(); d.Board().TruthVersion != 1 || d.Reevaluation == nil || !reflect.DeepEqual(d.Reevaluation.Progress, &record.Progress{Runs: 2, Waiting: 1}) {
		t.Fatalf("while a run waits, version %d is shown: %+v", d.Board().TruthVersion, d.Reevaluation)
	}
	s.must(queue.Queue{Store: s.Store, Now: s.Now}.FailStale(s.ctx, bad, record.Queued, measure.Diagnostic{Severity: measure.Error, Message: "x"}))
	if d := looks(); d.Board().TruthVersion != 2 || d.Reevaluation != nil || d.PendingWork != nil {
		t.Fatalf("once it has failed, version %d is shown: %+v", d.Board().TruthVersion, d.Reevaluation)
	}
	if e := get[record.EvaluationItem](s, record.EvaluationKey(s.run(good).EvaluationID)); e.Unlisted || e.TruthVersion != 2 {
		t.Errorf("%+v", e)
	}
}

func TestReevaluate_NeedsASecondPass(t *testing.T) {
	s := newScene(t)
	s.dataset.PendingWork = record.NewPendingWork(record.Reevaluate, s.Now())
	s.commit(new(records.Tx).Replace(s.dataset))
	for pass, want := range []bool{true, true, false} {
		if pass == 2 {
			s.wait(5 * time.Second)
		}
		s.must(s.RunDue(s.ctx))
		if d := get[record.DatasetItem](s, s.dataset.Key()); (d.PendingWork != nil) != want || d.Version != s.dataset.Version {
			t.Fatalf("after the look number %d: %+v, version %d", pass+1, d.PendingWork, d.Version)
		}
	}
}

func TestUnserved_RunsThatWaitTooLongAreGivenUp(t *testing.T) {
	s := newScene(t)
	id := s.add(ranked, func(r *record.RunItem) { r.Queue = record.QueueWorkers }).ID
	s.wait(record.QueueTime - time.Minute)
	s.must(s.FailUnserved(s.ctx))
	if r := s.run(id); r.State != record.Queued || len(r.Diagnostics) != 0 {
		t.Fatal(r.State, r.Diagnostics)
	}
	s.wait(2 * time.Minute)
	s.must(s.FailUnserved(s.ctx))
	if r := s.run(id); r.State != record.Failed || !strings.Contains(r.Diagnostics[0].Message, "No worker") {
		t.Fatal(r.State, r.Diagnostics)
	}
}

func TestDeleteAbandonedFiles_KeepsNamedFiles(t *testing.T) {
	s := newScene(t)
	run := s.add(ranked)
	s.truth.Files = append(s.truth.Files, s.store(record.HolderTruths, s.dataset.ID, "old.txt", "of an older truth"))
	s.commit(new(records.Tx).Replace(s.truth))
	keep := []string{record.ObjectKey(record.HolderRuns, run.ID, run.Files[0].SHA256)}
	for _, f := range s.truth.Files {
		keep = append(keep, record.ObjectKey(record.HolderTruths, s.dataset.ID, f.SHA256))
	}
	nobody := record.NewID(s.Now())
	var drop []string
	for _, h := range []record.Holder{record.HolderInputs, record.HolderTruths, record.HolderRuns, record.HolderEvaluations} {
		drop = append(drop, record.ObjectKey(h, nobody, s.store(h, nobody, "x", "of nobody").SHA256))
	}
	drop = append(drop, record.ObjectKey(record.HolderRuns, run.ID, s.store(record.HolderRuns, run.ID, "x", "replaced").SHA256))
	has := func(key string) bool {
		_, err := s.Files.Stat(s.ctx, key)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	s.wait(47 * time.Hour)
	s.must(s.DeleteAbandonedFiles(s.ctx))
	for _, key := range drop {
		if !has(key) {
			t.Errorf("%s is gone before its time", key)
		}
	}
	s.wait(2 * time.Hour)
	s.must(s.DeleteAbandonedFiles(s.ctx))
	for _, key := range keep {
		if !has(key) {
			t.Errorf("%s is gone, though a record names it", key)
		}
	}
	for _, key := range drop {
		if has(key) {
			t.Errorf("%s is still there", key)
		}
	}
}

// lagging is a store whose index of what is due stays as it was at the first look.
type lagging struct {
	store.Store
	seen []store.Item
}

func (l *lagging) Query(ctx context.Context, q store.Query) (items []store.Item, err error) {
	if q.Partition != record.DuePartition {
		return l.Store.Query(ctx, q)
	}
	if l.seen == nil {
		l.seen, err = l.Store.Query(ctx, q)
	}
	return l.seen, err
}

func TestReevaluate_IgnoresAPassThatIsTooEarly(t *testing.T) {
	s := newScene(t)
	s.dataset.PendingWork = record.NewPendingWork(record.Reevaluate, s.Now())
	s.commit(new(records.Tx).Replace(s.dataset))
	s.Store = &lagging{Store: s.Store}
	for range 3 {
		s.must(s.RunDue(s.ctx))
	}
	if d := get[record.DatasetItem](s, s.dataset.Key()); !d.PendingWork.Is(record.Reevaluate) || d.PendingWork.State != record.ConfirmingPass {
		t.Fatalf("%+v", d.PendingWork)
	}
	s.wait(5 * time.Second)
	s.must(s.RunDue(s.ctx))
	if d := get[record.DatasetItem](s, s.dataset.Key()); d.PendingWork != nil {
		t.Fatalf("%+v", d.PendingWork)
	}
}

// adopts has the dataset wait for its truth to be looked at.
func (s *scene) adopts() {
	s.t.Helper()
	s.dataset.RunFormat, s.dataset.Evaluator = s.truth.RunFormat, s.truth.Evaluator
	s.dataset.PendingWork = record.NewPendingWork(record.AcceptTruth, s.Now())
	s.commit(new(records.Tx).Replace(s.dataset))
}

func TestAcceptTruth_RefusesATruthThatPanics(t *testing.T) {
	s := newScene(t)
	var reads atomic.Int32
	s.Files = opening{s.Files, func(string) {
		reads.Add(1)
		panic("a bug")
	}}
	s.adopts()
	if err := s.RunDue(s.ctx); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("the fault is told as %v", err)
	}
	s.must(s.RunDue(s.ctx))
	d := get[record.DatasetItem](s, s.dataset.Key())
	if reads.Load() != 1 || d.PendingWork.Is(record.AcceptTruth) || d.TruthVersion != 1 || len(d.Diagnostics) != 1 || !strings.Contains(d.Diagnostics[0].Message, "a fault of the platform") {
		t.Fatalf("read %d times: %+v", reads.Load(), d)
	}
}

func TestAcceptTruth_DelaysNoRun(t *testing.T) {
	s := newScene(t)
	var once sync.Once
	reading, proceed := make(chan struct{}), make(chan struct{})
	defer close(proceed)
	s.Files = opening{s.Files, func(key string) {
		if strings.HasPrefix(key, "truths/") {
			first := false
			once.Do(func() { first = true })
			if first {
				close(reading)
				<-proceed
			}
		}
	}}
	s.adopts()
	s.start()
	<-reading
	lapsed := s.add(ranked, func(r *record.RunItem) {
		r.State, r.Attempts, r.StartedAt = record.Evaluating, 1, r.QueuedAt
		r.Lease = &record.Lease{ID: record.NewID(s.Now()), Holder: "elsewhere", Until: record.At(s.Now())}
	}).ID
	if r := s.until(lapsed, record.Completed); r.Attempts != 2 {
		t.Fatalf("%d attempts", r.Attempts)
	}
}

// brittle is a store that panics when it is asked for what is due.
type brittle struct{ store.Store }

func (b brittle) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if q.Partition == record.DuePartition && q.To != "" {
		panic("a bug")
	}
	return b.Store.Query(ctx, q)
}

func TestRun_SurvivesPanicsOfPeriodicJobs(t *testing.T) {
	s := newScene(t)
	s.Store = brittle{s.Store}
	s.start()
	s.until(s.add(ranked).ID, record.Completed)
}
