package evaluator

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"
)

// maxCacheBytes bounds the memory of what a cache keeps.
const maxCacheBytes = 128 << 20

// minEntryBytes is the overhead of an entry.
const minEntryBytes = 512

// cache keeps values of the most recently used datasets, since runs of a dataset come together. The zero cache is ready for use.
type cache[T any] struct {
	reading singleflight.Group // runs that need the same value read it once, without delaying others
	mu      sync.Mutex         // guards the others
	kept    []cached[T]
	bytes   int64
}

type cached[T any] struct {
	dataset, version string
	bytes            int64
	value            T
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
				c.put(cached[T]{dataset, version, minEntryBytes + bytes, value})
			}
			return value, err
		})
		if !mine && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			continue // another run was reading, and was ended
		}
		return value.(T), err
	}
}

// find returns the cached value of a version, and marks it as the most recently used one.
func (c *cache[T]) find(dataset, version string) (value T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(k cached[T]) bool { return k.dataset == dataset && k.version == version })
	if i < 0 {
		return value, false
	}
	found := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), found)
	return found.value, true
}

// put caches a value, removes the dataset's other versions, and evicts the least recently used values if there is no room.
func (c *cache[T]) put(k cached[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	drop := func(i int) {
		c.bytes -= c.kept[i].bytes
		c.kept = slices.Delete(c.kept, i, i+1)
	}
	if i := slices.IndexFunc(c.kept, func(other cached[T]) bool { return other.dataset == k.dataset }); i >= 0 {
		drop(i)
	}
	if k.bytes > maxCacheBytes {
		return
	}
	c.kept, c.bytes = append(c.kept, k), c.bytes+k.bytes
	for c.bytes > maxCacheBytes {
		drop(0)
	}
}
