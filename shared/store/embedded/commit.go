package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assay/shared/diskfull"
	"assay/shared/store"

	"go.etcd.io/bbolt"
)

// Write implements store.Store. When the context ends before the write's commit has begun, the write is withdrawn and
// nothing is written; once it has begun, which is for the time of a sync, Write waits for its outcome.
func (s *Store) Write(ctx context.Context, writes ...store.Write) error {
	if err := store.ValidateWrite(ctx, writes); err != nil {
		return err
	}
	if len(writes) == 0 {
		return nil
	}
	r := newRequest(writes)
	if !s.queue.add(r) {
		return s.closedError()
	}
	store.Count(ctx, 0)
	select {
	case <-r.done:
	case <-ctx.Done():
		if s.queue.withdraw(r) {
			return fmt.Errorf("store: not written: %w", ctx.Err())
		}
		<-r.done
	}
	return r.err
}

// newRequest encodes the writes, so that the one goroutine that commits has the less to do.
func newRequest(writes []store.Write) *request {
	r := &request{changes: make([]change, len(writes)), done: make(chan struct{})}
	for i := range writes {
		r.changes[i] = newChange(&writes[i])
		r.size += len(r.changes[i].key) + len(r.changes[i].value)
	}
	return r
}

// errUnchanged rolls back a commit that would change nothing, to spare its syncs.
var errUnchanged = errors.New("nothing to commit")

func (s *Store) commitLoop() {
	defer close(s.committed)
	for {
		batch := s.queue.take()
		if batch == nil {
			return
		}
		written := s.commit(batch)
		for _, r := range batch {
			close(r.done)
		}
		if s.onChange != nil && len(written) > 0 {
			s.onChange(written)
		}
	}
}

// commit applies the requests, each for itself, in one transaction, and sets their outcomes. It returns the new images.
func (s *Store) commit(batch []*request) []store.Item {
	var written []store.Item
	if s.onChange != nil {
		n := 0
		for _, r := range batch {
			n += len(r.changes)
		}
		written = make([]store.Item, 0, n)
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		t := tables{tx: tx, now: s.now()}
		for _, r := range batch {
			before, err := t.checkConditions(r.changes)
			if r.err = err; err != nil {
				continue
			}
			for i := range r.changes {
				changed, err := t.apply(&r.changes[i], &before[i])
				if err != nil {
					return err
				}
				if changed && s.onChange != nil {
					written = append(written, r.changes[i].image())
				}
			}
		}
		if !t.dirty {
			return errUnchanged
		}
		return t.purge()
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		for _, full := range diskfull.Errors {
			if strings.Contains(err.Error(), full.Error()) { // bbolt has some as words alone
				err = errors.Join(err, full)
			}
		}
		for _, r := range batch {
			r.err = fmt.Errorf("%w: write %s: %w", store.ErrUnavailable, s.path, err)
		}
		return nil
	}
	return written
}
