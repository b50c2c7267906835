package deletions

import (
	"context"
	"errors"
	"net/http"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
)

// DeletionShown is an entry of the trash that says whether the caller can restore its resource.
type DeletionShown struct {
	record.Deletion
	Refusal         *problem.Text   `json:"refusal,omitempty" doc:"why you cannot restore it now; absent if you can"`
	RestorableUntil *record.Instant `json:"restorableUntil,omitempty" doc:"until when you can restore it; absent if you cannot. Earlier than expiresAt if a dataset with finalRuns closes before: then only organizers can"`
}

// show renders an entry of the trash, with the outcome that restoring it now would have for the caller.
func show(ctx context.Context, c *api.Call, entry *record.DeletionItem) (v DeletionShown, err error) {
	if v.Deletion, err = api.ShowFor(ctx, c, entry); err != nil {
		return v, err
	}
	roles, err := c.Roles(ctx, entry.Scope())
	if err != nil {
		return v, err
	}
	attempt := *entry
	d := deleter(c)
	d.OutcomeOnly = true
	restoring, err := addRestore(ctx, c, d, new(records.Tx), &attempt, roles&(access.Organizer|access.Admin) != 0)
	if refused, ok := errors.AsType[*problem.Error](err); ok && refused.Kind.Status < http.StatusInternalServerError {
		v.Refusal = &refused.Text
		return v, nil
	}
	v.UnmarkedRunIDs = restoring.UnmarkedRunIDs
	v.RestorableUntil = restoring.Until
	return v, err
}
