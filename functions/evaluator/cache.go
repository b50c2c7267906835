package evaluator

import (
	"context"
	"slices"
	"sync"
)

// maxCacheBytes bounds the memory of what a cache keeps.
const maxCacheBytes = 128 << 20

// keeping is what it takes to keep a value, however small it is.
const keeping = 512

// cache keeps the values of the datasets that were used last, for the runs of a dataset come together. The zero cache is ready for
// use.
type cache[T any] struct {
	mu    sync.Mutex // held while a value is read, so that two runs that need the same one read it once
	kept  []cached[T]
	bytes int64
}

type cached[T any] struct {
	dataset, version string
	bytes            int64
	value            T
}

// get returns the value of a version, which read reads when it is not among those kept, and says how much memory it takes.
func (c *cache[T]) get(ctx context.Context, dataset, version string, read func(context.Context) (T, int64, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.kept, func(k cached[T]) bool { return k.dataset == dataset }); i >= 0 {
		found := c.kept[i]
		c.kept = slices.Delete(c.kept, i, i+1)
		if found.version == version {
			c.kept = append(c.kept, found)
			return found.value, nil
		}
		c.bytes -= found.bytes
	}
	value, bytes, err := read(ctx)
	if err != nil {
		return value, err
	}
	k := cached[T]{dataset, version, keeping + bytes, value}
	if k.bytes > maxCacheBytes {
		return value, nil
	}
	c.kept, c.bytes = append(c.kept, k), c.bytes+k.bytes
	for c.bytes > maxCacheBytes {
		c.bytes -= c.kept[0].bytes
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	return value, nil
}
