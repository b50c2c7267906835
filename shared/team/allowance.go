// Package team changes who is in a team, and says what it has used of the quota of its task. Several families do both, each in a
// transaction of its own.
package team

import (
	"cmp"
	"context"
	"time"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Allowance returns what counts for what is in the scope, of a run, a submission or a registration: the allowance of the team or,
// without one, of the user; nil when there is none. Where an earlier build stored that of the user alone, or the user had another team
// before, it is the user's until Own makes it the team's.
func Allowance(ctx context.Context, s store.Store, c store.Consistency, of access.Scope) (*record.Allowance, error) {
	a, err := records.Get[record.Allowance](ctx, s, c, record.AllowanceKey(of.TaskID, cmp.Or(of.RegistrationID, of.OwnerID)))
	switch {
	case a != nil || err != nil:
		return a, err
	case of.RegistrationID != "":
		return Former(ctx, s, c, of)
	}
	grant, err := records.Get[record.Registered](ctx, s, c, record.RegisteredKey(of.OwnerID, of.TaskID))
	if grant == nil || err != nil {
		return nil, err
	}
	return records.Get[record.Allowance](ctx, s, c, record.AllowanceKey(of.TaskID, grant.ID)) // of a run that an earlier build stored
}

// Former is Allowance for a team that is known to have none of its own.
func Former(ctx context.Context, s store.Store, c store.Consistency, of access.Scope) (*record.Allowance, error) {
	a, err := records.Get[record.Allowance](ctx, s, c, record.AllowanceKey(of.TaskID, of.OwnerID))
	if a != nil && !a.HasUsed() {
		a = nil // of the baselines of an organizer, who is registered too
	}
	return a, err
}

// Own returns the allowance as that of the team with the registration, a new one for nil, and adds to tx that the user's, if it is that,
// goes. The caller saves it.
func Own(tx *records.Tx, a *record.Allowance, taskID, registrationID string, now time.Time) *record.Allowance {
	own := record.Allowance{TaskID: taskID}
	switch {
	case a != nil && a.ID == registrationID:
		return a
	case a != nil:
		tx.Delete(a)
		own = *a
	}
	own.Meta = record.MetaOf(registrationID, now)
	return &own
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
