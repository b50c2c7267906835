package server

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"assay/shared/blob"
	"assay/shared/compute"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
	"assay/shared/visibility"
	"assay/shared/wait"
)

// hub publishes changes of runs to their watchers: it has a topic for each watched run.
//
// Writes of this process reach the topics at once, through the store's hook; those of other processes by one poll for the runs of
// all topics together. Watchers read from the topic at their own pace and store only their position, so a slow one delays no other.
type hub struct {
	store        store.Store
	files        blob.Store
	log          *slog.Logger
	pollInterval time.Duration // how often to poll for writes of other processes; 0 when there are none
	storedReads  *compute.Pool // of watchers that read the store

	mu     sync.Mutex
	topics map[string]*topic // by the partition of the run
}

func newHub(s store.Store, files blob.Store, log *slog.Logger, every time.Duration) *hub {
	return &hub{store: s, files: files, log: log, pollInterval: every, topics: map[string]*topic{},
		storedReads: compute.NewPool(compute.Halved(allStoredReads, userStoredReads, storedReadWait))}
}

func (h *hub) logs() runlog.Logs { return runlog.Logs{Store: h.store, Files: h.files} }

// join adds a watcher to the topic of the run, until it calls leave.
func (h *hub) join(runID string) *topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	partition := record.RunKey(runID).Partition
	t := h.topics[partition]
	if t == nil {
		t = newTopic(h.logs(), runID)
		h.topics[partition] = t
	}
	t.watchers++
	return t
}

// leave removes a watcher from the topic, and the topic with the last one.
func (h *hub) leave(t *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.watchers--
	if t.watchers == 0 {
		delete(h.topics, t.key.Partition)
	}
}

// changed publishes items that were just written. It neither waits nor decodes, which watchers do. Lines come before the run that
// counts them, so that a watcher that is notified of a line finds it.
func (h *hub) changed(items []store.Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.topics) == 0 {
		return
	}
	for i := range items {
		if t := h.topics[items[i].Partition]; t != nil {
			t.putLines(items[i])
		}
	}
	for i := range items {
		if t := h.topics[items[i].Partition]; t != nil && items[i].Key == t.key {
			t.put(items[i])
		}
	}
}

// run polls for writes of other processes until the context ends.
func (h *hub) run(ctx context.Context) {
	if h.pollInterval <= 0 {
		return
	}
	wait.Repeat(ctx, h.pollInterval, nil, h.log, "watched runs cannot be read", h.poll)
}

// pollTimeout bounds one poll; the next one reads the same.
const pollTimeout = 10 * time.Second

// poll reads the watched runs that have not ended. The read is eventually consistent, which costs half; a run that seems to be
// missing is read again before it counts as deleted.
func (h *hub) poll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	var failed error
	for keys := range slices.Chunk(h.unfinished(), store.MaxKeys) {
		found, err := h.store.Get(ctx, store.Eventual, keys...)
		if err != nil {
			failed = errors.Join(failed, records.Failed(err))
			continue
		}
		var missing []store.Key
		found = slices.DeleteFunc(found, func(it store.Item) bool {
			if !it.Exists() {
				missing = append(missing, it.Key)
			}
			return !it.Exists()
		})
		sure, err := h.store.Get(ctx, store.Strong, missing...)
		failed = errors.Join(failed, records.Failed(err))
		h.changed(append(found, sure...))
	}
	return failed
}

// unfinished returns the keys of the watched runs that have not ended.
func (h *hub) unfinished() []store.Key {
	h.mu.Lock()
	topics := slices.Collect(maps.Values(h.topics))
	h.mu.Unlock()
	keys := make([]store.Key, 0, len(topics))
	for _, t := range topics {
		if !t.finished() {
			keys = append(keys, t.key)
		}
	}
	return keys
}

// maxRevisions is how many of a run's newest revisions are kept. A watcher that is further behind misses the older ones, and
// continues with these.
const maxRevisions = 16

// topic has the newest revisions of a watched run, and the last lines of its logs.
type topic struct {
	id       string
	key      store.Key
	watchers int // guarded by the hub
	logs     [logCount]recentLog

	mu        sync.Mutex
	revisions []revision // in their order
	deleted   bool
	changed   chan struct{} // closed at the next change
}

// logCount is the number of logs of a run. Arrays with an element for each are in the order of record.LogKinds.
const logCount = 2

func newTopic(stored runlog.Logs, runID string) *topic {
	t := &topic{id: runID, key: record.RunKey(runID), changed: make(chan struct{})}
	for i, k := range record.LogKinds {
		t.logs[i] = recentLog{stored: stored, kind: k, first: notBegun}
	}
	return t
}

// revision is the run as one write stored it. It is decoded when it is first read.
type revision struct {
	order   int64 // the item's version; the run's own version stays the same when nothing changes that is shown
	decoded func() (*record.RunItem, error)
}

func revisionOf(run *record.RunItem) revision {
	return revision{run.Stored(), func() (*record.RunItem, error) { return run, nil }}
}

// put takes the item of the run after a write or a deletion.
func (t *topic) put(it store.Item) {
	if it.Exists() {
		t.add(revision{it.Version, sync.OnceValues(func() (*record.RunItem, error) { return records.Decode[record.RunItem](it) })})
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deleted = true
	t.signal()
}

// add keeps a revision, unless it is kept already or older than all that are.
func (t *topic) add(m revision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, known := slices.BinarySearchFunc(t.revisions, m.order, func(m revision, order int64) int { return int(m.order - order) })
	if known || i == 0 && len(t.revisions) == maxRevisions {
		return
	}
	if t.revisions = slices.Insert(t.revisions, i, m); len(t.revisions) > maxRevisions {
		t.revisions = slices.Delete(t.revisions, 0, 1)
	}
	t.signal()
}

// putLines takes the item if it is a chunk of a log.
func (t *topic) putLines(it store.Item) {
	if !it.Exists() {
		return // it is in the file of the whole log
	}
	for i, k := range record.LogKinds {
		if it.Sort >= record.LogKey(t.id, k, 0).Sort && it.Sort < record.LogEnd(k) {
			t.logs[i].put(it)
		}
	}
}

func (t *topic) signal() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// after returns the run as the oldest kept revision after the order has it, or the newest when there is none; as the newest has it; and
// a channel that is closed at the next change. All watchers share the runs, and none changes them. The error of a deleted run is
// visibility.Missing.
func (t *topic) after(order int64) (next, newest *record.RunItem, changed <-chan struct{}, err error) {
	t.mu.Lock()
	deleted, changed := t.deleted, t.changed
	last := t.revisions[len(t.revisions)-1]
	first := last
	if i := slices.IndexFunc(t.revisions, func(m revision) bool { return m.order > order }); i >= 0 {
		first = t.revisions[i]
	}
	t.mu.Unlock()
	if deleted {
		return nil, nil, nil, visibility.Missing
	}
	if newest, err = last.decoded(); err == nil {
		next, err = first.decoded()
	}
	return next, newest, changed, err
}

// newest returns the run as the newest revision has it.
func (t *topic) newest() (*record.RunItem, error) {
	_, newest, _, err := t.after(math.MaxInt64)
	return newest, err
}

// finished reports whether polling the run is pointless: it has ended, is deleted, or was not read yet.
func (t *topic) finished() bool {
	t.mu.Lock()
	if t.deleted || len(t.revisions) == 0 {
		t.mu.Unlock()
		return true
	}
	last := t.revisions[len(t.revisions)-1]
	t.mu.Unlock()
	run, err := last.decoded()
	return err == nil && run.State.Ended()
}
