package notifier

import (
	"assay/shared/store"

	"golang.org/x/sync/errgroup"
)

// What is done at the same time. Webhooks do not count in concurrency, because a receiver may take attemptTime to answer.
const (
	concurrency = 32  // records of the outbox that are handled at the same time
	laneWidth   = 8   // attempts for one webhook
	laneLength  = 64  // and deliveries that wait for one
	connections = 256 // attempts for all webhooks
)

// pool has the goroutines that handle what is in the outbox. The deliveries of a webhook have a lane of their own, so that a receiver that
// is slow to answer delays those of no other.
type pool struct {
	others   errgroup.Group
	lanes    map[string]*lane // by partition
	attempts chan struct{}
}

type lane struct {
	errgroup.Group
	attempts chan struct{}
}

func newPool() *pool {
	p := &pool{lanes: map[string]*lane{}, attempts: make(chan struct{}, connections)}
	p.others.SetLimit(concurrency)
	return p
}

// start begins do for the record with the key, or reports that its lane is full. Where there are no lanes it waits for a goroutine.
func (p *pool) start(k store.Key, do func() error) bool {
	if !isNumbered(k) {
		p.others.Go(do)
		return true
	}
	l := p.lanes[k.Partition]
	if l == nil {
		l = &lane{attempts: make(chan struct{}, laneWidth)}
		l.SetLimit(laneLength)
		p.lanes[k.Partition] = l
	}
	return l.TryGo(func() error {
		l.attempts <- struct{}{}
		p.attempts <- struct{}{}
		defer func() { <-l.attempts; <-p.attempts }()
		return do()
	})
}

// wait waits for all that was started.
func (p *pool) wait() {
	_ = p.others.Wait()
	for _, l := range p.lanes {
		_ = l.Wait()
	}
}
