package team

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/storage/store"
)

var nameTaken = problem.Conflict.New("Another team of this task has this name, or one that differs only in case, width or spaces. " +
	"Choose another.")

var rejected = problem.Forbidden.New("The organizers rejected your registration before your account was deleted. Ask them for an " +
	"invitation to the task.")

// CheckRejected refuses the actor, now deleted and signed in again, whose registration for the task was rejected before. Organizers can
// invite such a user all the same.
func (c Change) CheckRejected(ctx context.Context, taskID string) error {
	had, err := allowance.CarriedOver(ctx, c.Store, store.Strong, access.Scope{TaskID: taskID, OwnerID: c.ActorID})
	if err == nil && had != nil && had.Rejected {
		err = rejected
	}
	return err
}

// CheckAccepted refuses what takes an accepted registration.
func CheckAccepted(state record.RegistrationState) error {
	switch state {
	case record.Accepted:
		return nil
	case record.Pending:
		return problem.Forbidden.New("Your registration waits for the organizers to accept it. Try again once they have.")
	default:
		return problem.Forbidden.New("The organizers rejected your registration. Ask them about it.")
	}
}

// Register adds to the transaction that the actor takes part in the task with a new team, and an audit entry. That the actor may, and can
// have one more registration, is the caller's to know.
func (c Change) Register(
	t *record.TaskItem, d record.RegistrationDraft, begins record.RegistrationState,
) (*record.RegistrationItem, error) {
	if d.UserID != "" && d.UserID != c.ActorID {
		return nil, problem.InvalidMember("/userId", "must be your own id, or absent: users register by themselves. To have somebody take part, "+
			"send them the link in the answer to %s", problem.CreateTaskInvitation.With(t.ID))
	}
	d.UserID = c.ActorID
	r := &record.RegistrationItem{OrganizerID: t.OrganizerID, Registration: record.Registration{
		Meta: record.NewMeta(c.Now), TaskID: t.ID, RegistrationDraft: d, Members: []string{c.ActorID}, State: begins,
	}}
	r.Alias = record.NewAlias(r.ID)
	if err := r.Accept(t, d.AcceptedTerms, r.CreatedAt); err != nil {
		return nil, err
	}
	c.Tx.Check(t) // the grant has the task's visibility
	c.Tx.Create(r)
	c.grant(t, r, c.ActorID)
	c.ReserveName(nil, r) // last: who asks twice is registered already, and need not choose another name
	c.Tx.Create(record.NewAudit(c.Now, r.Scope(), c.ActorID, record.RegistrationCreated, Path(r), nil, Decided{State: r.State}))
	return r, nil
}

// Decided is the part of a decision about a registration that an audit entry has.
type Decided struct {
	State record.RegistrationState `json:"state"`
}

// ReserveName adds to the transaction that the name of the team is reserved within the task if it is shown, and that the one which was
// reserved before is free.
func (c Change) ReserveName(was, is *record.RegistrationItem) {
	if was != nil {
		if slices.Equal(was.ReservedNames(), is.ReservedNames()) {
			return
		}
		c.Tx.DeleteKeys(was.ReservedNames()...)
	}
	for _, name := range is.ReservedNames() {
		c.Tx.Create(&record.Reservation{Meta: record.NewMeta(c.Now), At: name}).Or(nameTaken)
	}
}
