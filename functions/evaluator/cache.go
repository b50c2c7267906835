package evaluator

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

// maxCacheBytes bounds the memory of what a cache keeps.
const maxCacheBytes = 128 << 20

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
}

// get returns the value of a version. If the cache lacks it, read returns it with the memory that it takes.
func (c *cache[T]) get(ctx context.Context, dataset, version string, read func(context.Context) (T, int64, error)) (T, error) {
	for {
		mine := false
		value, err, _ := c.reading.Do(dataset+" "+version, func() (any, error) {
			mine = true
			if value, ok := c.find(dataset, version); ok {
				return value, nil
			}
			value, bytes, err := read(ctx)
			if err == nil {
				c.put(dataset, cached[T]{version, minEntryBytes + bytes, value})
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

// find returns the cached value of a version, and marks it as the most recently used one.
func (c *cache[T]) find(dataset, version string) (value T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		return value, false
	}
	found, ok := c.kept.Get(dataset)
	return found.value, ok && found.version == version
}

// put caches a value, removes the dataset's other versions, and evicts the least recently used values if there is no room.
func (c *cache[T]) put(dataset string, k cached[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept, _ = simplelru.NewLRU(math.MaxInt, func(_ string, gone cached[T]) { c.bytes -= gone.bytes }) // the size is positive
	}
	c.kept.Remove(dataset)
	if k.bytes > maxCacheBytes {
		return
	}
	c.kept.Add(dataset, k)
	for c.bytes += k.bytes; c.bytes > maxCacheBytes; {
		c.kept.RemoveOldest()
	}
}
