package api

import (
	"context"
	"time"

	"assay/shared/problem"
)

// Lists, and the pages that show several resources, share memory and processors. One takes 8 MiB, about six times
// page.MaxBytes, while it is read and rendered: items, decoded records, what is shown, and its JSON. A caller has a share of
// them, and so have all callers without a login, so that nobody who asks for many keeps the others waiting.
const (
	allListings     = 8
	userListings    = 4
	listingPatience = 5 * time.Second
)

// beginListing waits until there is room for one more list.
func (c *Call) beginListing(ctx context.Context) error {
	listing, err := c.server.listings.Acquire(ctx, c.Computing())
	if err != nil {
		return problem.Unavailable.Wrap(err, "Many lists are read at the moment. Try again in a second, and ask for few at the same time.").After(time.Second)
	}
	c.held = append(c.held, listing)
	return nil
}
