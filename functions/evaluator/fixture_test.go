package evaluator_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/evaluator"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/waittest"
)

const (
	qrels  = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
	ranked = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\nq2 Q0 d3 1 1.0 tag\n"
)

// fixture is a dataset with a truth, and a worker that has not been started.
type fixture struct {
	*evaluator.Worker
	records *recordtest.Builder
	runs    *recordtest.Dataset
	dataset *record.DatasetItem
	truth   *record.TruthVersion
	t       *testing.T
	ctx     context.Context
	ahead   atomic.Int64 // nanoseconds that the clock is ahead
}

// stores open a store of each implementation.
var stores = map[string]func(*testing.T, *fixture) store.Store{
	"embedded": func(t *testing.T, f *fixture) store.Store {
		return recordtest.OpenStore(t, embedded.Options{OnChange: f.Changed, Now: f.Now})
	},
	"DynamoDB": func(t *testing.T, _ *fixture) store.Store { return dynamotest.Open(t, dynamotest.Start(t)) },
}

func newFixture(t *testing.T) *fixture { return fixtureIn(t, stores["embedded"]) }

func fixtureIn(t *testing.T, open func(*testing.T, *fixture) store.Store) *fixture {
	f := &fixture{t: t, ctx: t.Context(), Worker: &evaluator.Worker{Holder: "here", Log: slog.New(slog.DiscardHandler)}}
	f.Now = func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }
	f.Store = open(t, f)
	f.Files = recordtest.OpenFiles(t)
	f.records = recordtest.New(t, f.Store)
	f.records.Now, f.records.Files = f.Now, f.Files
	f.runs = f.records.Task().Dataset(recordtest.Measures("AP", "P@1"), f.records.Truths("qrels.txt", qrels))
	f.dataset, f.truth = f.runs.DatasetItem, f.runs.Truth
	return f
}

func (f *fixture) wait(d time.Duration) { f.ahead.Add(int64(d)) }

// add makes a queued run of the content, by a user of its own.
func (f *fixture) add(content string, options ...recordtest.RunOption) *record.RunItem {
	f.t.Helper()
	queued := []recordtest.RunOption{recordtest.Queued, recordtest.Published, recordtest.Content("run.txt", content)}
	return f.runs.Run(record.NewID(time.Now()), append(queued, options...)...).RunItem
}

// leasedBy makes a run one that the holder has leased for the first time, for the duration.
func (f *fixture) leasedBy(holder string, d time.Duration) recordtest.RunOption {
	return func(r *recordtest.Run) {
		at := record.At(f.Now())
		r.State = record.Evaluating
		r.Attempts = 1
		r.StartedAt = &at
		r.Lease = &record.Lease{ID: record.NewID(at.Time), Holder: holder, Until: record.At(at.Add(d))}
	}
}

func get[R any, P records.Pointer[R]](f *fixture, key store.Key) P {
	f.t.Helper()
	return recordtest.Get[R, P](f.t, f.records.Store, key)
}

func (f *fixture) run(id string) *record.RunItem { return get[record.RunItem](f, record.RunKey(id)) }

// change writes the next version of the dataset.
func (f *fixture) change(alter func(*record.DatasetItem)) {
	f.t.Helper()
	d := get[record.DatasetItem](f, f.dataset.Key())
	alter(d)
	record.Touch(d, f.Now())
	f.records.Replace(d)
}

// evaluate evaluates a certain run, as for a message that names it, in a process that has served nobody else.
func (f *fixture) evaluate(id string) {
	f.t.Helper()
	w := &evaluator.Worker{Holder: f.Holder, Log: f.Log, Now: f.Now, Store: f.Store, Files: f.Files}
	_, err := w.Evaluate(f.ctx, f.run(id))
	f.must(err)
}

// start has the worker run until the test ends, or stop is called.
func (f *fixture) start() (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	var running sync.WaitGroup
	running.Go(func() { f.Worker.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	f.t.Cleanup(stop)
	return stop
}

// until waits for the run to be in the state.
func (f *fixture) until(id string, state record.RunState) *record.RunItem {
	f.t.Helper()
	return waittest.Value(f.t, "the run is "+string(state), func() (*record.RunItem, bool) {
		r := f.run(id)
		return r, r.State == state
	})
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// clean deletes abandoned files, all in one call.
func (f *fixture) clean() {
	f.t.Helper()
	_, err := f.DeleteAbandonedFiles(f.ctx, "")
	f.must(err)
}

func (f *fixture) evaluations() int {
	f.t.Helper()
	n := 0
	for _, a := range record.Audiences {
		index, partition := record.List(record.KindDataset, f.dataset.ID, record.KindEvaluation, a)
		items, err := f.records.Store.Query(f.ctx, store.Query{Index: index, Partition: partition, Limit: 1000})
		f.must(err)
		n += len(items)
	}
	return n
}
