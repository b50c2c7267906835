package team

import (
	"cmp"
	"context"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// LeaveDeleted removes a user who is being deleted from the team. The replacement stands for the user among the former members. It adds
// to tx that the user carries over what the team has used, and whether it was rejected. The result is what the team has used; nil for
// nothing.
func LeaveDeleted(ctx context.Context, s store.Store, tx *records.Tx, r *record.RegistrationItem, userID, replacement string,
	now time.Time) (used *record.Allowance, err error) {
	if used, err = allowance.Of(ctx, s, store.Strong, r.Scope()); err != nil {
		return nil, err
	}
	had := *cmp.Or(used, &record.Allowance{TaskID: r.TaskID})
	had.Rejected = had.Rejected || r.State == record.Rejected
	r.Leave(userID)
	r.ReplaceFormer(userID, replacement)
	return used, allowance.CarryOverDeleted(ctx, s, tx, &had, userID, now)
}

// BelongsToOthers reports whether a submission of the user belongs to other people too: to other members of the team, or to the organizers
// if it is a baseline without a registration.
func BelongsToOthers(ctx context.Context, s store.Store, taskID, userID string, of record.AccessAttributes) (bool, error) {
	if of.RegistrationID == "" {
		return of.Baseline, nil
	}
	r, err := records.Get[record.RegistrationItem](ctx, s, store.Strong, record.RegistrationKey(taskID, of.RegistrationID))
	return r != nil && slices.ContainsFunc(r.Members, func(id string) bool { return id != userID }), err
}
