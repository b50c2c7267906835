package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/wait"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// demand is one kind of work in one pool, which a worker waits for.
type demand struct {
	pool string
	work record.Work
}

// waiter is a worker that waits for work.
type waiter struct {
	holder  record.Lease // copied into the lease
	demands []demand
	noWait  bool // it is answered after the first poll that began since it came
	polled  bool // such a poll has begun
	gone    bool // it left while it was claimed, and is answered when the claim ends
	leased  chan *record.RunItem
}

// dispatcher leases runs for the workers that wait for work (long polling): workers are served first come, first served, runs
// in turns by payer, submitter, task and team.
//
// It polls the queue on behalf of all of them: once for each demand however many workers have it, when a worker brings a new
// demand, when it is notified that a run may wait, and else at an interval. While no worker waits it does not poll at all, so
// idle workers share one poll, and without workers there is none.
type dispatcher struct {
	queue        queue.Queue
	log          *slog.Logger
	firstLease   time.Duration // how long a lease lasts until a heartbeat confirms it
	pollInterval time.Duration // how often to poll without a notification

	mu            sync.Mutex
	waiting       []*waiter
	stopped       bool
	emptySince    map[demand]time.Time                     // when the queue was last found empty, with no notification since
	notifications int                                      // how many have come that a run may wait
	mayWait       wait.Signal                              // a run may wait
	newDemand     wait.Signal                              // there is a demand that must be polled now
	orders        *simplelru.LRU[demand, *queue.FairOrder] // only run uses it
}

// maxOrders is how many demands a dispatcher remembers the order of. A demand beyond those that came last begins again.
const maxOrders = 1000

func newDispatcher(q queue.Queue, log *slog.Logger, firstLease, pollInterval time.Duration) *dispatcher {
	orders, _ := simplelru.NewLRU[demand, *queue.FairOrder](maxOrders, nil) // the size is positive
	return &dispatcher{
		queue: q, log: log, firstLease: firstLease, pollInterval: pollInterval,
		emptySince: map[demand]time.Time{}, orders: orders,
	}
}

// lease waits for a run until the context or the duration ends; nil when there is none.
func (d *dispatcher) lease(ctx context.Context, holder record.Lease, demands []demand, patience time.Duration) *record.RunItem {
	w := &waiter{holder: holder, demands: demands, noWait: patience <= 0, leased: make(chan *record.RunItem, 1)}
	if !d.join(w) {
		return nil
	}
	var timeout <-chan time.Time
	if !w.noWait {
		timeout = time.After(patience)
	}
	select {
	case run := <-w.leased:
		return run
	case <-timeout:
	case <-ctx.Done():
	}
	if d.leave(w) {
		return nil
	}
	return <-w.leased
}

func (d *dispatcher) join(w *waiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return false
	}
	d.waiting = append(d.waiting, w)
	if w.noWait || slices.ContainsFunc(w.demands, d.mustPoll) {
		d.newDemand.Send()
	}
	return true
}

// mustPoll reports whether the queue was not polled for the demand within the interval.
func (d *dispatcher) mustPoll(want demand) bool {
	return time.Since(d.emptySince[want]) >= d.pollInterval
}

// leave reports whether it removed the waiter. One that is claimed is answered by unclaim or serve.
func (d *dispatcher) leave(w *waiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.gone = true
	i := slices.Index(d.waiting, w)
	if i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	}
	return i >= 0
}

// changed notifies the dispatcher of items that were just written.
func (d *dispatcher) changed(items []store.Item) {
	waiting := record.QueuePartition(record.QueueWorkers)
	if !slices.ContainsFunc(items, func(it store.Item) bool { return it.Entry(record.ByWork).Partition == waiting }) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.emptySince)
	d.notifications++
	d.mayWait.Send()
}

// run serves the waiting workers until the context ends. Then it answers them, and all that come later, with nothing.
func (d *dispatcher) run(ctx context.Context) {
	tick := time.NewTicker(d.pollInterval)
	defer tick.Stop()
	for {
		all := true
		select {
		case <-ctx.Done():
			d.answerEmpty(true)
			return
		case <-d.newDemand.C():
			all = false
		case <-d.mayWait.C():
		case <-tick.C:
		}
		for _, want := range d.demands(all) {
			if err := d.serve(ctx, want); err != nil && ctx.Err() == nil {
				d.log.ErrorContext(ctx, "the queue of workers cannot be read", "error", err)
			}
		}
		d.answerEmpty(false)
	}
}

// demands returns the demands of the waiters, each once: all of them, or only those that must be polled now.
func (d *dispatcher) demands(all bool) []demand {
	d.mu.Lock()
	defer d.mu.Unlock()
	var wanted []demand
	for _, w := range d.waiting {
		w.polled = true
		for _, want := range w.demands {
			if (all || w.noWait || d.mustPoll(want)) && !slices.Contains(wanted, want) {
				wanted = append(wanted, want)
			}
		}
	}
	return wanted
}

// serve leases runs to the workers with the demand until either run out.
func (d *dispatcher) serve(ctx context.Context, want demand) error {
	for {
		w, notifications := d.claim(want)
		if w == nil {
			return nil
		}
		order, known := d.orders.Get(want)
		if !known {
			order = new(queue.FairOrder)
			d.orders.Add(want, order)
		}
		run, err := d.queue.Lease(ctx, record.WorkerSubqueue(want.pool, want.work), order, w.holder, d.firstLease)
		if run == nil || err != nil {
			d.unclaim(w, want, notifications)
			return err
		}
		w.leased <- run
	}
}

// claim removes the first waiter with the demand, and returns the number of notifications so far.
func (d *dispatcher) claim(want demand) (w *waiter, notifications int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.waiting, func(w *waiter) bool { return slices.Contains(w.demands, want) })
	if i < 0 {
		return nil, d.notifications
	}
	w = d.waiting[i]
	d.waiting = slices.Delete(d.waiting, i, i+1)
	return w, d.notifications
}

// unclaim puts back a waiter for which there was no run. Without a notification since the claim, the queue counts as empty.
func (d *dispatcher) unclaim(w *waiter, want demand, notifications int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.notifications == notifications {
		d.emptySince[want] = time.Now()
	}
	if w.gone {
		w.leased <- nil
		return
	}
	d.waiting = slices.Insert(d.waiting, 0, w)
}

// answerEmpty answers the workers that do not wait, and were polled for, with nothing; when the dispatcher stops, all workers, now and
// later.
func (d *dispatcher) answerEmpty(stop bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = stop
	d.waiting = slices.DeleteFunc(d.waiting, func(w *waiter) bool {
		ends := stop || w.noWait && w.polled
		if ends {
			w.leased <- nil
		}
		return ends
	})
}

// sweeper reclaims runs whose leases have expired. While none has, a sweep reads one empty page.
//
// Heartbeats cannot arrive while the server is down, so it begins one lease time after its start, in which live workers reconnect.
// It compares leases with this server's clock; the clocks of several servers must agree to within seconds, as those of one cloud
// do. The evaluator, which may have another clock, waits for record.ReclaimGrace longer.
type sweeper struct {
	queue    queue.Queue
	log      *slog.Logger
	lease    time.Duration
	interval time.Duration
}

// sweepPage is the page size of a sweep.
const sweepPage = 20

func (s *sweeper) run(ctx context.Context) {
	if wait.Sleep(ctx, s.lease) {
		wait.Repeat(ctx, s.interval, nil, s.log, "expired leases stay until the next sweep", s.sweep)
	}
}

func (s *sweeper) sweep(ctx context.Context) error {
	now := s.queue.Now()
	q := store.Query{Index: record.ByWork, Partition: record.DuePartition, To: record.DueBy(now.Add(record.ReclaimGrace)), Limit: sweepPage}
	var failed error
	for it, err := range records.Items(ctx, s.queue.Store, q) {
		if err == nil {
			err = s.reclaim(ctx, now, it)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// reclaim reclaims a run whose lease by a worker has expired. Other pending work is the evaluator's.
func (s *sweeper) reclaim(ctx context.Context, now time.Time, it store.Item) error {
	if !record.IsRun(it.Key) {
		return nil
	}
	run, err := records.Decode[record.RunItem](it)
	if err != nil || run.Lease == nil || run.Queue != record.QueueWorkers || run.Lease.Until.After(now) {
		return err
	}
	reclaimed, err := s.queue.ReclaimExpired(ctx, run.ID)
	if reclaimed {
		s.log.InfoContext(ctx, "the lease of a worker had expired; its run is reclaimed", "run", run.ID, "worker", run.Lease.Holder, "attempt",
			run.Attempts)
	}
	return err
}
