package users

import (
	"context"
	"fmt"
	"hash/fnv"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/lists"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
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
		return "", visibility.Missing
	}
	return somebodyID(id), nil
}

// Current is the user who is logged in.
type Current struct {
	ID            string             `json:"id" doc:"id of the user, which comes from issuer and subject: what organizers add the user by"`
	Name          string             `json:"name"`
	Email         string             `json:"email"`
	Known         bool               `json:"known" doc:"whether others can name the user as a member of an organizer or register the user for a task: true once the user changed something, or sent PATCH /v1/user"`
	Roles         []string           `json:"roles" doc:"roles on the whole platform: admin, worker"`
	Memberships   []UserMembership   `json:"memberships"`
	Registrations []UserRegistration `json:"registrations"`
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

// Scope implements api.Target.
func (u *Current) Scope() access.Scope {
	return access.Scope{OwnerID: u.ID, Audience: access.Everyone}
}

// Revision is a digest of all that is shown, because grants are added and removed without a version of their own.
func (u *Current) Revision() int64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%#v", *u)
	return int64(h.Sum64() >> 1)
}

func current(ctx context.Context, c *api.Call) (*Current, error) {
	g, err := c.Grants(ctx)
	if err != nil {
		return nil, err
	}
	name, email := c.NameAndEmail(g.Profile)
	u := &Current{
		ID: c.Caller.ID, Name: name, Email: email, Known: g.Profile != nil,
		Roles:       []string{},
		Memberships: lists.Map(g.Memberships, func(o string) UserMembership { return UserMembership{OrganizerID: o} }),
		Registrations: lists.Map(g.Registered, func(r record.Registered) UserRegistration {
			return UserRegistration{TaskID: r.TaskID, RegistrationID: r.ID, Team: r.Team, State: r.State}
		}),
	}
	if c.Caller.Admin {
		u.Roles = append(u.Roles, "admin")
	}
	if c.Caller.Worker {
		u.Roles = append(u.Roles, "worker")
	}
	return u, nil
}

func showCurrent(_ context.Context, _ *api.Call, u *Current) (*Current, error) { return u, nil }

// UserPatch has no members: name and email are the sign-in issuer's, the rest is given by other operations.
type UserPatch struct{}

// become makes the caller known.
func become(ctx context.Context, c *api.Call, u *Current, _ UserPatch) (*Current, error) {
	known := *u
	known.Known = true
	return &known, c.UpsertProfile(ctx)
}

// Profile is what is known of a user.
type Profile struct {
	ID        string          `json:"id" doc:"id of the user, which comes from issuer and subject"`
	Name      string          `json:"name" doc:"as the sign-in issuer told last"`
	Email     string          `json:"email" doc:"as the sign-in issuer told last"`
	CreatedAt *record.Instant `json:"createdAt,omitempty" doc:"when the user first changed something; absent before"`
	UpdatedAt *record.Instant `json:"updatedAt,omitempty" doc:"when name or email last changed"`
	Version   int64           `json:"version" doc:"grows by one with each change; 0 before the user first changed something"`
}

// Revision is the number that an entity tag of the profile begins with.
func (p *Profile) Revision() int64 { return p.Version }

func profile(u *record.User) *Profile {
	return &Profile{ID: u.ID, Name: u.Name, Email: u.Email, CreatedAt: &u.CreatedAt, UpdatedAt: &u.UpdatedAt, Version: u.Version}
}

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (page.Page[*Profile], error) {
	sources := []records.Source{records.Partition(record.ByKind, record.KindPartitions(record.KindUser, access.Nobody)[0])}
	keep := func(u *record.User) bool { return c.Page.KeepsText("name", u.Name) }
	return api.PageOf(ctx, c, sources, keep, profile)
}

// show returns the profile; to a user who never changed anything, of whom nothing is stored, what the token says.
func show(ctx context.Context, c *api.Call, id somebodyID) (*Profile, error) {
	u, err := records.Get[record.User](ctx, c.Store, store.Eventual, record.UserKey(string(id)))
	switch {
	case err != nil:
		return nil, err
	case u != nil:
		return profile(u), nil
	case c.Caller.ID == string(id):
		name, email := c.NameAndEmail(nil)
		return &Profile{ID: c.Caller.ID, Name: name, Email: email}, nil
	default:
		return nil, visibility.Missing
	}
}

func submissions(ctx context.Context, c *api.Call, id somebodyID) (p page.Page[record.Submission], err error) {
	g, err := c.Grants(ctx)
	if err != nil {
		return p, err
	}
	keep := func(s *record.SubmissionItem) bool { return c.Page.Keeps("taskId", s.TaskID) }
	return api.PageOf(ctx, c, c.VisibleOfUser(record.KindSubmission, string(id)), keep, func(s *record.SubmissionItem) record.Submission {
		return s.For(access.Roles(c.Caller, g.Grants, s.Scope()))
	})
}
