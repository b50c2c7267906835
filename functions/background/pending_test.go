package background_test

import (
	"context"
	"fmt"
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
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/evaluationtest"
	"assay/shared/testing/waittest"
)

// awaitingUpload makes a run wait for its file.
func awaitingUpload(r *recordtest.Run) {
	r.State, r.Files[0].State = record.AwaitingUpload, record.FilePending
}

func TestRunDue_ExpiresUploadsAfterADay(t *testing.T) {
	f := newFixture(t)
	arrived := f.Add(evaluationtest.Ranked, awaitingUpload).ID
	missing := f.Add(evaluationtest.Ranked, awaitingUpload, func(r *recordtest.Run) {
		r.Files = []record.File{recordtest.File("run.txt", "something else", record.FilePending)}
	}).ID
	f.Wait(record.UploadTime - time.Minute)
	f.Must(f.RunDue(f.Ctx))
	if r := f.GetRun(arrived); r.State != record.AwaitingUpload {
		t.Fatalf("%s before its time", r.State)
	}
	f.Wait(2 * time.Minute)
	f.Must(f.RunDue(f.Ctx))
	if r := f.GetRun(arrived); r.State != record.Queued {
		t.Fatalf("a run whose file arrived, without a notification, is %s: %v", r.State, r.Diagnostics)
	}
	if r := f.GetRun(missing); r.State != record.Failed || r.Diagnostics[0].File != "run.txt" ||
		!strings.Contains(r.Diagnostics[0].Message, r.Files[0].SHA256) {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
}

func TestReevaluate_EvaluatesEachRunOnce(t *testing.T) {
	f := newFixture(t)
	good, bad := f.Add(evaluationtest.Ranked).ID, f.Add("nonsense\n").ID
	public := f.Add(evaluationtest.Ranked, func(r *recordtest.Run) { r.Access.Public = true }).ID
	for _, id := range []string{good, bad, public} {
		f.evaluate(id)
	}
	cancelled := f.Add(evaluationtest.Ranked, func(r *recordtest.Run) { r.State = record.Cancelled }).ID
	unarrived := f.Add(evaluationtest.Ranked, awaitingUpload, func(r *recordtest.Run) { r.State = record.Failed }).ID
	f.Truth.Number, f.Dataset.TruthVersion = 2, 2
	f.Dataset.PendingWork = record.NewPendingWork(record.Reevaluate, f.Now())
	f.Records.Replace(f.Truth, f.Dataset)
	f.Must(f.RunDue(f.Ctx))
	for _, id := range []string{good, bad, public} {
		if r := f.GetRun(id); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 0 {
			t.Fatalf("%+v", r)
		}
		f.evaluate(id)
	}
	if d := get[record.DatasetItem](f, f.Dataset.Key()); d.PendingWork != nil {
		t.Fatalf("after all runs were evaluated: %+v", d.PendingWork)
	}
	for id, want := range map[string]record.RunState{good: record.Completed, bad: record.Failed, public: record.Completed,
		cancelled: record.Cancelled, unarrived: record.Failed} {
		if r := f.GetRun(id); r.State != want || r.Attempts > 1 {
			t.Errorf("%s after %d attempts, want %s", r.State, r.Attempts, want)
		}
	}
	if r := f.GetRun(good); len(r.Evaluations) != 2 || f.CountEvaluations() != 2 {
		t.Fatalf("%d evaluations of the run, %d listed", len(r.Evaluations), f.CountEvaluations())
	}
}

// activate has the runs evaluated again with the same truth under another number, while leaderboards go on to show the old one.
func (f *fixture) activate() {
	f.T.Helper()
	old := *f.Truth
	tx := new(records.Tx)
	truth.Activate(tx, f.Dataset, &old, truth.Checked{}, f.Now())
	f.Records.Commit(tx.Replace(f.Dataset))
}

// In a store that does not lag, a pass of its own neither queues a run nor shows the truth any later.
func TestReevaluate_WaitsForNothingButRuns(t *testing.T) {
	f := newFixture(t)
	id := f.Add(evaluationtest.Ranked).ID
	f.evaluate(id)
	f.activate()
	f.Must(f.RunDue(f.Ctx))
	f.evaluate(id)
	d := get[record.DatasetItem](f, f.Dataset.Key())
	f.Wait(d.PendingWork.NotBefore.Sub(f.Now()))
	f.Must(f.RunDue(f.Ctx))
	d = get[record.DatasetItem](f, f.Dataset.Key())
	if d.Board().TruthVersion != 2 || d.Reevaluation != nil || d.PendingWork != nil {
		t.Fatalf("once the run was evaluated, version %d is shown: %+v, %+v", d.Board().TruthVersion, d.Reevaluation, d.PendingWork)
	}
	if e := get[record.EvaluationItem](f, record.EvaluationKey(f.GetRun(id).EvaluationID)); e.Unlisted || e.TruthVersion != 2 {
		t.Errorf("%+v", e)
	}
}

// A run that the list lacked when the truth changed is evaluated again before leaderboards show the truth.
func TestReevaluate_FindsRunsThatTheListLacked(t *testing.T) {
	f := newFixture(t)
	s := &storetest.Lagging{Store: f.Records.Store, Delay: 5 * time.Second, Now: f.Now}
	f.Records.Store = s
	id := f.Add(evaluationtest.Ranked).ID
	f.evaluate(id)
	f.Store = s
	f.activate()
	f.Must(f.RunDue(f.Ctx))
	if r := f.GetRun(id); r.State == record.Queued {
		t.Fatal("the list has the run, so that nothing is tested")
	}
	f.Wait(s.Lag())
	f.Must(f.RunDue(f.Ctx))
	if r, d := f.GetRun(id), get[record.DatasetItem](f, f.Dataset.Key()); r.State != record.Queued || d.Board().TruthVersion != 1 {
		t.Fatalf("the run is %s, and version %d is shown", r.State, d.Board().TruthVersion)
	}
}

// The worker does pending work when it is written or becomes due, not only when it looks by itself.
func TestRun_DoesPendingWorkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		id := f.Add(evaluationtest.Ranked).ID
		f.evaluate(id)
		f.start()
		synctest.Wait()
		began := time.Now()
		f.activate()
		for get[record.DatasetItem](f, f.Dataset.Key()).PendingWork != nil {
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
	good, bad := f.Add(evaluationtest.Ranked).ID, f.Add(evaluationtest.Ranked).ID
	f.evaluate(good)
	f.evaluate(bad)
	f.Add(evaluationtest.Ranked, func(r *recordtest.Run) { r.Queue = record.QueueWorkers })
	f.activate()
	f.Must(f.RunDue(f.Ctx))
	f.evaluate(good)
	looks := func() *record.DatasetItem {
		for range 3 {
			f.Wait(time.Minute)
			f.Must(f.RunDue(f.Ctx))
		}
		return get[record.DatasetItem](f, f.Dataset.Key())
	}
	if d := looks(); d.Board().TruthVersion != 1 || d.Reevaluation == nil ||
		!reflect.DeepEqual(d.Reevaluation.Progress, &record.Progress{Runs: 2, Waiting: 1}) {
		t.Fatalf("while a run waits, version %d is shown: %+v", d.Board().TruthVersion, d.Reevaluation)
	}
	f.Must(queue.Queue{Store: f.Store, Now: f.Now}.FailStale(f.Ctx, bad, record.Queued, measure.Diagnostic{
		Severity: measure.Error, Message: "x"}))
	if d := looks(); d.Board().TruthVersion != 2 || d.Reevaluation != nil || d.PendingWork != nil {
		t.Fatalf("once it has failed, version %d is shown: %+v", d.Board().TruthVersion, d.Reevaluation)
	}
	if e := get[record.EvaluationItem](f, record.EvaluationKey(f.GetRun(good).EvaluationID)); e.Unlisted || e.TruthVersion != 2 {
		t.Errorf("%+v", e)
	}
}

// laggingIndex is a store that lags. A query of pending work always returns the result of the first such query.
type laggingIndex struct {
	store.Store
	seen map[store.Key][]store.Item
}

func (l *laggingIndex) Lag() time.Duration { return 5 * time.Second }

func (l *laggingIndex) Query(ctx context.Context, q store.Query) (items []store.Item, err error) {
	if !strings.HasPrefix(q.Partition, record.DuePrefix) {
		return l.Store.Query(ctx, q)
	}
	start := store.Key{Partition: q.Partition, Sort: q.From}
	if _, known := l.seen[start]; !known {
		l.seen[start], err = l.Store.Query(ctx, q)
	}
	return l.seen[start], err
}

func TestReevaluate_NeedsASecondPassThatIsNotTooEarly(t *testing.T) {
	f := newFixture(t)
	f.Dataset.PendingWork = record.NewPendingWork(record.Reevaluate, f.Now())
	f.Records.Replace(f.Dataset)
	f.Store = &laggingIndex{f.Store, map[store.Key][]store.Item{}}
	for range 3 {
		f.Must(f.RunDue(f.Ctx))
	}
	if d := get[record.DatasetItem](f, f.Dataset.Key()); !d.PendingWork.Is(record.Reevaluate) || d.PendingWork.State != record.ConfirmingPass {
		t.Fatalf("%+v", d.PendingWork)
	}
	f.Wait(f.Store.Lag())
	f.Must(f.RunDue(f.Ctx))
	if d := get[record.DatasetItem](f, f.Dataset.Key()); d.PendingWork != nil || d.Version != f.Dataset.Version {
		t.Fatalf("version %d: %+v", d.Version, d.PendingWork)
	}
}

// acceptTruth has the dataset's truth wait to be accepted.
func (f *fixture) acceptTruth() {
	f.T.Helper()
	f.Dataset.PendingWork = record.NewPendingWork(record.AcceptTruth, f.Now())
	f.Records.Replace(f.Dataset)
}

func TestAcceptTruth_RefusesATruthThatPanics(t *testing.T) {
	f := newFixture(t)
	var reads atomic.Int32
	f.Files = evaluationtest.HookedFiles{Store: f.Files, BeforeOpen: func(string) {
		reads.Add(1) // to count the text, and to read it
		panic("a bug")
	}}
	stored := f.storeTruth("olga", "q1 0 a 1\n")
	if err := f.RunDue(f.Ctx); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("the fault is %v", err)
	}
	f.Must(f.RunDue(f.Ctx))
	d := get[record.DatasetItem](f, stored.Key())
	if reads.Load() != 2 || d.PendingWork.Is(record.AcceptTruth) || d.TruthVersion != 1 || len(d.Diagnostics) != 1 ||
		!strings.Contains(d.Diagnostics[0].Message, "a fault of the platform") {
		t.Fatalf("read %d times: %+v", reads.Load(), d)
	}
}

// storeTruth makes a dataset of the user with a ground truth of the text that waits to be accepted.
func (f *fixture) storeTruth(user, text string) *record.DatasetItem {
	d := f.Records.Task().Dataset().DatasetItem
	d.Payer = user
	d.Truths = []record.File{f.Records.File(record.HolderTruths, d.ID, "qrels.txt", text)}
	d.PendingWork = record.NewPendingWork(record.AcceptTruth, f.Now())
	f.Records.Replace(d)
	return d
}

// largeTruth is a ground truth that is not read beside another large one.
var largeTruth = numbered("q1 0 d%d 1\n", 10_000)

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestAcceptTruth_SmallTruthsPassLargeOnes has two users store large truths, of which the first takes as long as the test lets it. A third
// user's small truth is accepted meanwhile, and the other large one is not read.
func TestAcceptTruth_SmallTruthsPassLargeOnes(t *testing.T) {
	f := newFixture(t)
	files, proceed := f.Files, make(chan struct{})
	var reading atomic.Int32
	f.Files = evaluationtest.HookedFiles{Store: files, BeforeOpen: func(key string) {
		if o, err := files.Stat(f.Ctx, key); err == nil && o.Size > 1<<16 {
			reading.Add(1)
			<-proceed
		}
	}}
	f.start()
	datasets := []*record.DatasetItem{f.storeTruth("ann", largeTruth), f.storeTruth("ben", largeTruth)}
	waittest.Until(t, "a large truth is read", func() bool { return reading.Load() > 0 })
	datasets = append(datasets, f.storeTruth("cem", "q1 0 d1 1\n"))
	isAccepted := func(d *record.DatasetItem) bool { return get[record.DatasetItem](f, d.Key()).PendingWork == nil }
	waittest.Until(t, "the small truth is accepted", func() bool { return isAccepted(datasets[2]) })
	if n := reading.Load(); n != 1 {
		t.Errorf("%d large truths are read at the same time", n)
	}
	close(proceed)
	for _, d := range datasets {
		waittest.Until(t, "each truth is accepted", func() bool { return isAccepted(d) })
	}
}

// TestAcceptTruth_UsersTakeTurns has one user store twelve truths, of which two take long to read. Meanwhile others store a truth each.
func TestAcceptTruth_UsersTakeTurns(t *testing.T) {
	f := newFixture(t)
	owner := map[string]string{} // by dataset
	storeTruth := func(user string) {
		owner[f.storeTruth(user, largeTruth).ID] = user
	}
	var order []string
	f.Files = evaluationtest.HookedFiles{Store: f.Files, BeforeOpen: func(key string) {
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
	f.Must(f.RunDue(f.Ctx))
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
	f.Files = evaluationtest.HookedFiles{Store: f.Files, BeforeOpen: func(key string) {
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
	expired := f.Add(evaluationtest.Ranked, f.LeasedBy("elsewhere", 0)).ID
	if r := f.Until(expired, record.Completed); r.Attempts != 2 {
		t.Fatalf("%d attempts", r.Attempts)
	}
	other := f.Records.Task(func(t *record.TaskItem) { t.PendingWork = record.NewPendingWork(record.PropagateTask, f.Now()) })
	waittest.Until(t, "the change of a task reaches its records", func() bool {
		return get[record.TaskItem](f, other.Key()).PendingWork == nil
	})
}

// panickingStore panics when it is asked for due work.
type panickingStore struct{ store.Store }

func (b panickingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if strings.HasPrefix(q.Partition, record.DuePrefix) && q.To != "" {
		panic("a bug")
	}
	return b.Store.Query(ctx, q)
}

func TestRun_SurvivesPanicsOfPeriodicJobs(t *testing.T) {
	f := newFixture(t)
	f.Store = panickingStore{f.Store}
	f.start()
	f.Until(f.Add(evaluationtest.Ranked).ID, record.Completed)
}
