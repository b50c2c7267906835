package queue

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"assay/shared/record"
)

const (
	// halfLife is the time after which half of what a payer used still counts.
	halfLife = 5 * time.Minute
	// leaseSteps is what a lease counts besides the steps of its evaluation: about a millisecond. Of the work of workers no steps are
	// known, so that their leases count equally.
	leaseSteps = 100_000
	// mostUsed is the most use that counts, about a second of work. Otherwise somebody who used much would wait until others have used as
	// much: those who use little in a task, for all that its other participants used.
	mostUsed = 200_000_000
	// maxRemembered is how many names a FairOrder remembers the use of, and how many turns it knows to wait. Of names it forgets those that
	// used least. Turns it forgets all at once, because searches find them again.
	maxRemembered = 10_000
)

// FairOrder is the order in which a process leases the runs of a subqueue. The payer comes first that used least lately, then of its
// submitters, of their tasks and of their teams the one that used least, and then the run that has waited longest. Those that used
// nothing come before all others, in turn. Use is counted in steps of evaluations, up to about a second of work, and half of it is
// forgotten every five minutes. So nobody waits for more than that until others have used as much, and then in turn with them.
//
// A FairOrder belongs to one process: each process that works on a queue is fair on its own, and they share no state. The zero FairOrder is
// ready for use. It holds what is known to wait in turns, not in runs, and finds new turns by looking at a few in each lease.
type FairOrder struct {
	mu      sync.Mutex           // held while a run is searched for, so that two searches do not take the same turn
	used    map[string]use       // by the names of turns' levels
	served  int64                // how many times use was counted
	waiting map[record.Turn]bool // turns that are known to wait
	payers  string               // the sort key behind which the next payer is looked for
	turns   map[string]string    // by payer, the sort key behind which its next turn is looked for
}

// submitter is the level of the submitter in the levels of a turn.
const submitter = 1

// use is how much was used at an instant.
type use struct {
	steps float64
	at    time.Time
	order int64 // of equal uses, the one that was counted earlier comes first
}

// lately returns how much of the use still counts at now.
func (u use) lately(now time.Time) float64 {
	return u.steps * math.Exp2(-float64(now.Sub(u.at))/float64(halfLife))
}

func (u use) compare(v use, now time.Time) int {
	return cmp.Or(cmp.Compare(u.lately(now), v.lately(now)), cmp.Compare(u.order, v.order))
}

// Charge counts steps of an evaluation as used by all levels of the turn.
func (o *FairOrder) Charge(t record.Turn, steps int64, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.charge(t, steps, now)
}

func (o *FairOrder) charge(t record.Turn, steps int64, now time.Time) {
	if o.used == nil {
		o.used = map[string]use{}
	}
	o.served++
	for _, name := range t.Levels() {
		o.used[name] = use{min(o.used[name].lately(now)+float64(steps), mostUsed), now, o.served}
	}
	if len(o.used) > maxRemembered {
		o.forget(now)
	}
}

// forget keeps the half that used most.
func (o *FairOrder) forget(now time.Time) {
	names := slices.SortedFunc(maps.Keys(o.used), func(a, b string) int { return o.used[a].compare(o.used[b], now) })
	for _, name := range names[:len(names)-maxRemembered/2] {
		delete(o.used, name)
	}
}

// unused reports whether nothing of what the name used counts any more.
func (o *FairOrder) unused(name string, now time.Time) bool { return o.used[name].lately(now) < 1 }

// compare orders turns by what they used, and those that used nothing by their names.
func (o *FairOrder) compare(a, b record.Turn, now time.Time) int {
	others := b.Levels()
	for i, name := range a.Levels() {
		if c := o.used[name].compare(o.used[others[i]], now); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.Payer, b.Payer), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Submitter, b.Submitter),
		cmp.Compare(a.Team, b.Team))
}

// first returns the turn that comes first of those that are known to wait and that may be taken.
func (o *FairOrder) first(now time.Time, may func(record.Turn) bool) (first record.Turn, found bool) {
	for t := range o.waiting {
		if may(t) && (!found || o.compare(t, first, now) < 0) {
			first, found = t, true
		}
	}
	return first, found
}

func (o *FairOrder) wait(t record.Turn) {
	if o.waiting == nil || len(o.waiting) >= maxRemembered {
		o.waiting = map[record.Turn]bool{}
	}
	o.waiting[t] = true
}

// setTurns sets the sort key behind which the next turn of a payer is looked for; empty is the payer's first.
func (o *FairOrder) setTurns(payer, behind string) {
	switch {
	case behind == "":
		delete(o.turns, payer)
	case o.turns == nil || len(o.turns) >= maxRemembered:
		o.turns = map[string]string{payer: behind}
	default:
		o.turns[payer] = behind
	}
}
