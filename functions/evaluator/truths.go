package evaluator

import (
	"context"
	"slices"
	"sync"

	"assay/shared/measure/evaluator"
	"assay/shared/record"
)

// maxTruthBytes bounds the memory of the truths that are kept.
const maxTruthBytes = 128 << 20

// keeping is what it takes to keep one, however small it is.
const keeping = 512

// truths keeps those that were used last, for the runs of a dataset come together. The zero truths is ready for use.
type truths struct {
	mu    sync.Mutex // held while a truth is read, so that two runs that need the same one read it once
	kept  []keptTruth
	bytes int64
}

type keptTruth struct {
	dataset string
	number  int64
	bytes   int64
	truth   *evaluator.Truth // nil: it cannot be used
}

// get returns the truth, which read reads when it is not among those kept, and says how much memory it takes.
func (c *truths) get(ctx context.Context, t *record.Truth, read func(context.Context, *record.Truth) (*evaluator.Truth, int64, error)) (*evaluator.Truth, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.kept, func(k keptTruth) bool { return k.dataset == t.ID }); i >= 0 {
		found := c.kept[i]
		c.kept = slices.Delete(c.kept, i, i+1)
		if found.number == t.Number {
			c.kept = append(c.kept, found)
			return found.truth, nil
		}
		c.bytes -= found.bytes
	}
	truth, bytes, err := read(ctx, t)
	if err != nil {
		return nil, err
	}
	k := keptTruth{t.ID, t.Number, keeping + bytes, truth}
	if k.bytes > maxTruthBytes {
		return truth, nil
	}
	c.kept, c.bytes = append(c.kept, k), c.bytes+k.bytes
	for c.bytes > maxTruthBytes {
		c.bytes -= c.kept[0].bytes
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	return truth, nil
}
