package notifier

import (
	"context"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/wait"
)

// Limits of what runs at the same time. A receiver may take attemptTime to answer, so attempts have limits of their own.
const (
	concurrency     = 32  // records of the outbox of one kind, except deliveries
	connections     = 256 // attempts of all payers
	eventsPerPayer  = 2   // events of the organizers of one payer
	mailsPerPayer   = 8   // e-mails whose oldest news is of the organizers of one payer
	perPayer        = 16  // attempts of one payer
	perWebhook      = 8   // attempts at one webhook; 1 unless its last attempt arrived
	trials          = 32  // attempts, of all payers, at webhooks at which nothing has ever arrived
	trialsPerPayer  = 1
	eventsOfPayer   = "events of "
	mailsOfPayer    = "e-mails of "
	attemptsOfAll   = "attempts"
	attemptsOfPayer = "attempts of "
	trialsOfAll     = "trials"
	trialsOfPayer   = "trials of "
)

// group is a name under which a pool counts, and the most goroutines that the name may have.
type group struct {
	name  string
	limit int
}

// attempt returns the groups of an attempt at a webhook of the payer. The webhook is nil when it is not there.
func attempt(payer, partition string, h *record.WebhookItem) []group {
	groups := []group{{attemptsOfAll, connections}, {attemptsOfPayer + payer, perPayer}, {partition, perWebhook}}
	if h == nil || !h.Steady() {
		groups[2].limit = 1
	}
	if h != nil && !h.Proven {
		groups = append(groups, group{trialsOfAll, trials}, group{trialsOfPayer + payer, trialsPerPayer})
	}
	return groups
}

// pool has the goroutines that deliver. Nothing waits in it: a record that finds no room stays due in the store, and a later pass reads it
// again. So neither slow receivers nor a slow mail server delay others, and the pool's memory is bounded by its limits.
type pool struct {
	mu      sync.Mutex
	running map[string]int // by group
	all     sync.WaitGroup
	ended   wait.Signal // one of them
}

// start begins do if each of the groups has room, and reports whether it does. If do returns true, it calls wake once there is room for
// another.
func (p *pool) start(groups []group, do func() bool, wake func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range groups {
		if p.running[g.name] >= g.limit {
			return false
		}
	}
	if p.running == nil {
		p.running = map[string]int{}
	}
	for _, g := range groups {
		p.running[g.name]++
	}
	p.all.Go(func() {
		wakes := do()
		p.end(groups)
		if wakes {
			wake()
		}
	})
	return true
}

func (p *pool) end(groups []group) {
	defer p.ended.Send()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range groups {
		p.running[g.name]--
		if p.running[g.name] == 0 {
			delete(p.running, g.name)
		}
	}
}

// full reports whether the group has no room.
func (p *pool) full(g group) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running[g.name] >= g.limit
}

// awaitIdle waits until nothing runs, and reports false if that takes longer. Once the context has ended, it waits for as long as it takes.
func (p *pool) awaitIdle(ctx context.Context, longest time.Duration) bool {
	late, done := time.After(longest), ctx.Done()
	for !p.idle() {
		select {
		case <-p.ended.C():
		case <-late:
			return false
		case <-done:
			late, done = nil, nil
		}
	}
	return true
}

func (p *pool) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running) == 0
}
