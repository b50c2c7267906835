package registrations

import (
	"cmp"
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
)

// initialState says in which state a registration begins, or why there can be none.
func initialState(c *api.Call, t *record.TaskItem, organizer, other bool) (record.RegistrationState, error) {
	if t.Deleting() {
		return "", problem.Conflict.New("The task is being deleted.")
	}
	if organizer {
		return record.Accepted, nil
	}
	if other {
		return "", problem.Forbidden.New("Only organizers of the task can register somebody else: leave userId out to register yourself.")
	}
	rules := t.Registration
	if err := record.CheckWindow("Registration", rules.OpensAt, rules.ClosesAt, c.Now()); err != nil {
		return "", err
	}
	switch rules.Mode {
	case record.Closed:
		return "", problem.Forbidden.New("Registration for this task is closed: ask its organizers to register you. Your user id is %s.",
			c.Caller.ID)
	case record.Approval:
		return record.Pending, nil
	default:
		return record.Accepted, nil
	}
}

// The problems of registrations that conflict with stored ones.
var (
	registeredAlready = problem.Conflict.New("The user is registered for this task already; one registration is all that a user has in a " +
		"task.")
	nameTaken = problem.Conflict.New("Another team of this task has this name, or one that differs only in case, width or spaces. " +
		"Choose another.")
)

func create(ctx context.Context, c *api.Call, t *record.TaskItem, d record.RegistrationDraft) (at string, shown *record.Registration,
	err error) {
	roles, err := c.Roles(ctx, t.Scope())
	if err != nil {
		return "", nil, err
	}
	d.UserID = cmp.Or(d.UserID, c.Caller.ID)
	begins, err := initialState(c, t, roles&(access.Organizer|access.Admin) != 0, d.UserID != c.Caller.ID)
	if err != nil {
		return "", nil, err
	}
	r := &record.RegistrationItem{OrganizerID: t.OrganizerID, Added: d.UserID != c.Caller.ID, Registration: record.Registration{
		Meta: record.NewMeta(c.Now()), TaskID: t.ID, RegistrationDraft: d, State: begins,
	}}
	r.Alias = record.NewAlias(r.ID)
	c.Tx.Create(r).Create(grantOf(r, t.Visibility == record.Private)).Or(registeredAlready)
	reserveName(c, nil, r) // last: who asks twice is registered already, and need not choose another name
	if err := c.AddUsers(ctx, record.RegistrationGrants, []string{d.UserID}, func(string) string { return "/userId" }); err != nil {
		return "", nil, err
	}
	c.Tx.Create(record.NewAudit(c.Now(), r.Scope(), c.Caller.ID, record.RegistrationCreated, path(r), nil, decided{r.State}))
	if err := c.Charge(ctx, record.Charge{Kind: record.MadeRegistrations, Count: 1}); err != nil {
		return "", nil, err
	}
	return path(r), r.For(roles), c.UpsertProfile(ctx)
}

func path(r *record.RegistrationItem) string {
	return "/v1/tasks/" + r.TaskID + "/registrations/" + r.ID
}

// decided is the part of a decision that an audit entry has.
type decided struct {
	State record.RegistrationState `json:"state"`
}

// grantOf returns the grant in the user's partition that belongs to the registration.
func grantOf(r *record.RegistrationItem, private bool) *record.Registered {
	return &record.Registered{
		Meta: r.Meta, UserID: r.UserID, TaskID: r.TaskID, OrganizerID: r.OrganizerID, PrivateTask: private,
		Team: r.Team, Alias: r.Alias, Anonymous: r.Anonymous, Affiliation: r.Affiliation, State: r.State, Added: r.Added,
	}
}

// reserveName adds to c.Tx that the name of the team is reserved within the task if it is shown, and that the one which was
// reserved before is free.
func reserveName(c *api.Call, was, is *record.RegistrationItem) {
	name, reserved := is.ReservedName()
	if was != nil {
		if old, held := was.ReservedName(); held && reserved && old == name {
			return
		} else if held {
			c.Tx.DeleteKey(old)
		}
	}
	if reserved {
		c.Tx.Create(&record.Reservation{Meta: record.NewMeta(c.Now()), At: name}).Or(nameTaken)
	}
}
