// Package team changes who is in a team, and says what it has used of the quota of its task. Several families do both, each in a
// transaction of its own.
package team

import (
	"cmp"
	"context"
	"slices"
	"time"

	"assay/shared/access"
	"assay/shared/lists"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Allowance returns what a team has used, by the scope of its registration, of a submission or of a run; nil for nothing. For a team
// without an allowance, it is Former.
func Allowance(ctx context.Context, s store.Store, c store.Consistency, of access.Scope) (*record.Allowance, error) {
	a, err := records.Get[record.Allowance](ctx, s, c, record.AllowanceKey(of.TaskID, of.RegistrationID))
	if a != nil || err != nil {
		return a, err
	}
	return Former(ctx, s, c, of)
}

// Submitted is a submission or a run.
type Submitted interface {
	Scope() access.Scope
	Unregistered() bool
}

// AllowanceOf returns the allowance that counts a submission or a run. Those without a registration count for their user.
func AllowanceOf(ctx context.Context, s store.Store, c store.Consistency, of Submitted) (*record.Allowance, error) {
	scope := of.Scope()
	if of.Unregistered() {
		return records.Get[record.Allowance](ctx, s, c, record.AllowanceKey(scope.TaskID, scope.OwnerID))
	}
	return Allowance(ctx, s, c, scope)
}

// Former returns what the user in the scope used in a former team of the task, or before the user was deleted; nil for nothing.
func Former(ctx context.Context, s store.Store, c store.Consistency, of access.Scope) (*record.Allowance, error) {
	ids := []string{of.OwnerID, record.DeletedUser(of.TaskID, of.OwnerID)}
	all, err := records.GetAll[record.Allowance](ctx, s, c, lists.Map(ids, func(id string) store.Key {
		return record.AllowanceKey(of.TaskID, id)
	})...)
	for _, a := range all {
		if a.HasUsed() { // others are of the baselines of an organizer, who is registered too
			return a, nil
		}
	}
	return nil, err
}

// Own returns the allowance of the team with the registration: a if it is the team's, otherwise a new one. The new one takes over what its
// user used in a former team, for which a stands; tx leaves the baselines with the user. The caller saves the result.
func Own(tx *records.Tx, a *record.Allowance, taskID, registrationID string, now time.Time) *record.Allowance {
	own := &record.Allowance{Meta: record.MetaOf(registrationID, now), TaskID: taskID}
	if a == nil || a.ID == registrationID {
		return cmp.Or(a, own)
	}
	own.Remember(a)
	own.Rejected = false
	if len(a.Runs) == 0 {
		tx.Delete(a)
	} else {
		tx.Save(&record.Allowance{Meta: a.Meta, TaskID: taskID, Waiting: a.Waiting, Runs: a.Runs}, now)
	}
	return own
}

// Remember adds to tx that what the team has used counts for users who no longer are of it: a team that they make next begins with it.
func Remember(ctx context.Context, s store.Store, tx *records.Tx, used *record.Allowance, userIDs []string, now time.Time) error {
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
		a.Remember(used)
		tx.Save(a, now)
	}
	return nil
}

// LeaveForGood has a user who is deleted leave the team, in which the replacement stands for the user from then on. It adds to tx that what
// the team has used, and that it was rejected, counts for the user who signs in again, and returns what the team has used; nil for nothing.
func LeaveForGood(ctx context.Context, s store.Store, tx *records.Tx, r *record.RegistrationItem, userID, replacement string,
	now time.Time) (used *record.Allowance, err error) {
	if used, err = Allowance(ctx, s, store.Strong, r.Scope()); err != nil {
		return nil, err
	}
	had := *cmp.Or(used, &record.Allowance{TaskID: r.TaskID})
	had.Rejected = had.Rejected || r.State == record.Rejected
	r.Leave(userID)
	r.ReplaceFormer(userID, replacement)
	return used, Outlive(ctx, s, tx, &had, userID, now)
}

// Outlive is Remember for a user who is deleted and signs in again. Nobody finds what is kept who does not know the id of the user.
func Outlive(ctx context.Context, s store.Store, tx *records.Tx, used *record.Allowance, userID string, now time.Time) error {
	return Remember(ctx, s, tx, used, []string{record.DeletedUser(used.TaskID, userID)}, now)
}

// IsOfOthers reports whether what a user submitted is of others too: of other members of the team or, as a baseline without a registration,
// of the organizers.
func IsOfOthers(ctx context.Context, s store.Store, taskID, userID string, of record.AccessAttributes) (bool, error) {
	if of.RegistrationID == "" {
		return of.Baseline, nil
	}
	r, err := records.Get[record.RegistrationItem](ctx, s, store.Strong, record.RegistrationKey(taskID, of.RegistrationID))
	return r != nil && slices.ContainsFunc(r.Members, func(id string) bool { return id != userID }), err
}
