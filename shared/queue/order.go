package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// FairOrder is the round-robin order in which a process hands out the runs of a subqueue: first of the next task behind the one
// served last that has any, and there of the next team behind the one that the task was served for last; of a team, the run
// that has waited longest. The zero Order begins with the first task and team. It forgets what was served when nothing waits
// any more, so that it holds no more than what is waiting.
//
// An Order is of one process. Several that work on a queue are fair each by itself, which makes all of them fair.
type FairOrder struct {
	mu    sync.Mutex
	task  string            // served last
	teams map[string]string // served last, by task
}

// maxRemembered is how many tasks an Order remembers the last team of; to forget them costs some teams a turn.
const maxRemembered = 10_000

func (o *FairOrder) lastTask() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.task
}

func (o *FairOrder) lastTeam(task string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.teams[task]
}

func (o *FairOrder) served(task, team string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.teams == nil || len(o.teams) >= maxRemembered {
		o.teams = map[string]string{}
	}
	o.task, o.teams[task] = task, team
}

func (o *FairOrder) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.task, o.teams = "", nil
}

// page is how many waiting runs are read at once: the first is nearly always the one.
const page = 2

// Lease hands out the run of the subqueue whose turn it is, for the duration; nil when none waits, or others took all that do.
// The holder is the lease to be, with all that is known of it.
// The first of several runs costs one small read, each later one two or three; that nothing waits costs two reads of an empty
// page, or one when the time before was the same.
func Lease(ctx context.Context, s store.Store, now time.Time, q record.Subqueue, o *FairOrder, holder record.Lease, d time.Duration) (*record.RunItem, error) {
	l := leaser{ctx: ctx, store: s, now: now, subqueue: q, order: o, holder: holder, duration: d}
	for _, r := range q.TasksAfter(o.lastTask()) {
		if run, err := l.ofTask(r); run != nil || err != nil {
			return run, err
		}
	}
	o.reset()
	return nil, l.broken
}

// LeaseOther is Lease, for a built-in evaluator that is to take up the run, when the run's team was served last and a run of
// another team waits; otherwise it returns nil.
func LeaseOther(ctx context.Context, s store.Store, now time.Time, o *FairOrder, run *record.RunItem, holder record.Lease, d time.Duration) (*record.RunItem, error) {
	if last := o.lastTask(); last == "" || last != run.TaskID || o.lastTeam(run.TaskID) != run.UserID {
		return nil, nil
	}
	l := leaser{ctx: ctx, store: s, now: now, subqueue: record.BuiltinSubqueue(), order: o, holder: holder, duration: d, except: run}
	for _, r := range l.subqueue.TasksAfter(run.TaskID) {
		if other, err := l.ofTask(r); other != nil || err != nil {
			return other, err
		}
	}
	return nil, nil // what is broken holds up none that can be named
}

// leaser is one Lease on its way.
type leaser struct {
	ctx      context.Context //nolint:containedctx // of the one call
	store    store.Store
	now      time.Time
	subqueue record.Subqueue
	order    *FairOrder
	holder   record.Lease
	duration time.Duration
	except   *record.RunItem // whose team gets no turn; nil: every team
	broken   error           // what cannot be read, which holds up nothing that waits behind it
}

// ofTask leases a run of the first task in the range, of the team whose turn it is there.
func (l *leaser) ofTask(r record.KeyRange) (*record.RunItem, error) {
	q := l.query(r)
	first, err := l.page(q)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	task, _ := l.subqueue.TaskAndTeam(first[0].Entry(record.ByWork).Sort)
	if last := l.order.lastTeam(task); last != "" {
		behind := l.query(l.subqueue.TeamsAfter(task, last)[0])
		waiting, err := l.page(behind)
		if err != nil {
			return nil, err
		}
		if run, err := l.first(behind, waiting); run != nil || err != nil {
			return run, err
		}
	}
	return l.first(q, first)
}

func (l *leaser) query(r record.KeyRange) store.Query {
	return store.Query{Index: record.ByWork, Partition: l.subqueue.Partition(), From: r.From, To: r.To, Limit: page}
}

func (l *leaser) page(q store.Query) ([]store.Item, error) {
	items, err := l.store.Query(l.ctx, q)
	return items, records.Failed(err)
}

// first leases the first run of a query that nobody else takes; waiting is its first page.
func (l *leaser) first(q store.Query, waiting []store.Item) (*record.RunItem, error) {
	for {
		for _, it := range waiting {
			run, err := records.Decode[record.RunItem](it)
			if err != nil {
				l.broken = errors.Join(l.broken, fmt.Errorf("%s: %w", it.Partition, err))
				continue
			}
			task, team := l.subqueue.TaskAndTeam(it.Entry(record.ByWork).Sort)
			if l.except != nil && l.except.TaskID == task && l.except.UserID == team {
				return nil, nil
			}
			if err = lease(l.ctx, l.store, l.now, run, l.holder, l.duration); err == nil {
				l.order.served(task, team)
			}
			if err == nil || !records.IsConflict(err) {
				return run, err
			}
		}
		if len(waiting) < q.Limit {
			return nil, nil
		}
		q.After = &waiting[q.Limit-1]
		var err error
		if waiting, err = l.page(q); err != nil {
			return nil, err
		}
	}
}
