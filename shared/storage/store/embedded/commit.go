package embedded

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"assay/shared/storage/diskfull"
	"assay/shared/storage/store"

	"go.etcd.io/bbolt"
)

// Write implements store.Store. If the context ends before the commit begins, the write is withdrawn and nothing is written. Once the
// commit has begun, Write waits for the result, which takes the time of a sync.
func (s *Store) Write(ctx context.Context, writes ...store.Write) error {
	if err := store.ValidateWrite(ctx, writes); err != nil {
		return err
	}
	if len(writes) == 0 {
		return nil
	}
	r := newRequest(writes)
	if err := s.send(ctx, r); err != nil {
		return err
	}
	store.Count(ctx, 0)
	<-r.done
	return r.err
}

// send waits until a commit takes the request. Close waits for all callers of send.
func (s *Store) send(ctx context.Context, r *request) error {
	s.sending.RLock()
	defer s.sending.RUnlock()
	if s.closed {
		return s.closedError()
	}
	select {
	case s.requests <- r:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("store: not written: %w", ctx.Err())
	}
}

// newRequest encodes the writes here, so that the committing goroutine has less work.
func newRequest(writes []store.Write) *request {
	r := &request{changes: make([]change, len(writes)), done: make(chan struct{})}
	for i := range writes {
		r.changes[i] = newChange(&writes[i])
		r.size += len(r.changes[i].key) + len(r.changes[i].value)
	}
	return r
}

// errUnchanged rolls back a commit that would change nothing, and so saves its syncs.
var errUnchanged = errors.New("nothing to commit")

func (s *Store) commitLoop() {
	defer close(s.committed)
	for first := range s.requests {
		batch := s.collect(first)
		written, err := s.commit(batch)
		if s.onCommit != nil && (err != nil || len(written) > 0) {
			s.onCommit(written)
		}
		for _, r := range batch {
			close(r.done)
		}
		if s.onChange != nil && len(written) > 0 {
			s.onChange(withoutFormerEntries(written))
		}
	}
}

// withoutFormerEntries returns the items without the Indexes of deleted items.
func withoutFormerEntries(items []store.Item) []store.Item {
	if !slices.ContainsFunc(items, func(it store.Item) bool { return !it.Exists() }) {
		return items
	}
	items = slices.Clone(items) // OnCommit may have kept the items
	for i := range items {
		if !items[i].Exists() {
			items[i] = store.Item{Key: items[i].Key}
		}
	}
	return items
}

// commit applies each request separately in one transaction, and sets the results. It returns the new images. After an error it returns
// none, although the transaction may have been committed.
func (s *Store) commit(batch []*request) (written []store.Item, err error) {
	watched := s.onCommit != nil || s.onChange != nil
	if watched {
		n := 0
		for _, r := range batch {
			n += len(r.changes)
		}
		written = make([]store.Item, 0, n)
	}
	err = s.db.Update(func(tx *bbolt.Tx) error {
		t := tables{tx: tx, now: s.now()}
		for _, r := range batch {
			before, err := t.checkConditions(r.changes)
			r.err = err
			if err != nil {
				continue
			}
			for i := range r.changes {
				changed, err := t.apply(&r.changes[i], &before[i])
				if err != nil {
					return err
				}
				if changed && watched {
					written = append(written, r.changes[i].image(&before[i]))
				}
			}
		}
		if !t.dirty {
			return errUnchanged
		}
		return t.purge()
	})
	switch {
	case errors.Is(err, errUnchanged):
		return nil, nil
	case err == nil:
		return written, nil
	}
	for _, full := range diskfull.Errors {
		if strings.Contains(err.Error(), full.Error()) { // bbolt includes some errors only as text
			err = errors.Join(err, full)
		}
	}
	for _, r := range batch {
		r.err = fmt.Errorf("%w: write %s: %w", store.ErrUnavailable, s.path, err)
	}
	return nil, err
}

// maxCommitBytes limits the size of a commit, and so its duration and memory.
const maxCommitBytes = 16 << 20

// request is a Write that waits for its commit.
type request struct {
	changes []change
	size    int
	done    chan struct{} // closed when err is set
	err     error
}

// collect returns first and the requests that wait, in the order of their arrival, up to the size of one commit. It yields to the
// writers that the last commit released, so that their next writes join this commit. Otherwise the writers would split into two halves
// that wait for each other's syncs.
func (s *Store) collect(first *request) []*request {
	batch, size := []*request{first}, first.size
	for yielded := false; size <= maxCommitBytes-store.MaxWriteBytes; {
		select {
		case r, open := <-s.requests:
			if !open {
				return batch
			}
			batch = append(batch, r)
			size += r.size
			yielded = false
		default:
			if yielded {
				return batch
			}
			runtime.Gosched()
			yielded = true
		}
	}
	return batch
}
