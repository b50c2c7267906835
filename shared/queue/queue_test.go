package queue_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const leaseTime = time.Minute

// scene is a dataset with a truth, one user, and the user's runs.
type scene struct {
	t interface {
		Helper()
		Fatal(args ...any)
		Fatalf(format string, args ...any)
	}
	ctx   context.Context
	store store.Store
	now   time.Time
	truth *record.Truth
	task  string
	user  string
	order queue.FairOrder
}

func openStore(t *testing.T) store.Store {
	t.Helper()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table"), embedded.Options{Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newScene(t *testing.T, s store.Store) *scene {
	sc := &scene{t: t, ctx: t.Context(), store: s}
	sc.begin()
	return sc
}

func (s *scene) queue() queue.Queue { return s.queueAfter(0) }

// queueAfter returns the queue whose clock is ahead by the duration.
func (s *scene) queueAfter(d time.Duration) queue.Queue {
	return queue.Queue{Store: s.store, Now: func() time.Time { return s.now.Add(d) }}
}

func (s *scene) begin() {
	s.now = start
	s.task, s.user = record.NewID(s.now), record.NewID(s.now)
	s.truth = &record.Truth{Meta: record.NewMeta(s.now), TaskID: s.task, Number: 1}
	s.truth.Evaluator = record.Evaluator{Kind: "retrieval", Measures: []string{"AP"}, PrimaryMeasure: "AP"}
	a := &record.Allowance{Meta: record.NewMeta(s.now), TaskID: s.task}
	a.ID = s.user
	s.commit(new(records.Tx).Create(s.truth).Create(a))
}

func (s *scene) commit(tx *records.Tx) {
	s.t.Helper()
	if err := tx.Commit(s.ctx, s.store); err != nil {
		s.t.Fatal(err)
	}
}

// add makes a queued run of an upload that counts in the quota.
func (s *scene) add() *record.RunItem {
	s.now = s.now.Add(time.Millisecond)
	at := record.At(s.now)
	r := &record.RunItem{Queue: record.QueueBuiltin, Type: record.UploadType, Counted: true}
	r.Meta = record.NewMeta(s.now)
	r.State, r.QueuedAt = record.Queued, &at
	r.TaskID, r.DatasetID, r.UserID, r.SubmissionID = s.task, s.truth.ID, s.user, record.NewID(s.now)
	r.Files = []record.File{{Name: "run.txt", Size: 1, SHA256: strings.Repeat("a", 64), State: record.FileStored}}
	a := s.allowance()
	a.Total++
	a.Recent = append(a.Recent, r.ID)
	s.commit(new(records.Tx).Create(r).Replace(a))
	return r
}

func (s *scene) allowance() *record.Allowance {
	s.t.Helper()
	a, err := records.Get[record.Allowance](s.ctx, s.store, store.Strong, record.AllowanceKey(s.task, s.user))
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *scene) run(id string) *record.RunItem {
	s.t.Helper()
	r, err := records.Get[record.RunItem](s.ctx, s.store, store.Strong, record.RunKey(id))
	if err != nil || r == nil {
		s.t.Fatal(r, err)
	}
	return r
}

// change stores the next version of the truth, and returns the one before.
func (s *scene) change() *record.Truth {
	before := *s.truth
	s.truth.Number++
	s.commit(new(records.Tx).Replace(s.truth))
	return &before
}

func (s *scene) outcome(truth *record.Truth) queue.Outcome {
	value := 0.5
	e := &record.EvaluationItem{}
	e.Meta = record.NewMeta(s.now)
	e.PrimaryMeasure, e.Measures = "AP", map[string]*float64{"AP": &value}
	topics := &record.Topics{Meta: e.Meta, PerTopic: map[string]map[string]float64{"1": {"AP": value}}}
	return queue.Outcome{Evaluation: e, Topics: topics, Truth: truth}
}

func (s *scene) lease() *record.RunItem {
	s.t.Helper()
	r, err := s.queue().Lease(s.ctx, record.BuiltinSubqueue(), &s.order, record.Lease{Holder: "worker"}, leaseTime)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func wrong(severity measure.Severity, message string) []measure.Diagnostic {
	return []measure.Diagnostic{{Severity: severity, Message: message}}
}

func TestTheOneThatWaitedLongestComesFirst(t *testing.T) {
	s := newScene(t, openStore(t))
	first, second := s.add(), s.add()
	held := s.lease()
	if held.ID != first.ID || held.State != record.Evaluating || held.Attempts != 1 {
		t.Fatalf("leased %+v, want the first run", held)
	}
	if r := s.lease(); r.ID != second.ID {
		t.Fatalf("leased %s, want the second run", r.ID)
	}
	if r := s.lease(); r != nil {
		t.Fatalf("leased %s from an empty queue", r.ID)
	}
	s.now = s.now.Add(2 * leaseTime)
	third := s.add()
	if err := s.queue().ReclaimExpired(s.ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	if r := s.lease(); r.ID != first.ID || r.Attempts != 2 {
		t.Fatalf("leased %s before the run that was taken back; it was %s that came after", r.ID, third.ID)
	}
}

func TestWhoeverRacesForRunsGetsEachOnce(t *testing.T) {
	const runs, workers = 40, 8
	s := newScene(t, openStore(t))
	for range runs {
		s.add()
	}
	var written, stale atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for {
				r, err := s.queue().Lease(s.ctx, record.BuiltinSubqueue(), &s.order, record.Lease{Holder: fmt.Sprint("worker ", w)}, leaseTime)
				if err != nil || r == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				h := queue.LeaseRefOf(r)
				var twice sync.WaitGroup
				for range 2 { // the message that it is done comes twice
					twice.Go(func() {
						_, err := s.queue().CompleteEvaluation(s.ctx, h, s.outcome(s.truth))
						switch {
						case err == nil:
							written.Add(1)
						case errors.Is(err, queue.ErrStaleLease):
							stale.Add(1)
						default:
							t.Error(err)
						}
					})
				}
				twice.Wait()
			}
		})
	}
	all.Wait()
	if written.Load() != runs || stale.Load() != runs {
		t.Fatalf("%d outcomes written and %d refused, want %d of each", written.Load(), stale.Load(), runs)
	}
	ranked, err := s.store.Query(s.ctx, store.Query{Index: record.ByDataset, Partition: record.DatasetPartition(s.truth.ID, record.KindEvaluation, 2), Limit: 2 * runs})
	if err != nil || len(ranked) != runs {
		t.Fatalf("%d evaluations, %v; want %d", len(ranked), err, runs)
	}
}

func TestAnOutcomeAgainstAnOldTruthIsVoid(t *testing.T) {
	s := newScene(t, openStore(t))
	r := s.add()
	h := queue.LeaseRefOf(s.lease())
	old := s.change()
	if _, err := s.queue().CompleteEvaluation(s.ctx, h, s.outcome(old)); !errors.Is(err, queue.ErrTruthChanged) {
		t.Fatalf("got %v, want ErrTruthChanged", err)
	}
	if _, err := s.queue().FailAgainst(s.ctx, h, old, wrong(measure.Error, "x")); !errors.Is(err, queue.ErrTruthChanged) {
		t.Fatalf("got %v, want ErrTruthChanged", err)
	}
	if _, err := s.queue().FailAgainst(s.ctx, h, nil, wrong(measure.Error, "no truth")); !errors.Is(err, queue.ErrTruthChanged) {
		t.Fatalf("got %v, want ErrTruthChanged", err)
	}
	if got := s.run(r.ID); got.State != record.Evaluating || got.Lease == nil {
		t.Fatalf("the run went to %s", got.State)
	}
	if _, err := s.queue().CompleteEvaluation(s.ctx, h, s.outcome(s.truth)); err != nil {
		t.Fatal(err)
	}
}

func TestEveryTruthLeavesOneEvaluationAndTheOldestGo(t *testing.T) {
	s := newScene(t, openStore(t))
	id := s.add().ID
	var made []string
	for range record.MaxEvaluations + 2 {
		r, err := s.queue().CompleteEvaluation(s.ctx, queue.LeaseRefOf(s.lease()), s.outcome(s.truth))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, r.EvaluationID)
		s.change()
		if changed, err := s.queue().Reevaluate(s.ctx, id, s.truth); !changed || err != nil {
			t.Fatal(changed, err)
		}
	}
	r := s.run(id)
	if got := strings.Join(r.Evaluations, " "); got != strings.Join(made[2:], " ") {
		t.Fatalf("the run has the evaluations %s", got)
	}
	for i, evaluationID := range made {
		e, err := records.Get[record.EvaluationItem](s.ctx, s.store, store.Strong, record.EvaluationKey(evaluationID))
		if err != nil {
			t.Fatal(err)
		}
		topics, err := records.Get[record.Topics](s.ctx, s.store, store.Strong, record.TopicsKey(evaluationID))
		if gone := i < 2; err != nil || (e == nil) != gone || (topics == nil) != gone {
			t.Fatalf("evaluation %d: %v, %v, %v", i, e, topics, err)
		}
		if e != nil && e.Unlisted != (i < len(made)-1) {
			t.Fatalf("evaluation %d of %d is superseded: %v", i, len(made), e.Unlisted)
		}
	}
}

func TestAFailedRunThatIsEvaluatedAfterAllCountsAgain(t *testing.T) {
	s := newScene(t, openStore(t))
	id := s.add().ID
	if _, err := s.queue().FailAgainst(s.ctx, queue.LeaseRefOf(s.lease()), s.truth, wrong(measure.Error, "x")); err != nil {
		t.Fatal(err)
	}
	if a := s.allowance(); a.Total != 0 || len(a.Recent) != 0 {
		t.Fatalf("a failed run counts: %+v", a)
	}
	s.change()
	if changed, err := s.queue().Reevaluate(s.ctx, id, s.truth); !changed || err != nil {
		t.Fatal(changed, err)
	}
	if _, err := s.queue().CompleteEvaluation(s.ctx, queue.LeaseRefOf(s.lease()), s.outcome(s.truth)); err != nil {
		t.Fatal(err)
	}
	if a := s.allowance(); a.Total != 1 || len(a.Recent) != 1 || !s.run(id).Counted {
		t.Fatalf("an evaluated run does not count: %+v", a)
	}
}

func TestTheEndOfAllAttemptsTellsTheirHistory(t *testing.T) {
	s := newScene(t, openStore(t))
	id := s.add().ID
	for n := range record.MaxAttempts {
		h := queue.LeaseRefOf(s.lease())
		if n == 0 {
			if _, err := s.queue().FailAttempt(s.ctx, h, "it broke"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		s.now = s.now.Add(leaseTime)
		if err := s.queue().ReclaimExpired(s.ctx, id); err != nil {
			t.Fatal(err)
		}
		if err := s.queue().Extend(s.ctx, h, leaseTime); !errors.Is(err, queue.ErrStaleLease) {
			t.Fatalf("a lease that was taken back is extended: %v", err)
		}
	}
	r := s.run(id)
	if r.State != record.Failed || r.Counted || s.allowance().Total != 0 || r.FinishedAt == nil {
		t.Fatalf("%s, counted %v, quota %+v", r.State, r.Counted, s.allowance())
	}
	if len(r.Diagnostics) != 4 || r.Diagnostics[0].Severity != measure.Error || !strings.Contains(r.Diagnostics[1].Message, "it broke") {
		t.Fatalf("%+v", r.Diagnostics)
	}
}

func TestARunOfAnImageIsExecutedFirst(t *testing.T) {
	s := newScene(t, openStore(t))
	r := s.add()
	r.Queue, r.Type, r.Files = record.QueueWorkers, record.ImageType, []record.File{}
	s.commit(new(records.Tx).Replace(r))
	if r := s.lease(); r != nil {
		t.Fatal("a built-in evaluator got a run for workers")
	}
	got, err := s.queue().Lease(s.ctx, record.WorkerSubqueue(record.DefaultPool, record.ExecuteImage), new(queue.FairOrder), record.Lease{Holder: "worker"}, leaseTime)
	if err != nil || got.State != record.Running {
		t.Fatal(got, err)
	}
	if got, err = s.queue().Release(s.ctx, queue.LeaseRefOf(got)); err != nil || got.State != record.Queued || got.Queue != record.QueueWorkers || got.Attempts != 0 {
		t.Fatal(got, err)
	}
}

func TestWhatHasEndedCannotBeCancelled(t *testing.T) {
	s := newScene(t, openStore(t))
	r := s.add()
	if _, err := s.queue().Fail(s.ctx, queue.LeaseRefOf(s.lease()), wrong(measure.Error, "x")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.queue().Cancel(s.ctx, s.run(r.ID), new(records.Tx)); !problem.Conflict.Is(err) {
		t.Fatalf("got %v, want a conflict", err)
	}
}

func TestWhatWaitsTooLongIsGivenUp(t *testing.T) {
	s := newScene(t, openStore(t))
	id := s.add().ID
	if err := s.queue().FailStale(s.ctx, id, record.AwaitingUpload, wrong(measure.Error, "no file")...); err != nil {
		t.Fatal(err)
	}
	if r := s.run(id); r.State != record.Queued || len(r.Diagnostics) != 0 {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
	if err := s.queue().FailStale(s.ctx, id, record.Queued, wrong(measure.Error, "nobody came")...); err != nil {
		t.Fatal(err)
	}
	if r := s.run(id); r.State != record.Failed || len(r.Diagnostics) != 1 || s.allowance().Total != 0 {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
}
