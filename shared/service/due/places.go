package due

import (
	"maps"
	"slices"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/storage/store"
)

// Limit is the greatest number of works of a group that are done at the same time.
type Limit struct {
	Group string
	Most  int
}

// places counts the running work of a line, and remembers which work rests. No work waits in it. The zero places is ready for use.
type places struct {
	mu      sync.Mutex
	running map[string]int          // by group
	resting map[store.Key]time.Time // by record after a failure, and by record and entry after a success, the end of the work
}

// take takes a place for work with the limits, and reports whether they allow that.
func (p *places) take(limits []Limit) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full(limits) {
		return false
	}
	if p.running == nil {
		p.running = map[string]int{}
	}
	for _, l := range limits {
		p.running[l.Group]++
	}
	return true
}

// leave gives the place back.
func (p *places) leave(limits []Limit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range limits {
		p.running[l.Group]--
		if p.running[l.Group] == 0 {
			delete(p.running, l.Group)
		}
	}
}

// rest makes work rest that ended with the error. After a failure, all work on the record rests, and after a success only work with the
// same entry.
func (p *places) rest(it store.Item, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resting == nil {
		p.resting = map[store.Key]time.Time{}
	}
	if err != nil {
		p.resting[it.Key] = time.Now()
	} else {
		p.resting[withEntry(it)] = time.Now()
	}
}

func withEntry(it store.Item) store.Key {
	return store.Key{Partition: it.Partition, Sort: it.Sort + " " + it.Entry(record.ByWork).Sort}
}

// isFull reports whether one of the limits is reached.
func (p *places) isFull(limits ...Limit) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.full(limits)
}

func (p *places) full(limits []Limit) bool {
	return slices.ContainsFunc(limits, func(l Limit) bool { return p.running[l.Group] >= l.Most })
}

// rests reports whether the work on the record rests.
func (p *places) rests(it store.Item) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, failed := p.resting[it.Key]
	_, done := p.resting[withEntry(it)]
	return failed || done
}

// wake ends the rest of work that ended at the time or before.
func (p *places) wake(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.resting, func(_ store.Key, end time.Time) bool { return !end.After(until) })
}
