package evaluator_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"assay/functions/background"
	"assay/functions/background/evaluator"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/evaluationtest"
)

// fixture is a dataset with runs, and an evaluator and a worker for pending work that have not been started.
type fixture struct {
	*evaluationtest.Fixture
	*evaluator.Worker
	pending *background.Worker
}

// stores open a store of each implementation.
var stores = map[string]func(*testing.T, *fixture) store.Store{
	"embedded": func(t *testing.T, f *fixture) store.Store {
		return recordtest.OpenStore(t, embedded.Options{OnChange: f.changed, Now: f.Now})
	},
	"DynamoDB": func(t *testing.T, _ *fixture) store.Store { return dynamotest.Open(t, dynamotest.Start(t)) },
}

func newFixture(t *testing.T) *fixture { return fixtureIn(t, stores["embedded"]) }

func fixtureIn(t *testing.T, open func(*testing.T, *fixture) store.Store) *fixture {
	f := &fixture{Fixture: evaluationtest.New(t)}
	f.Worker = &evaluator.Worker{Holder: "here", Log: slog.New(slog.DiscardHandler), Now: f.Clock, Files: recordtest.OpenFiles(t)}
	f.pending = background.New(nil, f.Files, f.Now, f.Log)
	f.Store = open(t, f)
	f.Fill(f.Store, f.Files)
	return f
}

func (f *fixture) changed(items []store.Item) {
	f.Changed(items)
	f.pending.Changed(items)
}

func get[R any, P records.Pointer[R]](f *fixture, key store.Key) P {
	f.T.Helper()
	return recordtest.Get[R, P](f.T, f.Records.Store, key)
}

func (f *fixture) item(key store.Key) store.Item {
	f.T.Helper()
	items, err := f.Records.Store.Get(f.Ctx, store.Strong, key)
	f.Must(err)
	return items[0]
}

// change writes the next version of the dataset.
func (f *fixture) change(alter func(*record.DatasetItem)) {
	f.T.Helper()
	d := get[record.DatasetItem](f, f.Dataset.Key())
	alter(d)
	record.Touch(d, f.Now())
	f.Records.Replace(d)
}

// evaluate evaluates a certain run, like after a message that names it, in a process that has served nobody else.
func (f *fixture) evaluate(id string) {
	f.T.Helper()
	w := &evaluator.Worker{Holder: f.Holder, Log: f.Log, Now: f.Now, Store: f.Store, Files: f.Files}
	_, err := w.Evaluate(f.Ctx, f.GetRun(id))
	f.Must(err)
}

// runDue does the pending work that is due.
func (f *fixture) runDue() {
	f.T.Helper()
	f.pending.Store = f.Store
	f.pending.Files = f.Files
	f.Must(f.pending.RunDue(f.Ctx))
}

// start runs both workers until the test ends or somebody calls stop.
func (f *fixture) start() (stop func()) {
	ctx, cancel := context.WithCancel(f.Ctx)
	var running sync.WaitGroup
	f.pending.Store = f.Store
	f.pending.Files = f.Files
	running.Go(func() { f.Worker.Run(ctx) })
	running.Go(func() { f.pending.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	f.T.Cleanup(stop)
	return stop
}
