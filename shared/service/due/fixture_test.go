package due_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/due"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// fixture is a worker of one line, which does the work of a record by removing its entry.
type fixture struct {
	due.Worker
	line  *due.Line
	t     *testing.T
	ahead atomic.Int64 // by how much the worker's clock is ahead, in nanoseconds

	mu     sync.Mutex
	done   []string // keys of records, in the order in which their work began
	before func(key string) error
}

// byTime and byPayer return lines of both orders of sort keys.
func byTime() *due.Line {
	return &due.Line{Name: "by time", Partition: record.OutboxPartition, Places: 1}
}

func byPayer() *due.Line {
	return &due.Line{Name: "by payer", Partition: record.DeliveriesPartition, Places: 1, PerPayer: 1}
}

func newFixture(t *testing.T, line *due.Line) *fixture {
	f := &fixture{t: t, line: line}
	f.line.Do = f.do
	now := func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }
	f.Worker = due.Worker{Now: now, Log: slog.New(slog.DiscardHandler), Lines: []*due.Line{f.line}}
	f.Store = recordtest.OpenStore(t, embedded.Options{OnChange: f.Changed})
	return f
}

// add stores records of the payer whose work is due from the time on.
func (f *fixture) add(payer string, at time.Time, n int) (keys []store.Key) {
	f.t.Helper()
	for range n {
		it := store.Item{Key: store.Key{Partition: payer + "#" + record.NewID(time.Now()), Sort: "x"}, Data: []byte("{}")}
		sort := strings.TrimSuffix(record.DueBy(at), "$") + "#" + it.Partition
		if f.line.PerPayer > 0 {
			sort = payer + "#" + sort
		}
		it.Indexes[record.ByWork-1] = store.Key{Partition: f.line.Partition, Sort: sort}
		if err := f.Store.Write(context.Background(), store.Create(it)); err != nil {
			f.t.Fatal(err)
		}
		keys = append(keys, it.Key)
	}
	return keys
}

func (f *fixture) do(ctx context.Context, it store.Item) error {
	f.mu.Lock()
	f.done = append(f.done, it.Key.Partition)
	before := f.before
	f.mu.Unlock()
	if before != nil {
		if err := before(it.Key.Partition); err != nil {
			return err
		}
	}
	return f.Store.Write(ctx, store.Delete(it.Key))
}

// payers returns the payers of the records whose work began, in that order.
func (f *fixture) payers() (payers []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range f.done {
		payer, _, _ := strings.Cut(key, "#")
		payers = append(payers, payer)
	}
	return payers
}

// start runs the worker until the test ends.
func (f *fixture) start() {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	f.t.Cleanup(running.Wait)
	f.t.Cleanup(stop)
}

func (f *fixture) nextDue() time.Time {
	f.t.Helper()
	next, err := f.NextDue(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return next
}

// inBothOrders runs the test over lines of both orders.
func inBothOrders(t *testing.T, test func(*testing.T, *fixture)) {
	for _, line := range []*due.Line{byTime(), byPayer()} {
		t.Run(line.Name, func(t *testing.T) { test(t, newFixture(t, line)) })
	}
}

// countingStore counts the items that queries return. perPayer is the largest number between two queries for one item, which look for the
// next payer.
type countingStore struct {
	store.Store
	items           atomic.Int64
	payer, perPayer atomic.Int64
}

func (s *countingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	items, err := s.Store.Query(ctx, q)
	s.items.Add(int64(len(items)))
	if q.Limit == 1 {
		s.payer.Store(0)
	} else {
		s.perPayer.Store(max(s.perPayer.Load(), s.payer.Add(int64(len(items)))))
	}
	return items, err
}
