package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// UpsertProfile adds the caller's profile to c.Tx when the store does not have it as the sign-in issuer tells it.
func (c *Call) UpsertProfile(ctx context.Context) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	name, email := c.NameAndEmail(g.Profile)
	u := record.User{Meta: record.MetaOf(c.Caller.ID, c.Now())}
	if g.Profile != nil {
		u = *g.Profile
	}
	noted := c.Caller.Token == nil && u.SeeAdmin(c.Caller.Admin, c.Now()) // an access token says nothing of it
	switch same := g.Profile != nil && u.Name == name && u.Email == email; {
	case c.Tx.Writes(u.Key()), same && !noted:
	case same:
		c.Tx.Replace(&u) // nothing changes that is shown
	default:
		u.Name, u.Email = name, email
		c.Tx.Save(&u, c.Now())
	}
	return nil
}

// NameAndEmail returns what the caller's token says, and where it says nothing, as access tokens do, what the stored profile
// has; it may be nil.
func (c *Call) NameAndEmail(stored *record.User) (name, email string) {
	stored = cmp.Or(stored, new(record.User))
	return cmp.Or(c.Caller.Name, stored.Name, c.Caller.Username), cmp.Or(c.Caller.Email, stored.Email)
}

// Profiles reads the profiles of users, at most store.MaxKeys; nil for one who is not known, or is being deleted.
func (c *Call) Profiles(ctx context.Context, ids []string) ([]*record.User, error) {
	all, err := records.GetAll[record.User](ctx, c.Store, store.Strong, records.Keys(ids, record.UserKey)...)
	for i, u := range all {
		if u.Deleting() {
			all[i] = nil
		}
	}
	return all, err
}

// AddUsers checks users to whom c.Tx gives a grant of the kind each, at most store.MaxKeys. Others than the caller must be
// known and have fewer than kind.MaxAdded; their profiles are written unchanged, so that of two changes that add the same
// user one conflicts and counts again. pointer returns the JSON Pointer of a user's id in the body.
func (c *Call) AddUsers(ctx context.Context, kind record.GrantKind, users []string, pointer func(id string) string) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(users), func(id string) bool { return id == c.Caller.ID })
	if n := kind.Count(g); len(others) < len(users) && n >= kind.Max {
		return problem.Conflict.New("You have %d %s, which is the most. End one first (%s).", n, kind.Name, kind.End)
	}
	profiles, err := c.Profiles(ctx, others)
	if err != nil {
		return err
	}
	fields := make([]problem.Field, len(others))
	err = records.Concurrently(len(others), func(i int) error {
		fields[i].Pointer = pointer(others[i])
		if profiles[i] == nil {
			fields[i].Detail = others[i] + " is not the id of a known user"
			return nil
		}
		grants, err := c.Store.Query(ctx, store.Query{
			Partition: profiles[i].Key().Partition, From: kind.From, To: kind.To, Limit: kind.MaxAdded, Consistency: store.Strong,
		})
		if len(grants) == kind.MaxAdded {
			fields[i].Detail = fmt.Sprintf("%s has %d %s, and nobody else can add more", others[i], kind.MaxAdded, kind.Name)
		}
		return records.Failed(err)
	})
	if err != nil {
		return err
	}
	if fields = slices.DeleteFunc(fields, func(f problem.Field) bool { return f.Detail == "" }); len(fields) > 0 {
		return problem.Invalid.New("`errors` says which users cannot be added. Users find their ids in GET /v1/user, and administrators "+
			"others' by name in GET /v1/users. A user becomes known by a first change: ask for PATCH /v1/user with the body {} and the "+
			"Content-Type "+
			"application/merge-patch+json. One who has too many %s can end some: %s.", kind.Name, kind.End).With(fields...)
	}
	for _, u := range profiles {
		c.Tx.Replace(u)
	}
	return nil
}

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
