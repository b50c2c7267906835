package users

import (
	"context"
	"fmt"
	"hash/fnv"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/lists"
	"assay/shared/record"
	"assay/shared/visibility"
)

// userTarget is the target of operations about a user. Everyone may know of an id, because an id of no user is answered alike.
type userTarget string

// Scope implements api.Target.
func (id userTarget) Scope() access.Scope {
	return access.Scope{OwnerID: string(id), Audience: access.Everyone}
}

// userID is the user whom the path names: below /v1/user the caller.
func userID(_ context.Context, c *api.Call) (userTarget, error) {
	id := c.Param("userId")
	if id == "" {
		return userTarget(c.Caller.ID), nil
	}
	if !record.IsID(id) {
		return "", visibility.Missing
	}
	return userTarget(id), nil
}

// Current is the user who is logged in.
type Current struct {
	ID            string             `json:"id" doc:"id of the user, which comes from issuer and subject"`
	Name          string             `json:"name"`
	Email         string             `json:"email"`
	Known         bool               `json:"known" doc:"whether a profile is stored: true once the user changed something, or sent PATCH /v1/user"`
	Roles         []string           `json:"roles" doc:"roles on the whole platform: admin, worker"`
	Memberships   []UserMembership   `json:"memberships"`
	Registrations []UserRegistration `json:"registrations"`
}

// UserMembership is the user's place in an organizer.
type UserMembership struct {
	OrganizerID string `json:"organizerId"`
	Role        string `json:"role" enum:"owner,editor" doc:"owners decide on members, invite, and can delete the organizer"`
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
		Roles: []string{},
		Memberships: lists.Map(g.Memberships, func(m access.Membership) UserMembership {
			return UserMembership{OrganizerID: m.OrganizerID, Role: record.RoleName(m.Owner)}
		}),
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

// changeCurrent makes the caller known.
func changeCurrent(ctx context.Context, c *api.Call, u *Current, _ UserPatch) (*Current, error) {
	known := *u
	known.Known = true
	return &known, c.UpsertProfile(ctx)
}

// Revision is the number that an entity tag of the profile begins with.
func (p *Profile) Revision() int64 { return p.Version }
