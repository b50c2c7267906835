package api

import (
	"cmp"
	"context"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// UpsertProfile adds the caller's profile to c.Tx if the stored profile differs from what the issuer says.
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
	noted := c.Caller.Token == nil && u.SeeAdmin(c.Caller.Admin, c.Now()) // access tokens do not say whether their user is an admin
	switch same := g.Profile != nil && u.Name == name && u.ConfirmedAddress() == email; {
	case c.Tx.Writes(u.Key()), same && !noted:
	case same:
		c.Tx.Replace(&u) // without a new revision, because nothing visible changes
	default:
		u.Name = name
		u.Email = email
		u.EmailConfirmed = email != ""
		c.Tx.Save(&u, c.Now())
	}
	return nil
}

// NameAndEmail returns the name and confirmed address in the caller's token. Values that the token lacks come from the stored profile,
// which may be nil. Access tokens have neither value.
func (c *Call) NameAndEmail(stored *record.User) (name, email string) {
	stored = cmp.Or(stored, new(record.User))
	name = cmp.Or(c.Caller.Name, stored.Name, c.Caller.Username)
	if c.Caller.EmailRefused {
		return name, ""
	}
	return name, cmp.Or(c.Caller.Email, stored.ConfirmedAddress())
}

// Profiles reads the profiles of users. An entry is nil if the user has no profile or is being deleted.
func (c *Call) Profiles(ctx context.Context, ids []string) ([]*record.User, error) {
	all, err := records.GetAll[record.User](ctx, c.Store, store.Strong, records.Keys(ids, record.UserKey)...)
	for i, u := range all {
		if u.Deleting() {
			all[i] = nil
		}
	}
	return all, err
}

// peopleNamer is a resource that shows the names of users next to their ids to organizers.
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
	if _, ok := any(*new(R)).(peopleNamer); !ok {
		return nil
	}
	var people []*record.Person
	for i := range p.Data {
		r, ok := any(&p.Data[i]).(peopleNamer) // the pointer avoids a copy
		if !ok {
			r, ok = any(p.Data[i]).(peopleNamer) // resources that are pointers themselves
		}
		if ok {
			people = append(people, r.People()...)
		}
	}
	if len(people) == 0 {
		return nil
	}
	if err := c.ResolvePeople(ctx, people); err != nil {
		return err
	}
	return p.Render()
}
