package background_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"assay/functions/background"
	"assay/functions/background/evaluator"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/evaluationtest"
)

// fixture is a dataset with runs, and a worker and an evaluator that have not been started.
type fixture struct {
	*evaluationtest.Fixture
	*background.Worker
	evaluator *evaluator.Worker
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{Fixture: evaluationtest.New(t)}
	f.Worker = background.New(nil, recordtest.OpenFiles(t), f.Clock, slog.New(slog.DiscardHandler))
	f.evaluator = &evaluator.Worker{Holder: "here", Now: f.Clock, Log: f.Log}
	f.Store = recordtest.OpenStore(t, embedded.Options{OnChange: f.changed, Now: f.Clock})
	f.Fill(f.Store, f.Files)
	return f
}

func (f *fixture) changed(items []store.Item) {
	f.Changed(items)
	f.evaluator.Changed(items)
}

func get[R any, P records.Pointer[R]](f *fixture, key store.Key) P {
	f.T.Helper()
	return recordtest.Get[R, P](f.T, f.Records.Store, key)
}

// evaluate evaluates a certain run, like after a message that names it.
func (f *fixture) evaluate(id string) {
	f.T.Helper()
	w := &evaluator.Worker{Holder: "here", Log: f.Log, Now: f.Now, Store: f.Store, Files: f.Files}
	_, err := w.Evaluate(f.Ctx, f.GetRun(id))
	f.Must(err)
}

// start runs both workers until the test ends.
func (f *fixture) start() {
	ctx, cancel := context.WithCancel(f.Ctx)
	f.evaluator.Store = f.Store
	f.evaluator.Files = f.Files
	var running sync.WaitGroup
	running.Go(func() { f.Worker.Run(ctx) })
	running.Go(func() { f.evaluator.Run(ctx) })
	f.T.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// clean deletes abandoned files, all in one call.
func (f *fixture) clean() {
	f.T.Helper()
	_, err := f.DeleteAbandonedFiles(f.Ctx, "")
	f.Must(err)
}
