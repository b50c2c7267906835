package evaluator_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/service/truth"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/waittest"
)

// awaitingUpload makes a run wait for its file.
func awaitingUpload(r *recordtest.Run) {
	r.State, r.Files[0].State = record.AwaitingUpload, record.FilePending
}

func TestRunDue_ExpiresUploadsAfterADay(t *testing.T) {
	f := newFixture(t)
	arrived := f.add(ranked, awaitingUpload).ID
	missing := f.add(ranked, awaitingUpload, func(r *recordtest.Run) {
		r.Files = []record.File{recordtest.File("run.txt", "something else", record.FilePending)}
	}).ID
	f.wait(record.UploadTime - time.Minute)
	f.must(f.RunDue(f.ctx))
	if r := f.run(arrived); r.State != record.AwaitingUpload {
		t.Fatalf("%s before its time", r.State)
	}
	f.wait(2 * time.Minute)
	f.must(f.RunDue(f.ctx))
	if r := f.run(arrived); r.State != record.Queued {
		t.Fatalf("a run whose file arrived, without a notification, is %s: %v", r.State, r.Diagnostics)
	}
	if r := f.run(missing); r.State != record.Failed || r.Diagnostics[0].File != "run.txt" ||
		!strings.Contains(r.Diagnostics[0].Message, r.Files[0].SHA256) {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
}

func TestReevaluate_EvaluatesEachRunOnce(t *testing.T) {
	f := newFixture(t)
	good, bad := f.add(ranked).ID, f.add("nonsense\n").ID
	public := f.add(ranked, func(r *recordtest.Run) { r.Access.Public = true }).ID
	for _, id := range []string{good, bad, public} {
		f.evaluate(id)
	}
	cancelled := f.add(ranked, func(r *recordtest.Run) { r.State = record.Cancelled }).ID
	unarrived := f.add(ranked, awaitingUpload, func(r *recordtest.Run) { r.State = record.Failed }).ID
	f.truth.Number, f.dataset.TruthVersion = 2, 2
	f.dataset.PendingWork = record.NewPendingWork(record.Reevaluate, f.Now())
	f.records.Replace(f.truth, f.dataset)
	f.must(f.RunDue(f.ctx))
	for _, id := range []string{good, bad, public} {
		if r := f.run(id); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 0 {
			t.Fatalf("%+v", r)
		}
		f.evaluate(id)
	}
	if d := get[record.DatasetItem](f, f.dataset.Key()); d.PendingWork != nil {
		t.Fatalf("after all runs were evaluated: %+v", d.PendingWork)
	}
	for id, want := range map[string]record.RunState{good: record.Completed, bad: record.Failed, public: record.Completed,
		cancelled: record.Cancelled, unarrived: record.Failed} {
		if r := f.run(id); r.State != want || r.Attempts > 1 {
			t.Errorf("%s after %d attempts, want %s", r.State, r.Attempts, want)
		}
	}
	if r := f.run(good); len(r.Evaluations) != 2 || f.evaluations() != 2 {
		t.Fatalf("%d evaluations of the run, %d listed", len(r.Evaluations), f.evaluations())
	}
}

// activate has the runs evaluated again with the same truth under another number, while leaderboards go on to show the old one.
func (f *fixture) activate() {
	f.t.Helper()
	old := *f.truth
	tx := new(records.Tx)
	truth.Activate(tx, f.dataset, &old, truth.Checked{}, f.Now())
	f.records.Commit(tx.Replace(f.dataset))
}

// In a store that does not lag, a pass of its own neither queues a run nor shows the truth any later.
func TestReevaluate_WaitsForNothingButRuns(t *testing.T) {
	f := newFixture(t)
	id := f.add(ranked).ID
	f.evaluate(id)
	f.activate()
	f.must(f.RunDue(f.ctx))
	f.evaluate(id)
	d := get[record.DatasetItem](f, f.dataset.Key())
	f.wait(d.PendingWork.NotBefore.Sub(f.Now()))
	f.must(f.RunDue(f.ctx))
	d = get[record.DatasetItem](f, f.dataset.Key())
	if d.Board().TruthVersion != 2 || d.Reevaluation != nil || d.PendingWork != nil {
		t.Fatalf("once the run was evaluated, version %d is shown: %+v, %+v", d.Board().TruthVersion, d.Reevaluation, d.PendingWork)
	}
	if e := get[record.EvaluationItem](f, record.EvaluationKey(f.run(id).EvaluationID)); e.Unlisted || e.TruthVersion != 2 {
		t.Errorf("%+v", e)
	}
}

// A run that the list lacked when the truth changed is evaluated again before leaderboards show the truth.
func TestReevaluate_FindsRunsThatTheListLacked(t *testing.T) {
	f := newFixture(t)
	s := &storetest.Lagging{Store: f.records.Store, Delay: 5 * time.Second, Now: f.Now}
	f.records.Store = s
	id := f.add(ranked).ID
	f.evaluate(id)
	f.Store = s
	f.activate()
	f.must(f.RunDue(f.ctx))
	if r := f.run(id); r.State == record.Queued {
		t.Fatal("the list has the run, so that nothing is tested")
	}
	f.wait(s.Lag())
	f.must(f.RunDue(f.ctx))
	if r, d := f.run(id), get[record.DatasetItem](f, f.dataset.Key()); r.State != record.Queued || d.Board().TruthVersion != 1 {
		t.Fatalf("the run is %s, and version %d is shown", r.State, d.Board().TruthVersion)
	}
}

// The worker does pending work when it is written or becomes due, not only when it looks by itself.
func TestRun_DoesPendingWorkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		id := f.add(ranked).ID
		f.evaluate(id)
		f.start()
		synctest.Wait()
		began := time.Now()
		f.activate()
		for get[record.DatasetItem](f, f.dataset.Key()).PendingWork != nil {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(began); took >= time.Second {
			t.Errorf("the new truth was shown after %v", took)
		}
	})
}

// A run that fails against a new truth counts as evaluated, and one that waits for its first evaluation delays nothing.
func TestReevaluate_FailedRunsCountAsDone(t *testing.T) {
	f := newFixture(t)
	good, bad := f.add(ranked).ID, f.add(ranked).ID
	f.evaluate(good)
	f.evaluate(bad)
	f.add(ranked, func(r *recordtest.Run) { r.Queue = record.QueueWorkers })
	f.activate()
	f.must(f.RunDue(f.ctx))
	f.evaluate(good)
	looks := func() *record.DatasetItem {
		for range 3 {
			f.wait(time.Minute)
			f.must(f.RunDue(f.ctx))
		}
		return get[record.DatasetItem](f, f.dataset.Key())
	}
	if d := looks(); d.Board().TruthVersion != 1 || d.Reevaluation == nil ||
		!reflect.DeepEqual(d.Reevaluation.Progress, &record.Progress{Runs: 2, Waiting: 1}) {
		t.Fatalf("while a run waits, version %d is shown: %+v", d.Board().TruthVersion, d.Reevaluation)
	}
	f.must(queue.Queue{Store: f.Store, Now: f.Now}.FailStale(f.ctx, bad, record.Queued, measure.Diagnostic{
		Severity: measure.Error, Message: "x"}))
	if d := looks(); d.Board().TruthVersion != 2 || d.Reevaluation != nil || d.PendingWork != nil {
		t.Fatalf("once it has failed, version %d is shown: %+v", d.Board().TruthVersion, d.Reevaluation)
	}
	if e := get[record.EvaluationItem](f, record.EvaluationKey(f.run(good).EvaluationID)); e.Unlisted || e.TruthVersion != 2 {
		t.Errorf("%+v", e)
	}
}

func TestFailUnserved_FailsRunsThatWaitTooLong(t *testing.T) {
	f := newFixture(t)
	id := f.add(ranked, func(r *recordtest.Run) { r.Queue = record.QueueWorkers }).ID
	f.wait(record.QueueTime - time.Minute)
	f.must(f.FailUnserved(f.ctx))
	if r := f.run(id); r.State != record.Queued || len(r.Diagnostics) != 0 {
		t.Fatal(r.State, r.Diagnostics)
	}
	f.wait(2 * time.Minute)
	f.must(f.FailUnserved(f.ctx))
	if r := f.run(id); r.State != record.Failed || !strings.Contains(r.Diagnostics[0].Message, "No worker") {
		t.Fatal(r.State, r.Diagnostics)
	}
}

func TestDeleteAbandonedFiles_KeepsNamedFiles(t *testing.T) {
	f := newFixture(t)
	run := f.add(ranked)
	f.truth.Files = append(f.truth.Files, f.records.File(record.HolderTruths, f.dataset.ID, "old.txt", "of an older truth"))
	f.records.Replace(f.truth)
	keep := []string{record.ObjectKey(record.HolderRuns, run.ID, run.Files[0].SHA256)}
	for _, file := range f.truth.Files {
		keep = append(keep, record.ObjectKey(record.HolderTruths, f.dataset.ID, file.SHA256))
	}
	nobody := record.NewID(f.Now())
	var drop []string
	for _, h := range []record.Holder{record.HolderInputs, record.HolderTruths, record.HolderRuns, record.HolderEvaluations} {
		drop = append(drop, record.ObjectKey(h, nobody, f.records.File(h, nobody, "x", "of nobody").SHA256))
	}
	drop = append(drop, record.ObjectKey(record.HolderRuns, run.ID, f.records.File(record.HolderRuns, run.ID, "x", "replaced").SHA256))
	has := func(key string) bool {
		_, err := f.Files.Stat(f.ctx, key)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	f.wait(47 * time.Hour)
	f.clean()
	for _, key := range drop {
		if !has(key) {
			t.Errorf("%s is gone before its time", key)
		}
	}
	f.wait(2 * time.Hour)
	f.clean()
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

// laggingIndex is a store that lags, whose index of pending work stays as it was at the first query.
type laggingIndex struct {
	store.Store
	seen []store.Item
}

func (l *laggingIndex) Lag() time.Duration { return 5 * time.Second }

func (l *laggingIndex) Query(ctx context.Context, q store.Query) (items []store.Item, err error) {
	if q.Partition != record.DuePartition {
		return l.Store.Query(ctx, q)
	}
	if l.seen == nil {
		l.seen, err = l.Store.Query(ctx, q)
	}
	return l.seen, err
}

func TestReevaluate_NeedsASecondPassThatIsNotTooEarly(t *testing.T) {
	f := newFixture(t)
	f.dataset.PendingWork = record.NewPendingWork(record.Reevaluate, f.Now())
	f.records.Replace(f.dataset)
	f.Store = &laggingIndex{Store: f.Store}
	for range 3 {
		f.must(f.RunDue(f.ctx))
	}
	if d := get[record.DatasetItem](f, f.dataset.Key()); !d.PendingWork.Is(record.Reevaluate) || d.PendingWork.State != record.ConfirmingPass {
		t.Fatalf("%+v", d.PendingWork)
	}
	f.wait(f.Store.Lag())
	f.must(f.RunDue(f.ctx))
	if d := get[record.DatasetItem](f, f.dataset.Key()); d.PendingWork != nil || d.Version != f.dataset.Version {
		t.Fatalf("version %d: %+v", d.Version, d.PendingWork)
	}
}

// acceptTruth has the dataset's truth wait to be accepted.
func (f *fixture) acceptTruth() {
	f.t.Helper()
	f.dataset.PendingWork = record.NewPendingWork(record.AcceptTruth, f.Now())
	f.records.Replace(f.dataset)
}

func TestAcceptTruth_RefusesATruthThatPanics(t *testing.T) {
	f := newFixture(t)
	var reads atomic.Int32
	f.Files = hookedFiles{f.Files, func(string) {
		reads.Add(1) // to count the text, and to read it
		panic("a bug")
	}}
	f.acceptTruth()
	if err := f.RunDue(f.ctx); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("the fault is %v", err)
	}
	f.must(f.RunDue(f.ctx))
	d := get[record.DatasetItem](f, f.dataset.Key())
	if reads.Load() != 2 || d.PendingWork.Is(record.AcceptTruth) || d.TruthVersion != 1 || len(d.Diagnostics) != 1 ||
		!strings.Contains(d.Diagnostics[0].Message, "a fault of the platform") {
		t.Fatalf("read %d times: %+v", reads.Load(), d)
	}
}

// TestAcceptTruth_UsersTakeTurns has one user store twelve truths, of which two take long to read. Meanwhile others store a truth each.
func TestAcceptTruth_UsersTakeTurns(t *testing.T) {
	f := newFixture(t)
	owner := map[string]string{} // by dataset
	storeTruth := func(user string) {
		d := f.records.Task().Dataset().DatasetItem
		owner[d.ID], d.Payer = user, user
		d.Truths = []record.File{f.records.File(record.HolderTruths, d.ID, "qrels.txt", "q1 0 d1 1\n")}
		d.PendingWork = record.NewPendingWork(record.AcceptTruth, f.Now())
		f.records.Replace(d)
	}
	var order []string
	f.Files = hookedFiles{f.Files, func(key string) {
		user := owner[strings.Split(key, "/")[1]]
		if n := len(order); n > 0 && order[n-1] == user+" counted" {
			order[n-1] = user
			return
		}
		order = append(order, user+" counted")
		switch len(order) {
		case 1:
			storeTruth("late")
			time.Sleep(2 * time.Second)
		case 3:
			storeTruth("later")
			time.Sleep(2 * time.Second)
		}
	}}
	const truths = 12 // more than a pass holds
	for range truths {
		storeTruth("first")
	}
	f.must(f.RunDue(f.ctx))
	want := append([]string{"first", "late", "first", "later"}, slices.Repeat([]string{"first"}, truths-2)...)
	if !slices.Equal(order, want) {
		t.Errorf("truths were read of %v, want %v", order, want)
	}
}

// TestAcceptTruth_DelaysNoOtherWork reads a ground truth slowly. Meanwhile a run whose lease expired is queued again, and a changed task
// reaches its records.
func TestAcceptTruth_DelaysNoOtherWork(t *testing.T) {
	f := newFixture(t)
	var once sync.Once
	reading, proceed := make(chan struct{}), make(chan struct{})
	defer close(proceed)
	f.Files = hookedFiles{f.Files, func(key string) {
		if strings.HasPrefix(key, "truths/") {
			first := false
			once.Do(func() { first = true })
			if first {
				close(reading)
				<-proceed
			}
		}
	}}
	f.acceptTruth()
	f.start()
	<-reading
	expired := f.add(ranked, f.leasedBy("elsewhere", 0)).ID
	if r := f.until(expired, record.Completed); r.Attempts != 2 {
		t.Fatalf("%d attempts", r.Attempts)
	}
	other := f.records.Task(func(t *record.TaskItem) { t.PendingWork = record.NewPendingWork(record.PropagateTask, f.Now()) })
	waittest.Until(t, "the change of a task reaches its records", func() bool {
		return get[record.TaskItem](f, other.Key()).PendingWork == nil
	})
}

// panickingStore panics when it is asked for due work.
type panickingStore struct{ store.Store }

func (b panickingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if q.Partition == record.DuePartition && q.To != "" {
		panic("a bug")
	}
	return b.Store.Query(ctx, q)
}

func TestRun_SurvivesPanicsOfPeriodicJobs(t *testing.T) {
	f := newFixture(t)
	f.Store = panickingStore{f.Store}
	f.start()
	f.until(f.add(ranked).ID, record.Completed)
}
