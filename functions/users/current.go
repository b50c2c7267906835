package users

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/service/deletion"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// userTarget is the target of operations about a user. Everyone sees the target, because answers do not tell whether the user exists.
type userTarget string

// Scope implements api.Target.
func (id userTarget) Scope() access.Scope {
	return access.Scope{OwnerID: string(id), Audience: access.Everyone}
}

// userID returns the user that the path names. Below /v1/user it is the caller.
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

// Current describes the caller.
type Current struct {
	ID            string             `json:"id" doc:"id of the user, derived from issuer and subject"`
	Name          string             `json:"name"`
	Email         string             `json:"email" doc:"empty without a confirmed address"`
	EmailNotice   string             `json:"emailNotice,omitempty" doc:"consequences of having no confirmed address, and how to get one"`
	Known         bool               `json:"known" doc:"whether a profile is stored: true after the user changed something, or sent PATCH /v1/user"`
	Roles         []string           `json:"roles" doc:"roles on the whole platform: admin, worker"`
	Memberships   []UserMembership   `json:"memberships"`
	Registrations []UserRegistration `json:"registrations"`
	Ended         []UserEnded        `json:"endedRegistrations,omitempty" doc:"teams in which somebody else ended your part within the last 30 days, unless you take part in the task again"`
	DeletedTasks  []UserDeletedTask  `json:"deletedTasks,omitempty" doc:"tasks that you were registered for and that their organizers have deleted, until they are purged; absent in the answer to a change"`
}

// UserMembership is a membership of the user in an organizer.
type UserMembership struct {
	OrganizerID   string `json:"organizerId"`
	OrganizerName string `json:"organizerName,omitempty" doc:"name of the organizer; absent in the answer to a change"`
	Role          string `json:"role" enum:"owner,editor" doc:"owners decide on members, invite, and can delete the organizer"`
}

// UserRegistration is a registration of the user for a task.
type UserRegistration struct {
	TaskID         string                   `json:"taskId"`
	TaskName       string                   `json:"taskName,omitempty" doc:"name of the task, if you see it; absent in the answer to a change"`
	RegistrationID string                   `json:"registrationId"`
	Team           string                   `json:"team"`
	State          record.RegistrationState `json:"state" enum:"accepted,pending,rejected"`
}

// UserEnded is the user's former part in a team, which another person ended.
type UserEnded struct {
	TaskID       string         `json:"taskId"`
	TaskName     string         `json:"taskName,omitempty" doc:"name of the task, if you see it or took part in it; absent in the answer to a change"`
	Team         string         `json:"team"`
	ByOrganizers bool           `json:"byOrganizers" doc:"whether the organizers ended it; otherwise the owner of the team did"`
	Removed      bool           `json:"removed" doc:"whether you were removed from the team, which stays; otherwise its registration was deleted"`
	EndedAt      record.Instant `json:"endedAt"`

	accepted bool
}

// UserDeletedTask is a deleted task that the user was registered for.
type UserDeletedTask struct {
	TaskID   string `json:"taskId"`
	TaskName string `json:"taskName,omitempty" doc:"name of the task, if you saw it before"`
	Team     string `json:"team"`

	RestorableUntil *record.Instant `json:"restorableUntil,omitempty" doc:"until when the organizers can restore it; absent if nobody can any more, for example because the organizer was deleted"`
}

// Scope implements api.Target.
func (u *Current) Scope() access.Scope {
	return access.Scope{OwnerID: u.ID, Audience: access.Everyone}
}

// Revision returns a digest of the answer, because adding and removing grants changes no version. It leaves out the names of organizers and
// tasks, and deleted tasks. A change does not read these, and must find the same revision as the answer to a GET.
func (u *Current) Revision() int64 {
	own := *u
	own.Memberships = slices.Clone(u.Memberships)
	own.Registrations = slices.Clone(u.Registrations)
	own.Ended = slices.Clone(u.Ended)
	own.DeletedTasks = nil
	for i := range own.Memberships {
		own.Memberships[i].OrganizerName = ""
	}
	for i := range own.Registrations {
		own.Registrations[i].TaskName = ""
	}
	for i := range own.Ended {
		own.Ended[i].TaskName = ""
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
		Ended: lists.Map(g.Ended, func(r record.Registered) UserEnded {
			return UserEnded{TaskID: r.TaskID, Team: r.Team, ByOrganizers: r.Ended.ByOrganizers, Removed: r.Ended.Removed, EndedAt: r.Ended.At,
				accepted: r.State == record.Accepted}
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

// showCurrent adds deleted tasks, the names of organizers, and the names of the tasks that the user sees. A registration that is not
// accepted does not show the name of a private task.
func showCurrent(ctx context.Context, c *api.Call, u *Current) (*Current, error) {
	asks := func(member string) bool { return len(c.Page.Fields) == 0 || slices.Contains(c.Page.Fields, member) }
	if asks("deletedTasks") {
		var err error
		if u.DeletedTasks, err = deletedTasks(ctx, c, u.ID); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc([]string{"memberships", "registrations", "endedRegistrations"}, asks) {
		return u, nil
	}
	organizers := make([]*record.Organizer, len(u.Memberships))
	tasks := make([]*record.TaskItem, len(u.Registrations))
	endedIn := make([]*record.TaskItem, len(u.Ended))
	var all []records.Target
	for i, m := range u.Memberships {
		all = append(all, records.Into(&organizers[i], record.OrganizerKey(m.OrganizerID)))
	}
	for i, r := range u.Registrations {
		all = append(all, records.Into(&tasks[i], record.TaskKey(r.TaskID)))
	}
	for i, e := range u.Ended {
		all = append(all, records.Into(&endedIn[i], record.TaskKey(e.TaskID)))
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
	sees := func(t *record.TaskItem) bool { return t != nil && access.Sees(rolesOf(t.Scope()), t.Scope().Audience) }
	for i, t := range tasks {
		if sees(t) {
			u.Registrations[i].TaskName = t.Name
		}
	}
	for i, t := range endedIn {
		if sees(t) || t != nil && u.Ended[i].accepted {
			u.Ended[i].TaskName = t.Name
		}
	}
	return u, nil
}

// deletedTasks returns the deleted tasks that the user was registered for. Like the tasks of registrations, each has its name if the user
// saw it.
func deletedTasks(ctx context.Context, c *api.Call, userID string) ([]UserDeletedTask, error) {
	found, err := deletion.DeletedTasks(ctx, c.Store, userID)
	if err != nil {
		return nil, err
	}
	return lists.Map(found, func(d deletion.DeletedTask) UserDeletedTask {
		shown := UserDeletedTask{TaskID: d.ID, Team: d.Grant.Team, RestorableUntil: d.RestorableUntil}
		if d.Visibility == record.Public || d.Grant.State == record.Accepted {
			shown.TaskName = d.Name
		}
		return shown
	}), nil
}

// UserPatch has no members. Name and email come from the sign-in issuer, and other operations change the rest.
type UserPatch struct{}

// changeCurrent stores the profile of the caller.
func changeCurrent(ctx context.Context, c *api.Call, u *Current, _ UserPatch) (*Current, error) {
	known := *u
	known.Known = true
	return &known, c.UpsertProfile(ctx)
}

// Revision returns the number at the start of the entity tag.
func (p *Profile) Revision() int64 { return p.Version }
