// Package team changes who is in a team. Several families do so, each in a transaction of its own.
package team

import (
	"context"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// maxEver is how many users have been members of one team at most: their lists are read when the team changes its name.
const maxEver = 4 * record.MaxTeam

// Registered is the answer to a user who is about to be in a second team of a task.
var Registered error = problem.Conflict.New("You are in a team of this task already, and can be in only one. To leave that "+
	"team: %s. Its only member deletes the team's submissions and withdraws its registration instead: %s. If the organizers "+
	"rejected the team, only they can change who is in it: ask them.", problem.DeleteTeamMember.With(), problem.DeleteRegistration.With())

// Change changes the members of a team in one transaction. The transaction conflicts if the registration or the task has changed since
// it was read, or the change is propagated to the new member.
type Change struct {
	Store   store.Store
	Tx      *records.Tx
	Now     time.Time
	ActorID string // who makes it
	// Ended is an ended grant of the user for the task, which the grant of Register or Join replaces. It is nil if the user has none.
	Ended *record.Registered
}

// Path is where the registration is served.
func Path(r *record.RegistrationItem) string {
	return "/v1/tasks/" + r.TaskID + "/registrations/" + r.ID
}

// ErrNobodyJoins means that the organizers rejected the team.
var ErrNobodyJoins = problem.Conflict.New("The organizers rejected this team's registration, so nobody can join it. Ask them about it.")

// Join adds to the transaction that the user becomes a member of the team, with a grant and an audit entry. That the user agreed, and
// can have one more registration, is the caller's to know. The team is registered already, so its members can change until the task takes
// no more submissions of it.
func (c Change) Join(ctx context.Context, t *record.TaskItem, r *record.RegistrationItem, userID string) error {
	ever := len(r.FormerIDs) + len(r.Members)
	switch {
	case r.State == record.Rejected:
		return ErrNobodyJoins
	case slices.Contains(r.Members, userID):
		return Registered
	case len(r.Members) >= record.MaxTeam || ever >= maxEver:
		return problem.Conflict.New("A team has at most %d members, and at most %d who were members at any time. Ask its owner to remove "+
			"somebody, or take part with a team of your own.", record.MaxTeam, maxEver)
	}
	used, err := allowance.Of(ctx, c.Store, store.Strong, r.Scope())
	if err != nil {
		return err
	}
	closed, err := Closed(ctx, c.Store, t, used, c.Now)
	if err != nil {
		return err
	}
	if err := record.CheckWindow("Submission by this team, and joining it,", nil, closed, c.Now); err != nil {
		return err
	}
	if err := c.expect(ctx, r.TaskID, userID); err != nil { // leaving another team changes it
		return err
	}
	of := r.Scope()
	of.OwnerID = userID
	had, err := allowance.CarriedOver(ctx, c.Store, store.Strong, of)
	switch {
	case err != nil:
		return err
	case had != nil && had.Rejected:
		return rejected
	}
	if used == nil || used.ID != r.ID || had != nil { // a team of several has its own, with what the user used in a former team
		own := allowance.OfTeam(c.Tx, used, r.TaskID, r.ID, c.Now)
		if had != nil {
			own.CarryOver(had)
		}
		c.Tx.Save(own, c.Now)
	}
	joined := *r
	joined.Members = append(slices.Clone(r.Members), userID)
	c.Tx.Check(t) // the grant has the task's visibility
	c.grant(t, &joined, userID)
	c.save(&joined, nil, []string{userID})
	return nil
}

// expect adds the condition to the transaction that the allowance of a user or a registration does not change. Read the allowance after it.
func (c Change) expect(ctx context.Context, taskID, id string) error {
	key := record.AllowanceKey(taskID, id)
	a, err := records.Get[record.Allowance](ctx, c.Store, store.Strong, key)
	if a == nil {
		c.Tx.CheckAbsent(key)
	} else {
		c.Tx.Check(a)
	}
	return err
}

// Leave adds the writes to the transaction by which a member leaves the team, or is removed. The team's usage of the quota also counts for
// the user in another team.
func (c Change) Leave(ctx context.Context, r *record.RegistrationItem, userID string) error {
	switch {
	case len(r.Members) == 1:
		return problem.Conflict.New("This is the last member of the team: withdraw its registration instead (%s).",
			problem.DeleteRegistration.With(r.TaskID, r.ID))
	case userID == r.UserID:
		return problem.Conflict.New("This is the owner of the team: hand it over to another member first ({userId} of %s).",
			problem.UpdateRegistration.With(r.TaskID, r.ID))
	}
	if err := c.expect(ctx, r.TaskID, r.ID); err != nil { // submissions change it
		return err
	}
	used, err := allowance.Of(ctx, c.Store, store.Strong, r.Scope())
	if err != nil {
		return err
	}
	if used != nil {
		if err := allowance.CarryOver(ctx, c.Store, c.Tx, used, []string{userID}, c.Now); err != nil {
			return err
		}
	}
	left := *r
	left.Leave(userID)
	if userID != c.ActorID {
		left.InvitationEpoch++
	}
	if err := c.endGrants(ctx, r, true, userID); err != nil {
		return err
	}
	c.save(&left, []string{userID}, nil)
	return nil
}

// Withdraw adds the writes to the transaction that delete the registration with the grants of all members. The registration must have no
// submissions. Its usage of the quota is kept, so that registering again gives nothing back.
func (c Change) Withdraw(ctx context.Context, r *record.RegistrationItem) error {
	c.Tx.Delete(r).DeleteKeys(r.ReservedNames()...)
	if err := c.endGrants(ctx, r, false, r.Members...); err != nil {
		return err
	}
	used, err := allowance.Of(ctx, c.Store, store.Strong, r.Scope())
	switch {
	case err != nil:
		return err
	case used == nil:
		c.Tx.CheckAbsent(record.AllowanceKey(r.TaskID, r.ID))
	case used.Submissions > 0:
		return problem.Conflict.New("There are submissions under this registration. Delete them first.")
	case used.ID == r.ID:
		c.Tx.Delete(used)
		if err := propagation.DropExtensions(ctx, c.Store, c.Tx, r.TaskID, c.Now, used.Exceptions...); err != nil {
			return err
		}
		return allowance.CarryOver(ctx, c.Store, c.Tx, used, r.Members, c.Now)
	default:
		c.Tx.Check(used)
	}
	return nil
}

func (c Change) save(r *record.RegistrationItem, left, joined []string) {
	entry := record.NewAudit(c.Now, r.Scope(), c.ActorID, record.MembersChanged, Path(r), left, joined, slices.Concat(left, joined)...)
	c.Tx.Save(r, c.Now).Create(entry)
}
