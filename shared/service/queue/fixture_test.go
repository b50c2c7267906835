package queue_test

import (
	"context"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const leaseTime = time.Minute

// fixture is a dataset with a ground truth, and the runs and the allowance of one user.
type fixture struct {
	*recordtest.Builder
	t         recordtest.TB
	ctx       context.Context
	now       time.Time
	dataset   *recordtest.Dataset
	truth     *record.TruthVersion
	allowance store.Key
	order     queue.FairOrder // of the built-in evaluators
	orders    map[record.Subqueue]*queue.FairOrder
}

func openStore(t *testing.T) store.Store {
	return recordtest.OpenStore(t, embedded.Options{Now: func() time.Time { return start }})
}

func newFixture(t *testing.T) *fixture { return fixtureIn(t, openStore(t)) }

func fixtureIn(t recordtest.TB, s store.Store) *fixture {
	f := &fixture{Builder: recordtest.New(t, s), t: t, ctx: context.Background(), now: start, orders: map[record.Subqueue]*queue.FairOrder{}}
	f.Now = func() time.Time { return f.now }
	task := f.Task()
	f.dataset = task.Dataset()
	f.truth = f.dataset.Truth
	a := &record.Allowance{Meta: record.MetaOf(task.Register("ann").ID, f.now), TaskID: task.ID}
	f.allowance = a.Key()
	f.Put(a)
	return f
}

func (f *fixture) queue() queue.Queue { return f.queueAfter(0) }

// queueAfter returns the queue with a clock that is ahead by the duration.
func (f *fixture) queueAfter(d time.Duration) queue.Queue {
	return queue.Queue{Store: f.Store, Now: func() time.Time { return f.now.Add(d) }}
}

// reclaim reclaims the run if its lease is over, and reports whether it did.
func (f *fixture) reclaim(id string) bool {
	f.t.Helper()
	reclaimed, err := f.queue().ReclaimExpired(f.ctx, id)
	f.must(err)
	return reclaimed
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// add creates a queued run of an upload that does not count in the quota yet.
func (f *fixture) add(options ...recordtest.RunOption) *record.RunItem {
	f.now = f.now.Add(time.Millisecond)
	return f.dataset.Run("ann", append([]recordtest.RunOption{recordtest.Queued, recordtest.Content("run.txt", "x")}, options...)...).RunItem
}

// addCounted creates a queued run of an upload that counts in the quota.
func (f *fixture) addCounted() *record.RunItem {
	r := f.add()
	a := recordtest.Get[record.Allowance](f.t, f.Store, f.allowance)
	a.Total++
	a.Recent = append(a.Recent, r.ID)
	f.Replace(a)
	return r
}

// addImage creates a run that waits for a worker of the pool.
func (f *fixture) addImage(pool string, options ...recordtest.RunOption) *record.RunItem {
	f.now = f.now.Add(time.Millisecond)
	return f.dataset.Run("ann", append([]recordtest.RunOption{recordtest.OfImage, func(r *recordtest.Run) { r.Pool = pool }},
		options...)...).RunItem
}

// ofRepository turns the run of an image into one of a repository.
func ofRepository(r *recordtest.Run) { r.Type = record.RepositoryType }

func (f *fixture) run(id string) *record.RunItem {
	f.t.Helper()
	return recordtest.Get[record.RunItem](f.t, f.Store, record.RunKey(id))
}

func (f *fixture) counted() int {
	f.t.Helper()
	return recordtest.Get[record.Allowance](f.t, f.Store, f.allowance).Total
}

// changeTruth stores the next version of the ground truth, and returns the previous one.
func (f *fixture) changeTruth() *record.TruthVersion {
	before := *f.truth
	f.truth.Number++
	f.Replace(f.truth)
	return &before
}

func (f *fixture) reevaluate(id string) {
	f.t.Helper()
	if changed, err := f.queue().Reevaluate(f.ctx, id, f.truth); !changed || err != nil {
		f.t.Fatal(changed, err)
	}
}

func (f *fixture) outcome(truth *record.TruthVersion) queue.Outcome {
	e := &record.EvaluationItem{}
	e.Meta = record.NewMeta(f.now)
	e.Measured, e.Measures = []string{"AP"}, map[string]*float64{"AP": new(0.5)}
	topics := &record.Topics{Meta: e.Meta, PerTopic: map[string]map[string]float64{"1": {"AP": 0.5}}}
	return queue.Outcome{Evaluation: e, Topics: topics, Truth: truth}
}

// lease leases the next run for a built-in evaluator. It returns nil if none waits.
func (f *fixture) lease() *record.RunItem {
	f.t.Helper()
	return f.leaseFrom(record.BuiltinSubqueue(), &f.order)
}

// leaseWork leases the next run for a worker.
func (f *fixture) leaseWork(pool string, w record.Work) *record.RunItem {
	f.t.Helper()
	sub := record.WorkerSubqueue(pool, w)
	if f.orders[sub] == nil {
		f.orders[sub] = new(queue.FairOrder)
	}
	return f.leaseFrom(sub, f.orders[sub])
}

func (f *fixture) leaseFrom(sub record.Subqueue, order *queue.FairOrder) *record.RunItem {
	f.t.Helper()
	r, err := f.queue().Lease(f.ctx, sub, order, record.Lease{Holder: "worker"}, leaseTime)
	f.must(err)
	return r
}

// leaseRef leases the next run for a worker of the default pool that executes images.
func (f *fixture) leaseRef() queue.LeaseRef {
	f.t.Helper()
	return queue.LeaseRefOf(f.leaseWork(record.DefaultPool, record.ExecuteImage))
}

func reasons(severity measure.Severity, message string) []measure.Diagnostic {
	return []measure.Diagnostic{{Severity: severity, Message: message}}
}

func evaluationOf(f *fixture, id string) *record.EvaluationItem {
	return recordtest.Get[record.EvaluationItem](f.t, f.Store, record.EvaluationKey(id))
}
