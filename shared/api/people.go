package api

import (
	"context"

	"assay/shared/page"
	"assay/shared/record"
)

// peopleNamer is a resource that shows organizers the names of users next to their ids.
type peopleNamer interface{ People() []*record.Person }

// resolvePeople fills in names and addresses of the people in the resource.
func (c *Call) resolvePeople(ctx context.Context, resource any) error {
	if r, ok := resource.(peopleNamer); ok {
		return c.ResolvePeople(ctx, r.People())
	}
	return nil
}

// resolvePeopleOf fills in names and addresses of the people in the resources of the page.
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
