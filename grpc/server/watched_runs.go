package server

import (
	"context"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/service/runlog"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// watchInterval is how often a watched run is read without being written by this process, because other processes write too.
const watchInterval = time.Second

// watchedRuns holds the runs that streams watch. It wakes the streams of a run when this process has written to the run.
type watchedRuns struct {
	pages    *logPages
	interval time.Duration

	mu sync.Mutex
	by map[string]*watchedRun // by the partition of the run
}

func newWatchedRuns(logs runlog.Logs) *watchedRuns {
	return &watchedRuns{pages: newLogPages(logs), interval: watchInterval, by: map[string]*watchedRun{}}
}

// watchedRun reads a run once for all its streams.
type watchedRun struct {
	*watchedRuns
	key         store.Key
	readingPage sync.Mutex // held while lines are read

	// watchedRuns.mu guards these.
	streams int
	writes  int           // how often this process wrote to the run
	woken   chan struct{} // closed to wake the streams

	reading    sync.Mutex // held while the run is read; guards these
	last       *record.RunItem
	lastRead   time.Time
	lastWrites int // the writes that last contains
	reads      int // how often the run was read
	ruled      *record.ValueRules
	ruledReads int // the reads of the run before ruled was read
}

// join adds a stream to the run, until it calls leave.
func (w *watchedRuns) join(runID string) *watchedRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := record.RunKey(runID)
	r := w.by[key.Partition]
	if r == nil {
		r = &watchedRun{watchedRuns: w, key: key, woken: make(chan struct{})}
		w.by[key.Partition] = r
	}
	r.streams++
	return r
}

// leave removes a stream from the run, and the run with its last stream.
func (r *watchedRun) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams--
	if r.streams == 0 {
		delete(r.by, r.key.Partition)
	}
}

// changed wakes the streams of the runs to which the items belong. The items were just written.
func (w *watchedRuns) changed(items []store.Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range items {
		if r := w.by[items[i].Partition]; r != nil {
			r.writes++
			r.wake()
		}
	}
}

// wake wakes the streams. The caller holds watchedRuns.mu.
func (r *watchedRun) wake() {
	close(r.woken)
	r.woken = make(chan struct{})
}

func (r *watchedRun) signals() (writes int, woken <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writes, r.woken
}

// read returns the run, and a channel that is closed when the run may have changed. It reads the store if this process has written to the
// run since the last read, or if that is maxAge ago. All streams share the run, and none changes it. The error of a deleted run is
// visibility.Missing.
func (r *watchedRun) read(ctx context.Context, maxAge time.Duration) (*record.RunItem, <-chan struct{}, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	writes, woken := r.signals() // before the read, so that no write is missed
	if r.last != nil && r.lastWrites == writes && time.Since(r.lastRead) < maxAge {
		return r.last, woken, nil
	}
	run, err := records.Require[record.RunItem](ctx, r.pages.logs.Store, store.Strong, r.key, visibility.Missing)
	if err != nil {
		return nil, nil, err
	}
	if r.last == nil || r.last.Stored() != run.Stored() {
		r.mu.Lock()
		r.wake()
		r.mu.Unlock()
	}
	r.last = run
	r.lastRead = time.Now()
	r.lastWrites = writes
	r.reads++
	return run, woken, nil
}

// rules returns the rules of the run's dataset. It reads them after each read of the run, and only once for all streams.
func (r *watchedRun) rules(ctx context.Context, run *record.RunItem) (*record.ValueRules, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.ruled != nil && r.ruledReads == r.reads {
		return r.ruled, nil
	}
	of, _ := run.Rated()
	rules, err := (&visibility.Viewer{Store: r.pages.logs.Store}).Rules(ctx, of)
	if err != nil {
		return nil, err
	}
	r.ruled, r.ruledReads = rules, r.reads
	return rules, nil
}
