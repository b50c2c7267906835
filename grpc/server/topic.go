package server

import (
	"math"
	"slices"
	"sync"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// maxRevisions is how many of a run's newest revisions are kept. A watcher that is further behind misses the older ones, and
// continues with these.
const maxRevisions = 16

// topic is a run that is watched.
type topic struct {
	id       string
	key      store.Key
	store    store.Store
	watchers int // the hub's
	logs     [logs]recent

	mu        sync.Mutex
	revisions []*revision // in their order
	deleted   bool
	changed   chan struct{} // closed when there is something new
}

// logs is how many logs a run has; what is kept for each of them stands in the order of record.LogKinds.
const logs = 2

func newTopic(s store.Store, files blob.Store, runID string) *topic {
	t := &topic{id: runID, key: record.RunKey(runID), store: s, changed: make(chan struct{})}
	for i, k := range record.LogKinds {
		t.logs[i] = recent{store: s, files: files, kind: k, first: unknown}
	}
	return t
}

// revision is the run as one write stored it. It is decoded when it is first read.
type revision struct {
	order int64 // version of the item; that of the run may be the one of the revision before, when nothing changed that is shown
	once  sync.Once
	item  store.Item // until it is decoded
	run   *record.RunItem
	err   error
}

func revisionOf(run *record.RunItem) *revision { return &revision{order: run.Stored(), run: run} }

// decoded returns the run, which all who look share: nobody changes it.
func (m *revision) decoded() (*record.RunItem, error) {
	m.once.Do(func() {
		if m.run == nil {
			m.run, m.err = records.Decode[record.RunItem](m.item)
			m.item = store.Item{}
		}
	})
	return m.run, m.err
}

// put takes the run as it was written, or that it was deleted.
func (t *topic) put(it store.Item) {
	if it.Exists() {
		t.add(&revision{order: it.Version, item: it})
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deleted = true
	t.signal()
}

// add keeps a revision, unless it is known or older than all that are kept.
func (t *topic) add(m *revision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, known := slices.BinarySearchFunc(t.revisions, m.order, func(m *revision, order int64) int { return int(m.order - order) })
	if known || i == 0 && len(t.revisions) == maxRevisions {
		return
	}
	if len(t.revisions) == maxRevisions {
		copy(t.revisions, t.revisions[1:i])
		t.revisions[i-1] = m
	} else {
		t.revisions = slices.Insert(t.revisions, i, m)
	}
	t.signal()
}

// putLines takes a chunk of one of the logs; other items are not for it.
func (t *topic) putLines(it store.Item) {
	if !it.Exists() {
		return // what goes from the table stands in the file of the whole log
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

// after returns the oldest revision behind the one of that order which there is, or the newest when none is; the newest; and
// what will be closed when there are more. Both are decoded. A run that was deleted is visibility.Missing.
func (t *topic) after(order int64) (next, newest *revision, changed <-chan struct{}, err error) {
	t.mu.Lock()
	deleted, changed := t.deleted, t.changed
	newest = t.revisions[len(t.revisions)-1]
	next = newest
	for _, m := range t.revisions {
		if m.order > order {
			next = m
			break
		}
	}
	t.mu.Unlock()
	if deleted {
		return nil, nil, nil, visibility.Missing
	}
	if _, err = newest.decoded(); err != nil {
		return nil, nil, nil, err
	}
	_, err = next.decoded()
	return next, newest, changed, err
}

// newest returns the run as far as it is known.
func (t *topic) newest() (*revision, error) {
	_, newest, _, err := t.after(math.MaxInt64)
	return newest, err
}

// finished reports whether there is nothing to ask for: the run has ended or is deleted, or is not there yet.
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
