// Package allowance reads and changes what teams have used of the quota of a task (record.Allowance).
//
// The allowance of a team is stored under the id of its registration. That of a user is stored under the id of the user. It counts the
// user's baselines, and what the user has used in former teams, so that a change of teams does not reset the quota.
package allowance

import (
	"cmp"
	"context"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Of returns what a team has used, by the scope of its registration, of a submission or of a run. A team that has used nothing starts with
// CarriedOver. The result is nil if there is neither.
func Of(ctx context.Context, s store.Store, c store.Consistency, of access.Scope) (*record.Allowance, error) {
	a, err := records.Get[record.Allowance](ctx, s, c, record.AllowanceKey(of.TaskID, of.RegistrationID))
	if a != nil || err != nil {
		return a, err
	}
	return CarriedOver(ctx, s, c, of)
}

// Submitted is a submission or a run.
type Submitted interface {
	Scope() access.Scope
	Unregistered() bool
}

// OfSubmitted returns the allowance that counts a submission or a run. Without a registration, it is the allowance of the user.
func OfSubmitted(ctx context.Context, s store.Store, c store.Consistency, of Submitted) (*record.Allowance, error) {
	scope := of.Scope()
	if of.Unregistered() {
		return records.Get[record.Allowance](ctx, s, c, record.AllowanceKey(scope.TaskID, scope.OwnerID))
	}
	return Of(ctx, s, c, scope)
}

// CarriedOver returns what the owner in the scope has used in former teams of the task, also before the owner was deleted and signed in
// again. The result is nil for nothing.
func CarriedOver(ctx context.Context, s store.Store, c store.Consistency, of access.Scope) (*record.Allowance, error) {
	ids := []string{of.OwnerID, record.DeletedUser(of.TaskID, of.OwnerID)}
	all, err := records.GetAll[record.Allowance](ctx, s, c, lists.Map(ids, func(id string) store.Key {
		return record.AllowanceKey(of.TaskID, id)
	})...)
	for _, a := range all {
		if a.HasUsed() { // otherwise it counts only baselines
			return a, nil
		}
	}
	return nil, err
}

// OfTeam returns the allowance of the team with the registration, given the result of Of. If that is what the owner carried over, OfTeam
// returns a new allowance that begins with it, and adds to tx that only the baselines are left to the user. The caller saves the result.
func OfTeam(tx *records.Tx, a *record.Allowance, taskID, registrationID string, now time.Time) *record.Allowance {
	own := &record.Allowance{Meta: record.MetaOf(registrationID, now), TaskID: taskID}
	if a == nil || a.ID == registrationID {
		return cmp.Or(a, own)
	}
	own.CarryOver(a)
	own.Rejected = false
	if len(a.Runs) == 0 {
		tx.Delete(a)
	} else {
		tx.Save(&record.Allowance{Meta: a.Meta, TaskID: taskID, Waiting: a.Waiting, Runs: a.Runs}, now)
	}
	return own
}

// CarryOver adds to tx that users who leave a team carry over what it has used. A team that they make or join later begins with that.
func CarryOver(ctx context.Context, s store.Store, tx *records.Tx, used *record.Allowance, userIDs []string, now time.Time) error {
	if !used.HasUsed() {
		return nil
	}
	keys := records.Keys(userIDs, func(id string) store.Key { return record.AllowanceKey(used.TaskID, id) })
	all, err := records.GetAll[record.Allowance](ctx, s, store.Strong, keys...)
	if err != nil {
		return err
	}
	for i, id := range userIDs {
		a := cmp.Or(all[i], &record.Allowance{Meta: record.MetaOf(id, now), TaskID: used.TaskID})
		a.CarryOver(used)
		tx.Save(a, now)
	}
	return nil
}

// CarryOverDeleted is CarryOver for a user who is being deleted, in case the user signs in again. The key of the record is derived from the
// id of the user, and nobody finds the record who does not know that id.
func CarryOverDeleted(ctx context.Context, s store.Store, tx *records.Tx, used *record.Allowance, userID string, now time.Time) error {
	return CarryOver(ctx, s, tx, used, []string{record.DeletedUser(used.TaskID, userID)}, now)
}
