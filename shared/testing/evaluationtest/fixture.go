// Package evaluationtest has a dataset with runs, for tests of evaluations and of background work.
package evaluationtest

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/testing/waittest"
)

// The ground truth of the dataset, and a run with the AP 0.75.
const (
	Qrels  = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
	Ranked = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\nq2 Q0 d3 1 1.0 tag\n"
)

// Fixture is a dataset with a ground truth, and a clock.
type Fixture struct {
	T       *testing.T
	Ctx     context.Context
	Records *recordtest.Builder
	Runs    *recordtest.Dataset
	Dataset *record.DatasetItem
	Truth   *record.TruthVersion
	ahead   atomic.Int64 // nanoseconds that the clock is ahead
}

// New returns a fixture without records.
func New(t *testing.T) *Fixture { return &Fixture{T: t, Ctx: t.Context()} }

// Fill creates the dataset in the store and the files.
func (f *Fixture) Fill(s store.Store, files blob.Store) {
	f.Records = recordtest.New(f.T, s)
	f.Records.Now = f.Clock
	f.Records.Files = files
	f.Runs = f.Records.Task().Dataset(recordtest.Measures("AP", "P@1"), f.Records.Truths("qrels.txt", Qrels))
	f.Dataset = f.Runs.DatasetItem
	f.Truth = f.Runs.Truth
}

// Clock returns the time of the clock.
func (f *Fixture) Clock() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }

// Wait advances the clock.
func (f *Fixture) Wait(d time.Duration) { f.ahead.Add(int64(d)) }

// Add creates a queued run with the content, by a user of its own.
func (f *Fixture) Add(content string, options ...recordtest.RunOption) *record.RunItem {
	f.T.Helper()
	queued := []recordtest.RunOption{recordtest.Queued, recordtest.Published, recordtest.Content("run.txt", content)}
	return f.Runs.Run(record.NewID(time.Now()), append(queued, options...)...).RunItem
}

// LeasedBy makes a run one that the holder has leased for the first time, for the duration.
func (f *Fixture) LeasedBy(holder string, d time.Duration) recordtest.RunOption {
	return func(r *recordtest.Run) {
		at := record.At(f.Clock())
		r.State = record.Evaluating
		r.Attempts = 1
		r.StartedAt = &at
		r.Lease = &record.Lease{ID: record.NewID(at.Time), Holder: holder, Until: record.At(at.Add(d))}
	}
}

// GetRun reads a run.
func (f *Fixture) GetRun(id string) *record.RunItem {
	f.T.Helper()
	return recordtest.Get[record.RunItem](f.T, f.Records.Store, record.RunKey(id))
}

// Events returns the kinds of the events that wait to be delivered, and their subjects.
func (f *Fixture) Events() (found []string) {
	f.T.Helper()
	items, err := f.Records.Store.Query(f.Ctx, store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: store.MaxKeys})
	f.Must(err)
	for _, it := range items {
		e := recordtest.Get[record.Event](f.T, f.Records.Store, it.Key)
		found = append(found, string(e.Kind)+" "+e.Subject)
	}
	slices.Sort(found)
	return found
}

// Until waits for the run to reach the state.
func (f *Fixture) Until(id string, state record.RunState) *record.RunItem {
	f.T.Helper()
	return waittest.Value(f.T, "the run is "+string(state), func() (*record.RunItem, bool) {
		r := f.GetRun(id)
		return r, r.State == state
	})
}

// CountEvaluations returns the number of evaluations in the lists of the dataset.
func (f *Fixture) CountEvaluations() int {
	f.T.Helper()
	n := 0
	for _, a := range record.Audiences {
		index, partition := record.List(record.KindDataset, f.Dataset.ID, record.KindEvaluation, a)
		items, err := f.Records.Store.Query(f.Ctx, store.Query{Index: index, Partition: partition, Limit: 1000})
		f.Must(err)
		n += len(items)
	}
	return n
}

// Must fails the test on an error.
func (f *Fixture) Must(err error) {
	f.T.Helper()
	if err != nil {
		f.T.Fatal(err)
	}
}

// HookedFiles calls BeforeOpen before it opens a file.
type HookedFiles struct {
	blob.Store
	BeforeOpen func(key string)
}

// Open implements blob.Store.
func (h HookedFiles) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	h.BeforeOpen(key)
	return h.Store.Open(ctx, key)
}
