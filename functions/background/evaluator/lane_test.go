package evaluator_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/functions/background/evaluator"
	evaluators "assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/storage/blob"
	"assay/shared/testing/evaluationtest"
	"assay/shared/testing/waittest"
)

// heavyFiles makes the evaluations of some runs heavy: as it reads their files, it counts steps, as a large computation does. Those that
// may go on then wait until they are let go.
type heavyFiles struct {
	blob.Store
	steps map[string]int // by run
	goOn  chan struct{}

	mu        sync.Mutex
	opened    []string // runs in the order of their evaluations
	now, most int      // heavy ones that go on at once
}

// Open implements blob.Store.
func (h *heavyFiles) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if parts := strings.Split(key, "/"); parts[0] == "runs" {
		if err := h.work(ctx, parts[1]); err != nil {
			return nil, err
		}
	}
	return h.Store.Open(ctx, key)
}

func (h *heavyFiles) work(ctx context.Context, run string) error {
	h.mu.Lock()
	n, heavy := h.steps[run]
	h.opened = append(h.opened, run)
	h.mu.Unlock()
	if !heavy {
		return nil
	}
	if err := steps.Of(ctx).Add(n); err != nil {
		return err
	}
	h.count(1)
	defer h.count(-1)
	select {
	case <-h.goOn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *heavyFiles) count(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now += n
	h.most = max(h.most, h.now)
}

// evaluated is how many heavy evaluations go on.
func (h *heavyFiles) evaluated() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *heavyFiles) order() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.opened)
}

// withHeavyFiles makes the evaluations of the fixture read heavyFiles.
func (f *fixture) withHeavyFiles() *heavyFiles {
	h := &heavyFiles{Store: f.Files, steps: map[string]int{}, goOn: make(chan struct{})}
	f.Files = h
	return h
}

// addHeavy makes a run of the payer whose evaluation takes more steps than the budget of the fast lane.
func (f *fixture) addHeavy(h *heavyFiles, payer, task string) *record.RunItem {
	f.T.Helper()
	return f.addCounted(h, 1_000_000_000, payer, paidBy(payer), ofTask(task))
}

// addCounted makes a run of the user whose evaluation takes the steps.
func (f *fixture) addCounted(h *heavyFiles, cost int, user string, options ...recordtest.RunOption) *record.RunItem {
	f.T.Helper()
	waits := []recordtest.RunOption{recordtest.Content("run.txt", evaluationtest.Ranked), recordtest.InState(record.AwaitingUpload)}
	r := f.Runs.Run(user, append(waits, options...)...).RunItem
	h.mu.Lock()
	h.steps[r.ID] = cost
	h.mu.Unlock()
	f.Must(queue.Enqueue(r, f.Truth, f.Now()))
	f.Records.Replace(r)
	return r
}

func paidBy(payer string) recordtest.RunOption { return func(r *recordtest.Run) { r.Payer = payer } }

func ofTask(task string) recordtest.RunOption {
	return func(r *recordtest.Run) { r.TaskID = task }
}

// TestLanes_HeavyRunsOfOnePayerDelayLightOnesByABudget has a user with six tasks, and twelve runs whose evaluations never end by
// themselves. They give up their places at once, so that other payers' runs are evaluated; and the next place of the slow lane is another
// payer's.
func TestLanes_HeavyRunsOfOnePayerDelayLightOnesByABudget(t *testing.T) {
	f := newFixture(t)
	h := f.withHeavyFiles()
	var heavy []*record.RunItem
	for i := range 12 {
		heavy = append(heavy, f.addHeavy(h, "attacker", fmt.Sprint("task", i/2)))
	}
	f.start()
	waittest.Until(t, "a heavy run is in the slow lane", func() bool { return h.evaluated() == 1 })
	var light []*record.RunItem
	for range 5 {
		light = append(light, f.Add(evaluationtest.Ranked, paidBy("bystander")))
	}
	others := f.addHeavy(h, "bystander", "other")
	for _, r := range light {
		f.Until(r.ID, record.Completed)
	}
	waittest.Until(t, "all heavy runs wait in the slow lane", func() bool {
		isElsewhere := func(r *record.RunItem) bool { return f.GetRun(r.ID).Queue != record.QueueSlow }
		return !slices.ContainsFunc(append(slices.Clone(heavy), others), isElsewhere)
	})
	began := len(h.order())
	close(h.goOn)
	for _, r := range append(heavy, others) {
		if done := f.Until(r.ID, record.Completed); done.Attempts != 1 {
			t.Errorf("a heavy run took %d attempts", done.Attempts)
		}
	}
	if next := h.order()[began]; next != others.ID {
		t.Errorf("the slow lane goes on with %s, and not with the run of the other payer", next)
	}
	if h.most != 1 {
		t.Errorf("%d heavy evaluations were in memory at once", h.most)
	}
}

// TestLanes_KeepAPlaceForLightRuns has two users who used much. Their next runs are within the budget and occupy the fast lane for as long
// as the test lets them, as on a busy machine. A run of a third user in the same task is evaluated meanwhile, and no more runs of the two.
func TestLanes_KeepAPlaceForLightRuns(t *testing.T) {
	f := newFixture(t)
	h := f.withHeavyFiles()
	add := func(user string, cost int) *record.RunItem {
		return f.addCounted(h, cost, user, paidBy("organizer"), ofTask("task"))
	}
	f.start()
	for _, user := range []string{"ann", "ben"} {
		r := add(user, 1_000_000_000)
		waittest.Until(t, "the run is in the slow lane", func() bool { return f.GetRun(r.ID).Queue == record.QueueSlow })
	}
	for _, user := range []string{"ann", "ben"} {
		f.Until(add(user, 1_000_000).ID, record.Evaluating)
	}
	another := add("ann", 1_000_000)
	for range 3 {
		f.Until(f.Add(evaluationtest.Ranked, paidBy("organizer"), ofTask("task")).ID, record.Completed)
	}
	if r := f.GetRun(another.ID); r.State != record.Queued {
		t.Errorf("a further run of a user who used much is %s", r.State)
	}
	close(h.goOn)
	f.Until(another.ID, record.Completed)
}

// multilabel makes a dataset one of several labels of many examples, by many measures.
func multilabel(d *record.DatasetItem) {
	d.RunFormat = record.RunFormat{Kind: "csv", IDField: "id", ValueField: "label"}
	measures := []string{"ExactMatch", "HammingLoss"}
	for _, average := range []string{"micro", "macro", "samples", "weighted"} {
		for _, name := range []string{"F1", "Precision", "Recall", "Jaccard"} {
			measures = append(measures, fmt.Sprintf("%s(average=%s)", name, average))
		}
	}
	d.Evaluator = record.Evaluator{Kind: "multilabel", Measures: measures}
}

// TestLanes_ManyMultilabelRunsOfOneUser has six tasks of a user with a dataset each, and two runs in each that unpack to far more than they
// are sent as. The run of two lines that somebody else submits after them has its turn among the first.
func TestLanes_ManyMultilabelRunsOfOneUser(t *testing.T) {
	const examples = 20_000
	f := newFixture(t)
	f.SetBudget(250_000)
	var text strings.Builder
	text.WriteString("id,label\n")
	for i := range examples {
		fmt.Fprintf(&text, "%d,a b\n", i)
	}
	var heavy []*record.RunItem
	for task := range 6 {
		owner := func(t *record.TaskItem) { t.Payer = "attacker" }
		d := f.Records.Task(owner).Dataset(multilabel, f.Records.Truths("truth.csv", text.String()))
		for run := range 2 {
			heavy = append(heavy, d.Run(fmt.Sprint("user", task, run), recordtest.Queued, paidBy("attacker"),
				recordtest.Content("run.csv.gz", packed(t, text.String()))).RunItem)
		}
	}
	light := f.Add(evaluationtest.Ranked, paidBy("bystander"))
	f.start()
	first := f.Until(light.ID, record.Completed).EvaluationID
	before := 0
	for _, r := range heavy {
		done := f.Until(r.ID, record.Completed)
		if done.Queue != record.QueueSlow || done.Attempts != 1 {
			t.Errorf("a heavy run was evaluated in the queue %s, in %d attempts", done.Queue, done.Attempts)
		}
		if done.EvaluationID < first { // ids ascend
			before++
		}
	}
	if before > 2 {
		t.Errorf("%d heavy runs were evaluated before that of the bystander", before)
	}
}

// packed returns the text as gzip packs it.
func packed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLanes_LargeFilesAreReadInTheSlowLaneOnly bounds the memory of evaluations: each byte is a step, so that a run with more of them than
// the budget is not even begun elsewhere.
func TestLanes_LargeFilesAreReadInTheSlowLaneOnly(t *testing.T) {
	f := newFixture(t)
	const budget = 200_000
	f.SetBudget(budget)
	h := f.withHeavyFiles()
	light := f.Add(evaluationtest.Ranked)
	large := f.Add(evaluationtest.Ranked + strings.Repeat("\n", budget))
	f.Must(f.EvaluateQueued(f.Ctx))
	if r := f.GetRun(light.ID); r.State != record.Completed {
		t.Errorf("a run within the budget is %s", r.State)
	}
	if r := f.GetRun(large.ID); r.State != record.Queued || r.Queue != record.QueueSlow || r.Attempts != 0 {
		t.Errorf("a larger run is %s in the queue %s after %d attempts", r.State, r.Queue, r.Attempts)
	}
	if slices.Contains(h.order(), large.ID) {
		t.Error("a larger run was read outside the slow lane")
	}
	f.Must(f.EvaluateSlow(f.Ctx))
	if r := f.GetRun(large.ID); r.State != record.Completed {
		t.Errorf("in the slow lane it is %s", r.State)
	}
}

// TestLanes_RunsThatTakeTooLongFail has a run with far more than a dataset may cost.
func TestLanes_RunsThatTakeTooLongFail(t *testing.T) {
	f := newFixture(t)
	h := f.withHeavyFiles()
	close(h.goOn)
	long, slow := f.Add(evaluationtest.Ranked), f.Add(evaluationtest.Ranked)
	h.steps[long.ID] = 5 * evaluators.MaxSteps
	h.steps[slow.ID] = 2 * evaluators.MaxSteps
	f.Must(f.EvaluateQueued(f.Ctx))
	f.Must(f.EvaluateSlow(f.Ctx))
	if r := f.GetRun(long.ID); r.State != record.Failed || !strings.Contains(r.Diagnostics[0].Message, "more than 80000 million steps") {
		t.Errorf("a run that takes too long is %s: %+v", r.State, r.Diagnostics)
	}
	if r := f.GetRun(slow.ID); r.State != record.Completed {
		t.Errorf("a run that takes long is %s: %+v", r.State, r.Diagnostics)
	}
}

// TestLanes_RunsStayInTheSlowLaneUntilTheTruthChanges gives back a run of the slow lane, evaluates it, and changes the truth.
func TestLanes_RunsStayInTheSlowLaneUntilTheTruthChanges(t *testing.T) {
	f := newFixture(t)
	r := f.Add(evaluationtest.Ranked, func(r *recordtest.Run) { r.Queue = record.QueueSlow })
	q := queue.Queue{Store: f.Store, Now: f.Now}
	leased, err := q.Lease(f.Ctx, record.SlowSubqueue(), new(queue.FairOrder), record.Lease{Holder: "x"}, time.Minute)
	f.Must(err)
	_, err = q.Release(f.Ctx, queue.LeaseRefOf(leased))
	f.Must(err)
	if got := f.GetRun(r.ID); got.Queue != record.QueueSlow {
		t.Fatalf("a run that was given back waits in the queue %s", got.Queue)
	}
	if changed, err := q.Reevaluate(f.Ctx, r.ID, f.Truth); err != nil || changed {
		t.Fatalf("a run that waits in the slow lane is moved: %v, %v", changed, err)
	}
	f.Must(f.EvaluateSlow(f.Ctx))
	f.Truth.Number++
	f.Records.Replace(f.Truth)
	if changed, err := q.Reevaluate(f.Ctx, r.ID, f.Truth); err != nil || !changed || f.GetRun(r.ID).Queue != record.QueueBuiltin {
		t.Errorf("against another truth it waits in the queue %s: %v, %v", f.GetRun(r.ID).Queue, changed, err)
	}
}

// TestHandleChange_OnePayerLeavesRoomForOthers has messages for many runs of a payer handled by as many processes at once, on both stores:
// two are evaluated, the calls for the others end at once, and those two go on with them. A run of somebody else is evaluated meanwhile.
func TestHandleChange_OnePayerLeavesRoomForOthers(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			f := fixtureIn(t, open)
			h := f.withHeavyFiles()
			var ids []string
			for range 12 {
				r := f.Add(evaluationtest.Ranked, paidBy("attacker"))
				h.steps[r.ID] = 1
				ids = append(ids, r.ID)
			}
			handle := func(id string) time.Time {
				w := &evaluator.Worker{Store: f.Store, Files: f.Files, Now: f.Now, Log: f.Log, Holder: id, Places: &queue.Places{Payer: 2, Slow: 1}}
				at, err := w.HandleChange(f.Ctx, f.item(record.RunKey(id)))
				if err != nil {
					t.Error(err)
				}
				return at
			}
			deferred := make(chan time.Time, len(ids))
			var all sync.WaitGroup
			for _, id := range ids {
				all.Go(func() { deferred <- handle(id) })
			}
			for range len(ids) - 2 {
				if at := waittest.Receive(t, "a call for a run without a place ends", deferred); time.Until(at) < 10*time.Second {
					t.Errorf("the run is tried again at %s, for which the call itself would wait", at)
				}
			}
			other := f.Add(evaluationtest.Ranked, paidBy("bystander"))
			handle(other.ID)
			if r := f.GetRun(other.ID); r.State != record.Completed {
				t.Errorf("the other payer's run is %s", r.State)
			}
			if n := h.evaluated(); n != 2 {
				t.Errorf("%d runs of the payer are evaluated", n)
			}
			close(h.goOn)
			all.Wait()
			for _, id := range ids {
				if r := f.GetRun(id); r.State != record.Completed || r.Attempts != 1 {
					t.Errorf("a run without a place is %s after %d attempts", r.State, r.Attempts)
				}
			}
			if h.most > 2 {
				t.Errorf("%d runs of the payer were evaluated at once", h.most)
			}
		})
	}
}

// TestHandleChange_LeavesTheSlowLaneToSchedules: a call of the stream evaluates nothing that takes long, which would keep other changes
// waiting.
func TestHandleChange_LeavesTheSlowLaneToSchedules(t *testing.T) {
	f := newFixture(t)
	r := f.Add(evaluationtest.Ranked, func(r *recordtest.Run) { r.Queue = record.QueueSlow })
	at, err := f.HandleChange(f.Ctx, f.item(record.RunKey(r.ID)))
	if err != nil || at.Sub(f.Now()) < 10*time.Second || f.GetRun(r.ID).State != record.Queued {
		t.Errorf("the run is %s, and the next call at %s: %v", f.GetRun(r.ID).State, at, err)
	}
	if next, err := f.NextDue(f.Ctx); err != nil || next.IsZero() {
		t.Errorf("nothing is due: %v", err)
	}
}
