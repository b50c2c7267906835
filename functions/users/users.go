package users

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// somebodyID is the target of what is about a user: everyone may know of an id, for ids exist whoever has them.
type somebodyID string

// Scope implements api.Target.
func (id somebodyID) Scope() access.Scope {
	return access.Scope{OwnerID: string(id), Audience: access.Everyone}
}

func somebody(_ context.Context, c *api.Call) (somebodyID, error) {
	id := c.Param("userId")
	if !record.IsID(id) {
		return "", api.Missing
	}
	return somebodyID(id), nil
}

// Current is the user who is logged in.
type Current struct {
	ID            string             `json:"id" doc:"id of the user, which comes from issuer and subject"`
	Name          string             `json:"name"`
	Email         string             `json:"email"`
	Roles         []string           `json:"roles" nullable:"false" doc:"roles on the whole platform: admin, worker"`
	Memberships   []UserMembership   `json:"memberships" nullable:"false"`
	Registrations []UserRegistration `json:"registrations" nullable:"false"`
}

// UserMembership is the user's place in an organizer.
type UserMembership struct {
	OrganizerID string `json:"organizerId"`
}

// UserRegistration is the user's place in a task.
type UserRegistration struct {
	TaskID         string                   `json:"taskId"`
	RegistrationID string                   `json:"registrationId"`
	Team           string                   `json:"team"`
	State          record.RegistrationState `json:"state" enum:"accepted,pending,rejected"`
}

func current(ctx context.Context, c *api.Call, _ api.Open) (*Current, error) {
	g, err := c.Grants(ctx)
	if err != nil {
		return nil, err
	}
	u := &Current{
		ID: c.Caller.ID, Name: c.Caller.Name, Email: c.Caller.Email,
		Roles: []string{}, Memberships: []UserMembership{}, Registrations: []UserRegistration{},
	}
	if c.Caller.Admin {
		u.Roles = append(u.Roles, "admin")
	}
	if c.Caller.Worker {
		u.Roles = append(u.Roles, "worker")
	}
	for _, o := range g.Memberships {
		u.Memberships = append(u.Memberships, UserMembership{OrganizerID: o})
	}
	for _, r := range g.Registered {
		u.Registrations = append(u.Registrations, UserRegistration{TaskID: r.TaskID, RegistrationID: r.ID, Team: r.Team, State: r.State})
	}
	return u, nil
}

func list(ctx context.Context, c *api.Call, _ api.Open) (p page.Page[*record.User], err error) {
	sources := []table.Source{table.Partition(record.ByKind, record.OfKind(record.KindUser, access.Nobody)[0])}
	p.Data, p.Cursor, err = table.List[record.User](ctx, c.Store, table.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}, nil)
	return p, err
}

// show returns the profile; for a user who asks for the own one and never changed anything, what the token says.
func show(ctx context.Context, c *api.Call, id somebodyID) (*record.User, error) {
	u, err := table.Get[record.User](ctx, c.Store, store.Eventual, record.UserKey(string(id)))
	if err != nil {
		return nil, err
	}
	if u == nil && c.Caller.ID == string(id) {
		u = &record.User{Name: c.Caller.Name, Email: c.Caller.Email}
		u.ID = c.Caller.ID
	}
	if u == nil {
		return nil, api.Missing
	}
	return u, nil
}

func submissions(ctx context.Context, c *api.Call, id somebodyID) (p page.Page[record.Submission], err error) {
	g, err := c.Grants(ctx)
	if err != nil {
		return p, err
	}
	selection := table.Selection{Sources: c.VisibleOfUser(record.KindSubmission, string(id)), Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	found, next, err := table.List[record.SubmissionItem](ctx, c.Store, selection, nil)
	for _, s := range found {
		p.Data = append(p.Data, s.For(access.Roles(c.Caller, g.Grants, s.Scope())))
	}
	p.Cursor = next
	return p, err
}
