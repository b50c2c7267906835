package evaluator

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

// maxCacheBytes bounds the memory of what a cache keeps, also while nothing is evaluated: the garbage collector lets a process grow by as
// much again. A value that is larger takes longer to read than the budget of an evaluation anyway.
const maxCacheBytes = 64 << 20

// minEntryBytes is the overhead of an entry.
const minEntryBytes = 512

// cache keeps values of the most recently used datasets, since runs of a dataset come together. The zero cache is ready for use.
type cache[T any] struct {
	reading singleflight.Group                // runs that need the same value read it once, without delaying others
	mu      sync.Mutex                        // guards the others
	kept    *simplelru.LRU[string, cached[T]] // by dataset; nil until there is one
	bytes   int64
}

type cached[T any] struct {
	version string
	bytes   int64
	value   T
	isLong  bool // without a value: reading it exceeds the budget of an evaluation, or it is too large to be kept
}

// get returns the value of a version. If the cache lacks it, read returns it with the memory that it takes. A lane with a budget neither
// waits for the slow lane to read a value, nor reads one again that is known to be long: that is errOverBudget.
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
			continue // another run was reading, and was ended
		}
		return value.(T), err
	}
}

// find returns what is cached of a version, and marks it as the most recently used.
func (c *cache[T]) find(dataset, version string) (found cached[T], ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		return found, false
	}
	found, ok = c.kept.Get(dataset)
	return found, ok && found.version == version
}

// put caches a value, removes the dataset's other versions, and evicts the least recently used values if there is no room. Of a value
// that is too large it notes only that, and a value of the same version stays in place of a note that it is long.
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
