package server

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
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

	mu     sync.Mutex
	topics map[string]*topic // by the partition of the run
}

func newHub(s store.Store, files blob.Store, log *slog.Logger, every time.Duration) *hub {
	return &hub{store: s, files: files, log: log, pollInterval: every, topics: map[string]*topic{}}
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
	if t.watchers--; t.watchers == 0 {
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
	wait.Every(ctx, h.pollInterval, func() {
		if err := h.poll(ctx); err != nil && ctx.Err() == nil {
			h.log.ErrorContext(ctx, "watched runs cannot be read", "error", err)
		}
	})
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
		if len(missing) > 0 {
			sure, err := h.store.Get(ctx, store.Strong, missing...)
			failed = errors.Join(failed, records.Failed(err))
			found = append(found, sure...)
		}
		h.changed(found)
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
