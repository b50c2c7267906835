package users

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/lists"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
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
	Email         string             `json:"email" doc:"empty without a confirmed address"`
	EmailNotice   string             `json:"emailNotice,omitempty" doc:"what it means that you have no confirmed address, and what to do"`
	Known         bool               `json:"known" doc:"whether a profile is stored: true once the user changed something, or sent PATCH /v1/user"`
	Roles         []string           `json:"roles" doc:"roles on the whole platform: admin, worker"`
	Memberships   []UserMembership   `json:"memberships"`
	Registrations []UserRegistration `json:"registrations"`
}

// UserMembership is the user's place in an organizer.
type UserMembership struct {
	OrganizerID   string `json:"organizerId"`
	OrganizerName string `json:"organizerName,omitempty" doc:"name of the organizer; absent in the answer to a change"`
	Role          string `json:"role" enum:"owner,editor" doc:"owners decide on members, invite, and can delete the organizer"`
}

// UserRegistration is the user's place in a task.
type UserRegistration struct {
	TaskID         string                   `json:"taskId"`
	TaskName       string                   `json:"taskName,omitempty" doc:"name of the task, if you see it; absent in the answer to a change"`
	RegistrationID string                   `json:"registrationId"`
	Team           string                   `json:"team"`
	State          record.RegistrationState `json:"state" enum:"accepted,pending,rejected"`
}

// Scope implements api.Target.
func (u *Current) Scope() access.Scope {
	return access.Scope{OwnerID: u.ID, Audience: access.Everyone}
}

// Revision is a digest of all that is shown, because grants are added and removed without a version of their own. Names of organizers
// and tasks are not the user's: a change, which does not read them, finds the revision that was shown.
func (u *Current) Revision() int64 {
	own := *u
	own.Memberships = slices.Clone(u.Memberships)
	own.Registrations = slices.Clone(u.Registrations)
	for i := range own.Memberships {
		own.Memberships[i].OrganizerName = ""
	}
	for i := range own.Registrations {
		own.Registrations[i].TaskName = ""
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%#v", own)
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
	if email == "" {
		u.EmailNotice = record.NoAddress
	}
	if c.Caller.Admin {
		u.Roles = append(u.Roles, "admin")
	}
	if c.Caller.Worker {
		u.Roles = append(u.Roles, "worker")
	}
	return u, nil
}

// showCurrent adds the names of organizers, and of the tasks that the user sees: of a private one, a registration that is not accepted
// shows nothing.
func showCurrent(ctx context.Context, c *api.Call, u *Current) (*Current, error) {
	if f := c.Page.Fields; len(f) > 0 && !slices.Contains(f, "memberships") && !slices.Contains(f, "registrations") {
		return u, nil
	}
	organizers := make([]*record.Organizer, len(u.Memberships))
	tasks := make([]*record.TaskItem, len(u.Registrations))
	var all []records.Target
	for i, m := range u.Memberships {
		all = append(all, records.Into(&organizers[i], record.OrganizerKey(m.OrganizerID)))
	}
	for i, r := range u.Registrations {
		all = append(all, records.Into(&tasks[i], record.TaskKey(r.TaskID)))
	}
	if err := records.Read(ctx, c.Store, store.Eventual, all...); err != nil {
		return nil, err
	}
	rolesOf, err := c.RolesOf(ctx)
	if err != nil {
		return nil, err
	}
	for i, o := range organizers {
		if o != nil {
			u.Memberships[i].OrganizerName = o.Name
		}
	}
	for i, t := range tasks {
		if t != nil && access.Sees(rolesOf(t.Scope()), t.Scope().Audience) {
			u.Registrations[i].TaskName = t.Name
		}
	}
	return u, nil
}

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
