package server

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/wait"
)

// demand is what a worker can do: one kind of work in one pool.
type demand struct {
	pool string
	work record.Work
}

// waiter is a worker that waits for work.
type waiter struct {
	holder record.Lease // the lease to be
	wants  []demand
	once   bool // it does not wait: the first look decides
	left   bool // it no longer waits, and takes what it was given all the same
	got    chan *record.RunItem
}

// dispatcher hands out work to the workers that wait for it, first come, first served, and among tasks and teams in turn.
//
// It looks into the queue on behalf of all of them: once for each demand however many workers have it, when somebody comes
// who has waited for nothing yet, when it is told that something may wait, and else every so often. While nobody waits it
// does not look at all, so that idle workers cost what one of them costs, and a server without workers nothing.
type dispatcher struct {
	queue queue.Queue
	log   *slog.Logger
	first time.Duration // how long a lease lasts until a heartbeat confirms it
	every time.Duration // how often to look unasked

	mu      sync.Mutex
	waiting []*waiter
	stopped bool
	looked  map[demand]time.Time        // when the queue was last found empty, and nobody has told of anything since
	told    int                         // how often somebody told that something may wait
	news    wait.Signal                 // something may wait
	joined  wait.Signal                 // somebody waits for what was not looked for
	orders  map[demand]*queue.FairOrder // the loop's own
}

func newDispatcher(q queue.Queue, log *slog.Logger, first, every time.Duration) *dispatcher {
	return &dispatcher{
		queue: q, log: log, first: first, every: every, looked: map[demand]time.Time{}, orders: map[demand]*queue.FairOrder{},
	}
}

// lease waits for work, for as long as the context and the duration let it; nil when there was none.
func (d *dispatcher) lease(ctx context.Context, holder record.Lease, wants []demand, wait time.Duration) *record.RunItem {
	w := &waiter{holder: holder, wants: wants, once: wait <= 0, got: make(chan *record.RunItem, 1)}
	if !d.join(w) {
		return nil
	}
	var over <-chan time.Time
	if !w.once {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case run := <-w.got:
		return run
	case <-over:
	case <-ctx.Done():
	}
	if d.leave(w) {
		return nil
	}
	return <-w.got
}

func (d *dispatcher) join(w *waiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return false
	}
	d.waiting = append(d.waiting, w)
	if w.once || slices.ContainsFunc(w.wants, d.unknown) {
		d.joined.Send()
	}
	return true
}

// unknown reports whether the queue was not looked at for the demand of late.
func (d *dispatcher) unknown(want demand) bool { return time.Since(d.looked[want]) >= d.every }

// leave reports whether the waiter was not being served. One that is gets an answer soon.
func (d *dispatcher) leave(w *waiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.left = true
	i := slices.Index(d.waiting, w)
	if i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	}
	return i >= 0
}

// changed tells the dispatcher of items that were just written.
func (d *dispatcher) changed(items []store.Item) {
	waiting := record.QueuePartition(record.QueueWorkers)
	if slices.ContainsFunc(items, func(it store.Item) bool { return it.Entry(record.ByWork).Partition == waiting }) {
		d.tell()
	}
}

func (d *dispatcher) tell() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.looked)
	d.told++
	d.news.Send()
}

// run serves those who wait until the context ends. Then they get nothing, and nobody waits any more.
func (d *dispatcher) run(ctx context.Context) {
	tick := time.NewTicker(d.every)
	defer tick.Stop()
	for {
		all := true
		select {
		case <-ctx.Done():
			d.dismiss(true)
			return
		case <-d.joined.C():
			all = false
		case <-d.news.C():
		case <-tick.C:
		}
		for _, want := range d.demands(all) {
			if err := d.serve(ctx, want); err != nil && ctx.Err() == nil {
				d.log.ErrorContext(ctx, "the queue of workers cannot be read", "error", err)
			}
		}
		d.dismiss(false)
	}
}

// demands returns what the waiters want, each once: all of it, or what those want who do not wait or what was not looked for
// of late.
func (d *dispatcher) demands(all bool) []demand {
	d.mu.Lock()
	defer d.mu.Unlock()
	var wanted []demand
	for _, w := range d.waiting {
		for _, want := range w.wants {
			if (all || w.once || d.unknown(want)) && !slices.Contains(wanted, want) {
				wanted = append(wanted, want)
			}
		}
	}
	return wanted
}

// serve leases to those who want it as long as there is anything.
func (d *dispatcher) serve(ctx context.Context, want demand) error {
	for {
		w, told := d.claim(want)
		if w == nil {
			return nil
		}
		order := d.orders[want]
		if order == nil {
			order = new(queue.FairOrder)
			d.orders[want] = order
		}
		run, err := d.queue.Lease(ctx, record.WorkerSubqueue(want.pool, want.work), order, w.holder, d.first)
		if run == nil || err != nil {
			d.unclaim(w, want, told)
			return err
		}
		w.got <- run
	}
}

// claim takes the first who wants it out of those who wait, and returns how often was told of work until then.
func (d *dispatcher) claim(want demand) (w *waiter, told int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.waiting, func(w *waiter) bool { return slices.Contains(w.wants, want) })
	if i < 0 {
		return nil, d.told
	}
	w = d.waiting[i]
	d.waiting = slices.Delete(d.waiting, i, i+1)
	return w, d.told
}

// unclaim puts a waiter back for whom there was nothing.
func (d *dispatcher) unclaim(w *waiter, want demand, told int) {
	delete(d.orders, want)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told == told {
		d.looked[want] = time.Now()
	}
	if w.left {
		w.got <- nil
		return
	}
	d.waiting = slices.Insert(d.waiting, 0, w)
}

// dismiss answers those who do not wait that there is nothing, or all, now and later, when the dispatcher stops.
func (d *dispatcher) dismiss(stop bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = stop
	d.waiting = slices.DeleteFunc(d.waiting, func(w *waiter) bool {
		if stop || w.once {
			w.got <- nil
		}
		return stop || w.once
	})
}
