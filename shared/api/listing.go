package api

import (
	"context"
	"time"

	"assay/shared/problem"

	"golang.org/x/sync/semaphore"
)

// Lists, and the pages that show several resources, share a budget of memory. One takes about six times page.MaxBytes while
// it is read and rendered: items, decoded records, what is shown, and its JSON.
const (
	listingBytes    = 8 << 20
	allListings     = 16 * listingBytes
	listingPatience = 5 * time.Second
)

func newListings() *semaphore.Weighted { return semaphore.NewWeighted(allListings) }

// beginListing waits until there is memory for one more list. It is there again after endListing, which the first byte of
// an answer calls: a caller who reads slowly keeps nobody waiting.
func (c *Call) beginListing(ctx context.Context) error {
	if !c.listings.TryAcquire(listingBytes) {
		ctx, cancel := context.WithTimeout(ctx, listingPatience)
		defer cancel()
		if err := c.listings.Acquire(ctx, listingBytes); err != nil {
			return problem.Unavailable.Wrap(err, "Many lists are read at the moment. Try again in a second, and ask for few at the same time.").After(time.Second)
		}
	}
	c.lists = true
	return nil
}

func (c *Call) endListing() {
	if c.lists {
		c.lists = false
		c.listings.Release(listingBytes)
	}
}
