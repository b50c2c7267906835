package queue

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"assay/shared/domain/record"
)

const (
	// halfLife is the time after which half of a payer's use still counts.
	halfLife = 5 * time.Minute
	// leaseSteps is added for each lease to the steps of the evaluation. It is about a millisecond. The steps of workers are unknown,
	// so their leases count equally.
	leaseSteps = 100_000
	// mostUsed is the greatest use that counts, about a second of work. Otherwise somebody with much use would wait until others have
	// as much. Somebody with little use in a task would wait because of the task's other participants.
	mostUsed = 200_000_000
	// lightUse is the use of a submitter, over all payers, from which on LeaseLight leases no more of the submitter's runs. It is about half a
	// second of work.
	lightUse = 50_000_000
	// maxRemembered limits the names whose use a FairOrder remembers, and the turns that it knows to wait. It forgets the names with
	// the least use. It forgets all turns at once, because searches find them again.
	maxRemembered = 10_000
)

// FairOrder is the order in which a process leases the runs of a subqueue. It chooses the waiting payer with the least recent use, then
// the payer's submitter, task and team with the least, and then the run that has waited longest. Names without use come before all
// others, in turn.
//
// Use is counted in steps of evaluations, up to about a second of work, and half of it is forgotten every five minutes. So somebody
// with much use waits until others have used about a second of work, and then takes turns with them.
//
// Each process has its own FairOrder and is fair on its own; processes share no state. The zero FairOrder is ready for use. It knows
// waiting turns, not runs. Each lease finds a few new turns, and Expect names turns of which the process knows.
type FairOrder struct {
	expectedMu sync.Mutex // separate from mu, since a search writes leases, and the store reports writes by calling Expect
	expected   map[record.Turn]bool

	mu      sync.Mutex           // held during a search, so that two searches do not take the same turn
	used    map[string]use       // by the names of turns' levels
	served  int64                // number of charges
	waiting map[record.Turn]bool // turns known to wait
	payers  string               // the sort key after which the search for payers continues
	turns   map[string]string    // by payer: the sort key after which the search for its turns continues
}

// submitter is the index of the submitter in Turn.Levels.
const submitter = 1

// use is the use of a name at an instant.
type use struct {
	steps float64
	at    time.Time
	order int64 // the number of the charge; it orders equal uses
}

// lately returns the part of the use that still counts at now.
func (u use) lately(now time.Time) float64 {
	return u.steps * math.Exp2(-float64(now.Sub(u.at))/float64(halfLife))
}

func (u use) compare(v use, now time.Time) int {
	return cmp.Or(cmp.Compare(u.lately(now), v.lately(now)), cmp.Compare(u.order, v.order))
}

// Expect says that a run of the turn was queued, so that the next search need not find the turn.
func (o *FairOrder) Expect(t record.Turn) {
	o.expectedMu.Lock()
	defer o.expectedMu.Unlock()
	if o.expected == nil || len(o.expected) >= maxRemembered {
		o.expected = map[record.Turn]bool{}
	}
	o.expected[t] = true
}

// waitExpected adds the expected turns to the waiting turns.
func (o *FairOrder) waitExpected() {
	o.expectedMu.Lock()
	defer o.expectedMu.Unlock()
	for t := range o.expected {
		o.wait(t)
	}
	o.expected = nil
}

// Charge adds the steps of an evaluation to the use of all levels of the turn, and to the use of the submitter over all payers.
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
	levels := t.Levels()
	for _, name := range append(levels[:], everywhere(t)) {
		o.used[name] = use{min(o.used[name].lately(now)+float64(steps), mostUsed), now, o.served}
	}
	if len(o.used) > maxRemembered {
		o.forget(now)
	}
}

// forget keeps the names with the most use, half of maxRemembered.
func (o *FairOrder) forget(now time.Time) {
	names := slices.SortedFunc(maps.Keys(o.used), func(a, b string) int { return o.used[a].compare(o.used[b], now) })
	for _, name := range names[:len(names)-maxRemembered/2] {
		delete(o.used, name)
	}
}

// everywhere returns the name of the turn's submitter over all payers. It differs from the names of all levels.
func everywhere(t record.Turn) string { return "#" + t.Submitter }

// isLight reports whether the turn's submitter has little use over all payers.
func (o *FairOrder) isLight(t record.Turn, now time.Time) bool {
	return o.used[everywhere(t)].lately(now) < lightUse
}

// unused reports whether no use of the name counts any more.
func (o *FairOrder) unused(name string, now time.Time) bool { return o.used[name].lately(now) < 1 }

// compare orders turns by their use, and turns without use by their names.
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

// first returns the first turn that waits and that may accepts.
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

// setTurns sets the sort key after which the search for the payer's turns continues. "" means the payer's first turn.
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
