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
	"assay/shared/store"
	"assay/shared/wait"
)

// hub follows the runs that somebody watches, on behalf of all who do.
//
// It has a topic for each such run. What this process writes comes to the topics at once, from the store's hook; what other
// processes write comes by one poll that asks for the runs of all topics together. Watchers take from the topic at their
// own pace and keep no more than how far they are, so a slow one holds up nobody.
type hub struct {
	store store.Store
	files blob.Store
	log   *slog.Logger
	every time.Duration // how often to ask for what other processes write; 0 when there are none

	mu     sync.Mutex
	topics map[string]*topic // by the partition of the run
}

func newHub(s store.Store, files blob.Store, log *slog.Logger, every time.Duration) *hub {
	return &hub{store: s, files: files, log: log, every: every, topics: map[string]*topic{}}
}

// join returns the topic of the run, for one who leaves it again.
func (h *hub) join(runID string) *topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	partition := record.RunKey(runID).Partition
	t := h.topics[partition]
	if t == nil {
		t = newTopic(h.store, h.files, runID)
		h.topics[partition] = t
	}
	t.watchers++
	return t
}

// leave takes a watcher off the topic, which goes with the last one.
func (h *hub) leave(t *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.watchers--; t.watchers == 0 {
		delete(h.topics, t.key.Partition)
	}
}

// changed passes on items that were just written. It neither waits nor decodes: that is left to those who watch. Lines go
// before the runs that count them, so that a watcher that is notified of a line finds it.
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

// run asks for what other processes write, until the context ends.
func (h *hub) run(ctx context.Context) {
	if h.every <= 0 {
		return
	}
	wait.Every(ctx, h.every, func() {
		if err := h.poll(ctx); err != nil && ctx.Err() == nil {
			h.log.ErrorContext(ctx, "the runs that are watched cannot be read", "error", err)
		}
	})
}

// pollTime is how long a poll may take; the next one asks for the same.
const pollTime = 10 * time.Second

// poll asks for the runs that are watched and have not ended. It may miss what is a second old, for half the price; what
// seems to be missing altogether is asked for again before it counts as deleted.
func (h *hub) poll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTime)
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

// unfinished returns the keys of the runs that are watched and have not ended.
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
