package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// FairOrder is the round-robin order in which a process leases the runs of a subqueue: first by task, then by team within the
// task, beginning after the task and the team that were served last; of a team, the run that has waited longest. The zero
// FairOrder begins with the first task and team. It is reset when nothing waits any more, so that it holds no more than what
// is waiting.
//
// A FairOrder belongs to one process: each process that works on a queue is fair on its own, and they share no state.
type FairOrder struct {
	mu    sync.Mutex
	task  string            // served last
	teams map[string]string // served last, by task
}

// maxRemembered is how many tasks a FairOrder remembers the last team of; when it forgets them, some teams wait a round longer.
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

// waitingPage is how many waiting runs are read at once: the first is nearly always the one.
const waitingPage = 2

// Lease leases the next run of the subqueue in the order, for the duration; nil when none waits, or other processes leased every
// waiting run.
// The lease is a copy of the one given, which says who holds it.
// The first of several runs costs one small read, each later one two or three; finding the queue empty costs two reads of an
// empty page, or one when it was empty the time before.
func (q Queue) Lease(ctx context.Context, sub record.Subqueue, o *FairOrder, lease record.Lease, d time.Duration) (*record.RunItem, error) {
	s := search{Queue: q, ctx: ctx, subqueue: sub, order: o, lease: lease, duration: d}
	for _, r := range sub.TasksAfter(o.lastTask()) {
		if run, err := s.leaseFromFirstTask(r); run != nil || err != nil {
			return run, err
		}
	}
	o.reset()
	return nil, s.unreadable
}

// LeaseOther is Lease for a built-in evaluator that is about to evaluate the run, when the run's team was served last and a run
// of another team waits; otherwise it returns nil.
func (q Queue) LeaseOther(ctx context.Context, o *FairOrder, run *record.RunItem, lease record.Lease,
	d time.Duration) (*record.RunItem, error) {
	if last := o.lastTask(); last == "" || last != run.TaskID || o.lastTeam(run.TaskID) != run.TeamID() {
		return nil, nil
	}
	s := search{Queue: q, ctx: ctx, subqueue: record.BuiltinSubqueue(), order: o, lease: lease, duration: d, except: run}
	for _, r := range s.subqueue.TasksAfter(run.TaskID) {
		if other, err := s.leaseFromFirstTask(r); other != nil || err != nil {
			return other, err
		}
	}
	return nil, nil // a run that cannot be read has no team that could be named
}

// LeaseRun leases one certain run, if it waits for a built-in evaluator; nil when it does not, or another process took it.
func (q Queue) LeaseRun(ctx context.Context, o *FairOrder, runID string, lease record.Lease, d time.Duration) (*record.RunItem, error) {
	run, err := records.Get[record.RunItem](ctx, q.Store, store.Strong, record.RunKey(runID))
	if err != nil || run == nil || !run.Waits() || run.NotBefore != nil || run.Queue != record.QueueBuiltin {
		return nil, err
	}
	if err = q.lease(ctx, run, lease, d); records.IsConflict(err) {
		return nil, nil
	}
	o.served(run.TaskID, run.TeamID())
	return run, err
}

// lease makes the transition of a run that is leased. It fails with a conflict when another process was faster.
func (q Queue) lease(ctx context.Context, run *record.RunItem, lease record.Lease, d time.Duration) error {
	now := q.Now()
	next := record.Evaluating
	if run.Work() != record.Evaluate {
		next = record.Running
	}
	if err := changeState(run, next, now); err != nil {
		return err
	}
	run.Attempts++
	run.StartedAt = new(record.At(now))
	lease.ID, lease.Until = record.NewID(now), record.At(now.Add(d))
	run.Lease = &lease
	return new(records.Tx).Replace(run).Commit(ctx, q.Store)
}

// search is one search of a subqueue for a run to lease.
type search struct {
	Queue
	ctx        context.Context //nolint:containedctx // of the one call
	subqueue   record.Subqueue
	order      *FairOrder
	lease      record.Lease
	duration   time.Duration
	except     *record.RunItem // whose team is skipped; nil: no team is
	unreadable error           // runs that cannot be decoded, which keep no run after them from being leased
}

// leaseFromFirstTask leases a run of the first task in the range, of the team that is next in order.
func (s *search) leaseFromFirstTask(r record.KeyRange) (*record.RunItem, error) {
	q := s.query(r)
	first, err := s.page(q)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	task, _ := s.subqueue.TaskAndTeam(first[0].Entry(record.ByWork).Sort)
	if last := s.order.lastTeam(task); last != "" {
		after := s.query(s.subqueue.TeamsAfter(task, last)[0])
		waiting, err := s.page(after)
		if err != nil {
			return nil, err
		}
		if run, err := s.leaseFirst(after, waiting); run != nil || err != nil {
			return run, err
		}
	}
	return s.leaseFirst(q, first)
}

func (s *search) query(r record.KeyRange) store.Query {
	return store.Query{Index: record.ByWork, Partition: s.subqueue.Partition(), From: r.From, To: r.To, Limit: waitingPage}
}

func (s *search) page(q store.Query) ([]store.Item, error) {
	items, err := s.Store.Query(s.ctx, q)
	return items, records.Failed(err)
}

// leaseFirst leases the first run of a query that no other process takes; waiting is its first page.
func (s *search) leaseFirst(q store.Query, waiting []store.Item) (*record.RunItem, error) {
	for {
		for _, it := range waiting {
			run, err := records.Decode[record.RunItem](it)
			if err != nil {
				s.unreadable = errors.Join(s.unreadable, fmt.Errorf("%s: %w", it.Partition, err))
				continue
			}
			task, team := s.subqueue.TaskAndTeam(it.Entry(record.ByWork).Sort)
			if s.except != nil && s.except.TaskID == task && s.except.TeamID() == team {
				return nil, nil
			}
			if err = s.Queue.lease(s.ctx, run, s.lease, s.duration); err == nil {
				s.order.served(task, team)
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
		if waiting, err = s.page(q); err != nil {
			return nil, err
		}
	}
}

// TeamBacklog is the runs of one team that wait for workers, for one task, one pool and one kind of work.
type TeamBacklog struct {
	Oldest store.Item // the run that waits longest
	Since  time.Time  // since when
	Prefix string     // of the sort keys of all that wait
}

// TeamBacklogs yields the backlogs of all teams that wait for workers. Each costs one small read.
func (q Queue) TeamBacklogs(ctx context.Context) iter.Seq2[TeamBacklog, error] {
	return func(yield func(TeamBacklog, error) bool) {
		query := store.Query{Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: 1}
		for {
			found, err := q.Store.Query(ctx, query)
			if err != nil {
				yield(TeamBacklog{}, records.Failed(err))
				return
			}
			if len(found) == 0 {
				return
			}
			sort := found[0].Entry(record.ByWork).Sort
			prefix, after, err := record.WorkerTeamPrefix(sort)
			since, sinceErr := record.QueuedSince(sort)
			if err = errors.Join(err, sinceErr); !yield(TeamBacklog{found[0], since, prefix}, err) || err != nil {
				return
			}
			query.From = after
		}
	}
}

// Unserved has a diagnostic for each kind of work that runs of the dataset's task wait for in its pool while no worker that does
// it has been seen for a minute. Where all are served it costs one read.
func (q Queue) Unserved(ctx context.Context, d *record.DatasetItem) ([]measure.Diagnostic, error) {
	now := q.Now()
	serving, err := records.Get[record.Serving](ctx, q.Store, store.Eventual, record.ServingKey())
	if err != nil {
		return nil, err
	}
	var found []measure.Diagnostic
	for _, w := range []record.Work{record.ExecuteImage, record.ExecuteRepository, record.Evaluate} {
		sub := record.WorkerSubqueue(d.Pool, w)
		if serving.Serves(sub, now) {
			continue
		}
		r := sub.TeamsAfter(d.TaskID, "")[0] // which is all of the task
		waiting, err := q.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: sub.Partition(), From: r.From, To: r.To, Limit: 1})
		if err != nil {
			return nil, records.Failed(err)
		}
		if len(waiting) > 0 {
			found = append(found, record.Unserved(d.Pool, w))
		}
	}
	return found, nil
}
