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

// maxImages is how many of a run's newest images are kept for those who have not seen them. A watcher who is further behind
// misses the older ones, and goes on with these.
const maxImages = 16

// topic is a run that is watched.
type topic struct {
	id       string
	key      store.Key
	store    store.Store
	watchers int // the hub's
	logs     [logs]recent

	mu      sync.Mutex
	images  []*image // in their order
	deleted bool
	bell    chan struct{} // closed when there is something new
}

// logs is how many logs a run has; what is kept for each of them stands in the order of record.LogKinds.
const logs = 2

func newTopic(s store.Store, files blob.Store, runID string) *topic {
	t := &topic{id: runID, key: record.RunKey(runID), store: s, bell: make(chan struct{})}
	for i, k := range record.LogKinds {
		t.logs[i] = recent{store: s, files: files, kind: k, first: unknown}
	}
	return t
}

// image is a run as it was stored once. The first who looks at it decodes it.
type image struct {
	order int64 // version of the item; that of the run may be the one of the image before, when nothing changed that is shown
	once  sync.Once
	item  store.Item // until it is decoded
	run   *record.RunItem
	err   error
}

func imageOf(run *record.RunItem) *image { return &image{order: run.Stored(), run: run} }

// decoded returns the run, which all who look share: nobody changes it.
func (m *image) decoded() (*record.RunItem, error) {
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
		t.add(&image{order: it.Version, item: it})
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deleted = true
	t.ring()
}

// add keeps an image, unless it is known or older than all that are kept.
func (t *topic) add(m *image) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, known := slices.BinarySearchFunc(t.images, m.order, func(m *image, order int64) int { return int(m.order - order) })
	if known || i == 0 && len(t.images) == maxImages {
		return
	}
	if len(t.images) == maxImages {
		copy(t.images, t.images[1:i])
		t.images[i-1] = m
	} else {
		t.images = slices.Insert(t.images, i, m)
	}
	t.ring()
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

func (t *topic) ring() {
	close(t.bell)
	t.bell = make(chan struct{})
}

// after returns the oldest image behind the one of that order which there is, or the newest when none is; the newest; and
// what will be closed when there are more. Both are decoded. A run that was deleted is visibility.Missing.
func (t *topic) after(order int64) (next, newest *image, bell <-chan struct{}, err error) {
	t.mu.Lock()
	deleted, bell := t.deleted, t.bell
	newest = t.images[len(t.images)-1]
	next = newest
	for _, m := range t.images {
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
	return next, newest, bell, err
}

// newest returns the run as far as it is known.
func (t *topic) newest() (*image, error) {
	_, newest, _, err := t.after(math.MaxInt64)
	return newest, err
}

// finished reports whether there is nothing to ask for: the run has ended or is deleted, or is not there yet.
func (t *topic) finished() bool {
	t.mu.Lock()
	if t.deleted || len(t.images) == 0 {
		t.mu.Unlock()
		return true
	}
	last := t.images[len(t.images)-1]
	t.mu.Unlock()
	run, err := last.decoded()
	return err == nil && run.State.Ended()
}
