package notifier

import (
	"strings"
	"sync/atomic"

	"assay/shared/store"

	"golang.org/x/sync/errgroup"
)

// What is done at the same time. A receiver may take attemptTime to answer, so attempts count apart.
const (
	concurrency = 32  // records of the outbox of one kind, except deliveries
	perWebhook  = 8   // attempts for one webhook; 1 while its last failed, so that 32 receivers that hang delay the others by attemptTime once
	connections = 256 // attempts for all webhooks
)

// deliveries begins the keys of deliveries.
const deliveries = "WEBHOOK"

// pool has the goroutines that deliver. Those of each webhook and of each other kind of record are a group, so that neither a receiver
// nor a mail server that is slow to answer delays others.
type pool struct {
	groups      map[string]*errgroup.Group // by the partition of deliveries, and by the kind of other records
	connections chan struct{}

	delivered, failed atomic.Bool // some of what was started
}

func newPool() *pool {
	return &pool{groups: map[string]*errgroup.Group{}, connections: make(chan struct{}, connections)}
}

func (p *pool) group(name string, limit int) *errgroup.Group {
	if p.groups[name] == nil {
		p.groups[name] = new(errgroup.Group)
		p.groups[name].SetLimit(limit)
	}
	return p.groups[name]
}

// start begins do for the record with the key, or reports that its group has enough to do. Deliveries of a webhook that fails are a
// group of their own.
func (p *pool) start(k store.Key, failing bool, do func()) bool {
	kind, _, _ := strings.Cut(k.Partition, "#")
	if kind != deliveries {
		return p.group(kind, concurrency).TryGo(func() error { do(); return nil })
	}
	name, limit := k.Partition, perWebhook
	if failing {
		name, limit = name+" failing", 1
	}
	return p.group(name, limit).TryGo(func() error {
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
