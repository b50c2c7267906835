package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

const (
	// looks is how many small reads a search makes to find waiting payers, and again to find turns of the chosen payer. So a lease costs
	// at most 2 * looks + 1 reads, however many payers wait, and one more for each turn that others have served meanwhile. A new payer
	// among 1,000 others with use is found within 1,000 / looks leases, and among up to eight others in the next lease.
	looks = 8
	// waitingPage is how many waiting runs are read at once: the first, and one more to know whether another follows.
	waitingPage = 2
)

// Lease leases the next run of the subqueue in the order, for the duration. The lease is a copy of the given one, which names the
// holder. It returns nil if no run waits, or if other processes leased every waiting run.
//
// The first of several runs costs one small read, and each later run at most 2 * looks + 1. An empty queue costs two reads of an empty
// page, or one if it was empty before.
func (q Queue) Lease(ctx context.Context, sub record.Subqueue, o *FairOrder, lease record.Lease, d time.Duration) (*record.RunItem, error) {
	s := q.newSearch(ctx, sub, o, lease, d)
	return s.leaseNext()
}

// LeaseLight is like Lease, but only for runs of submitters with little use over all payers: less than about half a second of work. It
// knows the expected turns of the order. Besides them it looks at a few payers and turns, and the next search continues there. So it may
// return nil although such a run waits that another process has queued.
func (q Queue) LeaseLight(ctx context.Context, sub record.Subqueue, o *FairOrder, lease record.Lease, d time.Duration) (
	*record.RunItem, error) {
	s := q.newSearch(ctx, sub, o, lease, d)
	s.light = true
	return s.leaseNext()
}

// LeaseBefore is like Lease, for a built-in evaluator that is about to evaluate run. It returns nil if no run is known to wait whose
// turn comes before run's.
func (q Queue) LeaseBefore(ctx context.Context, o *FairOrder, run *record.RunItem, lease record.Lease,
	d time.Duration) (*record.RunItem, error) {
	turn := run.Turn()
	s := q.newSearch(ctx, record.BuiltinSubqueue(), o, lease, d)
	s.before = &turn
	return s.leaseNext()
}

func (q Queue) newSearch(ctx context.Context, sub record.Subqueue, o *FairOrder, lease record.Lease, d time.Duration) *search {
	return &search{Queue: q, ctx: ctx, now: q.Now(), subqueue: sub, order: o, lease: lease, duration: d,
		found: map[record.Turn]found{}, payers: map[string]bool{}, skipped: map[record.Turn]bool{}, full: map[string]bool{}}
}

// search is one search of a subqueue for a run to lease.
type search struct {
	Queue
	ctx        context.Context //nolint:containedctx // lives for one call
	now        time.Time
	subqueue   record.Subqueue
	order      *FairOrder
	before     *record.Turn // the leased turn must come before this one, unless nil
	light      bool         // only submitters with little use
	lease      record.Lease
	duration   time.Duration
	found      map[record.Turn]found // turns that were read
	payers     map[string]bool       // payers that were read
	skipped    map[record.Turn]bool  // turns without a run that can be leased
	full       map[string]bool       // payers without a free place
	laneFull   bool                  // the slow lane, whose places all payers share, has no free place
	unreadable error                 // errors of runs that cannot be decoded; the search skips these runs
}

// found is the first run of a turn. onlyTurn reports whether it is the turn's only run, onlyPayer whether it is the payer's only run.
type found struct {
	run                 store.Item
	onlyTurn, onlyPayer bool
}

// leaseNext leases a run of the first turn in the order that has one. It returns nil if there is none.
func (s *search) leaseNext() (*record.RunItem, error) {
	s.order.mu.Lock()
	defer s.order.mu.Unlock()
	s.order.waitExpected()
	if s.before != nil && s.order.unused(s.before.Payer, s.now) {
		return nil, nil
	}
	for {
		all, err := s.findPayers()
		if err == nil && s.light {
			err = s.findLight()
		}
		if err != nil {
			return nil, err
		}
		for {
			turn, waits := s.order.first(s.now, s.may)
			if !waits {
				break
			}
			if turn, err = s.findTurns(turn); err != nil {
				return nil, err
			}
			if s.before != nil && s.order.compare(turn, *s.before, s.now) >= 0 {
				return nil, nil
			}
			if run, err := s.leaseOf(turn); run != nil || err != nil {
				return run, err
			}
			if s.laneFull {
				return nil, nil
			}
			if err := s.findBehind(turn); err != nil {
				return nil, err
			}
		}
		switch {
		case s.light:
			return nil, nil // a search for all light runs would read all heavy ones
		case all && s.before == nil:
			return nil, s.unreadable
		case all:
			return nil, nil // LeaseBefore does not report unreadable runs, because they have no turn
		}
	}
}

// may reports whether this search may lease a run of the turn.
func (s *search) may(t record.Turn) bool {
	return !s.skipped[t] && !s.full[t.Payer] && (!s.light || s.order.isLight(t, s.now))
}

// findPayers looks for waiting payers until it finds one without use. It reports whether this search has looked at all payers.
func (s *search) findPayers() (all bool, err error) {
	before := len(s.payers)
	s.order.payers, all, err = s.look(s.subqueue.All(), s.order.payers,
		func(t record.Turn) string {
			s.payers[t.Payer] = true
			return s.subqueue.OfPayer(t).To
		},
		func(t record.Turn) bool { return s.order.unused(t.Payer, s.now) })
	return all || len(s.payers) == before, err // without a new payer, the search has come around
}

// findLight looks for other turns of a payer of whom only turns of submitters with much use are known.
func (s *search) findLight() error {
	if _, found := s.order.first(s.now, s.may); found {
		return nil
	}
	for turn, f := range s.found { // in random order, so that searches look at different payers
		if !f.onlyPayer {
			return s.findTurnsOf(turn)
		}
	}
	return nil
}

// findTurns looks for turns of the chosen turn's payer, and returns the first in the order. It returns chosen at once if the payer has
// no use or only one run.
func (s *search) findTurns(chosen record.Turn) (record.Turn, error) {
	if s.order.unused(chosen.Payer, s.now) || s.isOnlyTurn(chosen) {
		return chosen, nil
	}
	err := s.findTurnsOf(chosen)
	first, _ := s.order.first(s.now, func(t record.Turn) bool { return t.Payer == chosen.Payer && s.may(t) })
	return first, err
}

// findBehind looks for turns of the skipped turn's payer. The skipped turn may have hidden them.
func (s *search) findBehind(skipped record.Turn) error {
	if s.full[skipped.Payer] || s.isOnlyTurn(skipped) {
		return nil
	}
	return s.findTurnsOf(skipped)
}

// findTurnsOf looks for turns of t's payer until it finds a submitter without use.
func (s *search) findTurnsOf(t record.Turn) error {
	behind, _, err := s.look(s.subqueue.OfPayer(t), s.order.turns[t.Payer],
		func(t record.Turn) string { return s.subqueue.OfTurn(t).To },
		func(t record.Turn) bool { return s.order.unused(t.Levels()[submitter], s.now) })
	s.order.setTurns(t.Payer, behind)
	return err
}

// isOnlyTurn reports whether the turn's run is known to be the payer's only run.
func (s *search) isOnlyTurn(t record.Turn) bool {
	known, read := s.found[t]
	return read && known.onlyPayer
}

// look reads runs of the range, one for each turn or payer. It starts at the sort key behind, and continues at next of the turn that it
// read. At the end of the range it continues at the beginning, up to where it started. It ends when one of these holds:
//
//	looks reads were made
//	isFirst reports that no other turn comes before the one that it read
//	it has come around
//
// It returns the sort key at which to continue, and whether it has come around.
func (s *search) look(all record.KeyRange, behind string, next func(record.Turn) string, isFirst func(record.Turn) bool) (
	string, bool, error) {
	r := all
	if behind != "" {
		r.From = behind
	}
	at, around := behind, behind == ""
	for range looks {
		turn, ok, err := s.read(r)
		switch {
		case err != nil:
			return at, false, err
		case ok && s.may(turn) && isFirst(turn):
			return next(turn), false, nil
		case ok:
			at = next(turn)
			r.From = at
		case around:
			return "", true, nil
		default:
			around, r = true, record.KeyRange{From: all.From, To: behind}
		}
		if around && at == behind && at != "" && ok {
			return at, true, nil
		}
	}
	return at, false, nil
}

// read records the first run of the range, and its turn.
func (s *search) read(r record.KeyRange) (turn record.Turn, ok bool, err error) {
	page, err := s.page(s.query(r))
	if err != nil || len(page) == 0 {
		return turn, false, err
	}
	turn = s.turn(page[0])
	f := found{run: page[0], onlyTurn: true, onlyPayer: true}
	if len(page) > 1 {
		other := s.turn(page[1])
		f.onlyTurn, f.onlyPayer = other != turn, other.Payer != turn.Payer
	}
	// The range may begin within the payer's runs. An earlier read has then found other runs of the payer.
	f.onlyPayer = f.onlyPayer && r.From <= s.subqueue.OfPayer(turn).From
	s.found[turn] = f
	s.order.wait(turn)
	return turn, true, nil
}

func (s *search) turn(it store.Item) record.Turn {
	return s.subqueue.Turn(it.Entry(record.ByWork).Sort)
}

func (s *search) query(r record.KeyRange) store.Query {
	return store.Query{Index: record.ByWork, Partition: s.subqueue.Partition(), From: r.From, To: r.To, Limit: waitingPage}
}

func (s *search) page(q store.Query) ([]store.Item, error) {
	items, err := s.Store.Query(s.ctx, q)
	return items, records.Failed(err)
}

// leaseOf leases the first run of the turn that no other process leases first. If the turn has none, the search skips the turn from now
// on.
func (s *search) leaseOf(turn record.Turn) (*record.RunItem, error) {
	q := s.query(s.subqueue.OfTurn(turn))
	first, read := s.found[turn]
	waiting, last := []store.Item{first.run}, first.onlyTurn
	for {
		if !read {
			var err error
			if waiting, err = s.page(q); err != nil {
				return nil, err
			}
			last = len(waiting) < q.Limit
		}
		read = false
		for i, it := range waiting {
			run, err := s.leaseItem(it)
			switch {
			case errors.Is(err, ErrNoPlace):
				s.full[turn.Payer] = true
				s.laneFull = s.subqueue == record.SlowSubqueue()
				return nil, nil
			case err != nil:
				return nil, err
			case run == nil:
				continue
			}
			if last && i == len(waiting)-1 {
				delete(s.order.waiting, turn)
			}
			s.order.charge(turn, leaseSteps, s.now)
			return run, nil
		}
		if last {
			s.skipped[turn] = true
			delete(s.order.waiting, turn)
			return nil, nil
		}
		q.After = &waiting[len(waiting)-1]
	}
}

// leaseItem leases the run of the item. It returns nil if the run cannot be decoded or no longer waits.
func (s *search) leaseItem(it store.Item) (*record.RunItem, error) {
	run, err := records.Decode[record.RunItem](it)
	if err != nil {
		s.unreadable = errors.Join(s.unreadable, fmt.Errorf("%s: %w", it.Partition, err))
		return nil, nil
	}
	return s.leaseWaiting(s.ctx, run, s.lease, s.duration)
}
