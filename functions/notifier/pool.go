package notifier

import (
	"strings"

	"assay/shared/store"

	"golang.org/x/sync/errgroup"
)

// What is done at the same time. A receiver may take attemptTime to answer, so attempts count apart.
const (
	concurrency = 32  // records of the outbox, except deliveries
	perWebhook  = 16  // attempts for one webhook
	connections = 256 // attempts for all webhooks
)

// deliveries begins the keys of deliveries.
const deliveries = "WEBHOOK"

// pool has the goroutines that deliver. Those of each webhook are a group, so that a receiver that is slow to answer delays no other.
type pool struct {
	groups      map[string]*errgroup.Group // by the partition of the deliveries, and the others
	connections chan struct{}
}

func newPool() *pool {
	return &pool{map[string]*errgroup.Group{}, make(chan struct{}, connections)}
}

func (p *pool) group(name string, limit int) *errgroup.Group {
	if p.groups[name] == nil {
		p.groups[name] = new(errgroup.Group)
		p.groups[name].SetLimit(limit)
	}
	return p.groups[name]
}

// start begins do for the record with the key, or reports that there are enough attempts for its webhook. For other records it waits for
// a goroutine.
func (p *pool) start(k store.Key, do func()) bool {
	if !strings.HasPrefix(k.Partition, deliveries) {
		p.group("", concurrency).Go(func() error { do(); return nil })
		return true
	}
	return p.group(k.Partition, perWebhook).TryGo(func() error {
		p.connections <- struct{}{}
		defer func() { <-p.connections }()
		do()
		return nil
	})
}

// wait waits for all that was started.
func (p *pool) wait() {
	for _, g := range p.groups {
		_ = g.Wait()
	}
}
