package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/wait"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// demand is a kind of work in a pool for which a worker waits.
type demand struct {
	pool string
	work record.Work
}

// waiter is a worker that waits for work.
type waiter struct {
	holder  record.Lease // copied into the lease
	demands []demand
	noWait  bool // it is answered after the first poll that began after its arrival
	polled  bool // such a poll has begun
	gone    bool // it left while a claim was in progress, and is answered when the claim ends
	leased  chan *record.RunItem
}

// dispatcher leases runs to waiting workers (long polling). It serves workers in the order of their arrival. Runs take turns by payer,
// submitter, task and team.
//
// It polls the queue once for each demand, however many workers have that demand. It polls when a worker brings a new demand, when it is
// notified that a run may wait, and otherwise at an interval. So idle workers share the polls, and without workers there are none.
type dispatcher struct {
	queue        queue.Queue
	log          *slog.Logger
	firstLease   time.Duration // until a heartbeat confirms the lease
	pollInterval time.Duration // between polls without a notification

	mu            sync.Mutex
	waiting       []*waiter
	stopped       bool
	emptySince    map[demand]time.Time                     // when the queue was last found empty, unless there was a notification since
	notifications int                                      // number of notifications that a run may wait
	mayWait       wait.Signal                              // a run may wait
	newDemand     wait.Signal                              // a demand must be polled now
	orders        *simplelru.LRU[demand, *queue.FairOrder] // used only by run
}

// maxOrders bounds the demands whose order of turns a dispatcher remembers. For a forgotten demand, the turns start again.
const maxOrders = 1000

func newDispatcher(q queue.Queue, log *slog.Logger, firstLease, pollInterval time.Duration) *dispatcher {
	orders, _ := simplelru.NewLRU[demand, *queue.FairOrder](maxOrders, nil) // the size is positive
	return &dispatcher{
		queue: q, log: log, firstLease: firstLease, pollInterval: pollInterval,
		emptySince: map[demand]time.Time{}, orders: orders,
	}
}

// lease waits for a run until the context or the duration ends. It returns nil if there was none.
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

// mustPoll reports whether the demand was last polled longer than an interval ago.
func (d *dispatcher) mustPoll(want demand) bool {
	return time.Since(d.emptySince[want]) >= d.pollInterval
}

// leave removes the waiter and reports true. It reports false for a claimed waiter, which unclaim or serve answers.
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

// run serves the waiting workers until the context ends. Afterwards all waiting and later workers get no run.
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

// demands returns the distinct demands of the waiters: all of them, or only those that must be polled now.
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

// serve leases runs to the workers with the demand until there are no more runs or workers.
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

// unclaim puts back a waiter for which there was no run. If no notification came since the claim, it marks the queue as empty.
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

// answerEmpty answers polled workers that do not wait with no run. With stop, it answers all workers, and later workers are not accepted.
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

// sweeper reclaims runs whose leases have expired. Without expired leases, a sweep reads one empty page.
//
// While the server is down, heartbeats cannot arrive. So the sweeper begins one lease time after the start of the server, in which live
// workers reconnect. It compares leases with this server's clock. The clocks of several servers must agree within seconds, which those
// of one cloud do. The background worker may have another clock, and waits for record.ReclaimGrace longer.
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
		wait.Repeat(ctx, s.interval, s.log, "cannot reclaim expired leases; the next sweep tries again", s.sweep)
	}
}

func (s *sweeper) sweep(ctx context.Context) error {
	now := s.queue.Now()
	q := store.Query{Index: record.ByWork, Partition: record.DueRuns, To: record.DueBy(now.Add(record.ReclaimGrace)), Limit: sweepPage}
	var failed error
	for it, err := range records.Items(ctx, s.queue.Store, q) {
		if err == nil {
			err = s.reclaim(ctx, now, it)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// reclaim reclaims a run whose lease by a worker has expired. It ignores other due work, which belongs to the background worker.
func (s *sweeper) reclaim(ctx context.Context, now time.Time, it store.Item) error {
	run, err := records.Decode[record.RunItem](it)
	if err != nil || run.Lease == nil || run.Queue != record.QueueWorkers || run.Lease.Until.After(now) {
		return err
	}
	reclaimed, err := s.queue.ReclaimExpired(ctx, run.ID)
	if reclaimed {
		s.log.InfoContext(ctx, "reclaimed a run after the lease of its worker expired", "run", run.ID, "worker", run.Lease.Holder, "attempt",
			run.Attempts)
	}
	return err
}
