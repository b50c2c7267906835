package api

import (
	"context"

	"assay/shared/page"
	"assay/shared/record"
)

// peopleNamer is a resource that names people: to organizers, next to the ids of users.
type peopleNamer interface{ People() []*record.Person }

// resolvePeople fills in who the people are that the resource names.
func (c *Call) resolvePeople(ctx context.Context, resource any) error {
	if r, ok := resource.(peopleNamer); ok {
		return c.ResolvePeople(ctx, r.People())
	}
	return nil
}

// resolvePeopleOf fills in who the people are that the resources of the page name.
func resolvePeopleOf[R any](ctx context.Context, c *Call, p *page.Page[R]) error {
	var people []*record.Person
	for i := range p.Data {
		r, ok := any(&p.Data[i]).(peopleNamer)
		if !ok {
			r, ok = any(p.Data[i]).(peopleNamer)
		}
		if !ok {
			return nil
		}
		people = append(people, r.People()...)
	}
	if len(people) == 0 {
		return nil
	}
	if err := c.ResolvePeople(ctx, people); err != nil {
		return err
	}
	return p.Render()
}
