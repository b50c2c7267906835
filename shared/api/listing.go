package api

import (
	"context"
	"time"

	"assay/shared/compute"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/records"
)

// Lists, and the pages that show several resources, share memory and processors. One takes 8 MiB, about six times
// page.MaxBytes, while it is read and rendered: items, decoded records, what is shown, and its JSON. A caller has a share of
// them, and so have all callers without a login, so that a caller who asks for many keeps no other waiting.
const (
	allListings  = 8
	userListings = 4
	listingWait  = 5 * time.Second
)

// BeginListing waits for the memory of one more list, or of another answer to a GET that is as large; at most once for a call.
func (c *Call) BeginListing(ctx context.Context) error {
	if len(c.slots) > 0 {
		return nil
	}
	return c.acquireSlot(ctx, c.server.listings, "Many lists are read at the moment. Try again in a second, and ask for few at the same time.")
}

// acquireSlot takes a slot of the pool until the answer begins, or returns the problem with the detail.
func (c *Call) acquireSlot(ctx context.Context, p *compute.Pool, detail string) error {
	slot, err := p.Acquire(ctx, c.PoolCaller())
	if err != nil {
		return problem.Unavailable.Wrap(err, "%s", detail).After(time.Second)
	}
	c.slots = append(c.slots, slot)
	return nil
}

// PageOf is the page that the request asks for of the sources' records, the newest first: those that keep accepts (nil accepts
// all), each as show shows it.
func PageOf[R, V any, P records.Pointer[R]](ctx context.Context, c *Call, sources []records.Source, keep func(P) bool,
	show func(P) V) (p page.Page[V], err error) {
	selection := records.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	p.Cursor, err = records.List(ctx, c.Store, selection, keep, func(r P) (bool, error) { return p.Add(show(r)) })
	return p, err
}
