package functions_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"assay/shared/record"
	"assay/shared/store"
)

// crowd fills a store with what has nothing to do with a request, so that a test can see that it costs nothing.
type crowd struct {
	t       testing.TB
	pending []store.Write
	full    chan []store.Write
	writers sync.WaitGroup
	mu      sync.Mutex
	err     error
}

func newCrowd(t testing.TB, s store.Store) *crowd {
	c := &crowd{t: t, full: make(chan []store.Write)}
	for range 4 { // a server of DynamoDB lets those time out who wait behind many
		c.writers.Go(func() {
			for writes := range c.full {
				if err := s.Write(context.Background(), writes...); err != nil {
					c.mu.Lock()
					c.err = errors.Join(c.err, err)
					c.mu.Unlock()
				}
			}
		})
	}
	return c
}

func (c *crowd) add(records ...record.Record) {
	c.t.Helper()
	for _, r := range records {
		it, err := record.Item(r)
		if err != nil {
			c.t.Fatal(err)
		}
		if c.pending = append(c.pending, store.Create(it)); len(c.pending) == store.MaxWrites {
			c.flush()
		}
	}
}

func (c *crowd) flush() {
	c.full <- c.pending
	c.pending = nil
}

// wait returns when everything is stored.
func (c *crowd) wait() {
	c.t.Helper()
	if len(c.pending) > 0 {
		c.flush()
	}
	close(c.full)
	c.writers.Wait()
	if c.err != nil {
		c.t.Fatal(c.err)
	}
}
