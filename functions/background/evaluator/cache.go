package evaluator

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

// maxCacheBytes limits the memory of the values in a cache. The garbage collector lets a process grow by as much again. Reading a larger
// value would exceed the budget of an evaluation anyway.
const maxCacheBytes = 64 << 20

// minEntryBytes is the overhead of an entry.
const minEntryBytes = 512

// cache keeps values of the most recently used datasets, because runs of a dataset come together. The zero cache is ready for use.
type cache[T any] struct {
	reading singleflight.Group                // runs that need the same value read it once, without delaying others
	mu      sync.Mutex                        // guards the fields below
	kept    *simplelru.LRU[string, cached[T]] // by dataset; nil before the first value
	bytes   int64
}

type cached[T any] struct {
	version string
	bytes   int64
	value   T
	isLong  bool // there is no value, because it is too large, or reading it exceeds the budget of an evaluation
}

// get returns the value of a version. If the cache lacks the value, read returns it with its size in memory. Only the slow lane reads
// values that are known to be long. The other lane gets errOverBudget for them, and never waits for the slow lane.
func (c *cache[T]) get(ctx context.Context, l lane, dataset, version string, read func(context.Context) (T, int64, error)) (T, error) {
	for {
		mine := false
		value, err, _ := c.reading.Do(l.subqueue.Partition()+" "+dataset+" "+version, func() (any, error) {
			mine = true
			kept, ok := c.find(dataset, version)
			switch {
			case ok && !kept.isLong:
				return kept.value, nil
			case ok && !l.isSlow():
				return kept.value, errOverBudget
			}
			value, bytes, err := read(ctx)
			switch {
			case errors.Is(err, errOverBudget):
				c.put(dataset, cached[T]{version: version, bytes: minEntryBytes, isLong: true})
			case err == nil:
				c.put(dataset, cached[T]{version: version, bytes: minEntryBytes + bytes, value: value})
			}
			return value, err
		})
		if !mine && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, errOverBudget)) {
			continue // the run that was reading was ended
		}
		return value.(T), err
	}
}

// find returns the cached value of a version, and marks it as the most recently used.
func (c *cache[T]) find(dataset, version string) (found cached[T], ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		return found, false
	}
	found, ok = c.kept.Get(dataset)
	return found, ok && found.version == version
}

// put caches a value, removes the other versions of the dataset, and evicts the least recently used values if there is no room. If the
// value is too large, put only marks it as long. A mark never replaces a value of the same version.
func (c *cache[T]) put(dataset string, k cached[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept, _ = simplelru.NewLRU(math.MaxInt, func(_ string, gone cached[T]) { c.bytes -= gone.bytes }) // the size is positive
	}
	if old, ok := c.kept.Peek(dataset); ok && k.isLong && old.version == k.version {
		return
	}
	c.kept.Remove(dataset)
	if k.bytes > maxCacheBytes {
		k = cached[T]{version: k.version, bytes: minEntryBytes, isLong: true}
	}
	c.kept.Add(dataset, k)
	for c.bytes += k.bytes; c.bytes > maxCacheBytes; {
		c.kept.RemoveOldest()
	}
}
