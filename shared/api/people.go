package api

import (
	"context"

	"assay/shared/page"
	"assay/shared/record"
)

// peopled is a resource that names people: to organizers, next to the ids of users.
type peopled interface{ People() []*record.Person }

// name fills in who the people are that the resource names.
func (c *Call) name(ctx context.Context, resource any) error {
	if r, ok := resource.(peopled); ok {
		return c.Name(ctx, r.People())
	}
	return nil
}

// nameAll fills in who the people are that the resources of the page name.
func nameAll[R any](ctx context.Context, c *Call, p *page.Page[R]) error {
	var people []*record.Person
	for i := range p.Data {
		r, ok := any(&p.Data[i]).(peopled)
		if !ok {
			r, ok = any(p.Data[i]).(peopled)
		}
		if !ok {
			return nil
		}
		people = append(people, r.People()...)
	}
	if len(people) == 0 {
		return nil
	}
	if err := c.Name(ctx, people); err != nil {
		return err
	}
	return p.Render()
}
