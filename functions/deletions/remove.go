package deletions

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/deletion"
	"assay/shared/service/records"
)

// remove removes an entry of the trash, which restores its resource. If the request ends before that, the background worker continues.
func remove(ctx context.Context, c *api.Call, entry *record.DeletionItem) error {
	d := deleter(c)
	if _, err := addRestore(ctx, c, d, c.Tx, entry, c.Organizes()); err != nil {
		return err
	}
	c.Propagate(d.Continue, entry.Key())
	return c.UpsertProfile(ctx)
}

func deleter(c *api.Call) deletion.Deleter {
	return deletion.Deleter{Store: c.Store, Now: c.Now, WaitingRuns: c.Rates.Limits().WaitingRuns}
}

// addRestore adds to tx that the caller restores the resource of the entry, and describes that. The error is a problem if the caller may
// not restore the resource now.
func addRestore(ctx context.Context, c *api.Call, d deletion.Deleter, tx *records.Tx, entry *record.DeletionItem,
	organizes bool) (deletion.Restoring, error) {
	switch {
	case organizes:
		return d.Restore(ctx, tx, entry, c.Caller.ID)
	case entry.ByOrganizers:
		return deletion.Restoring{}, problem.Forbidden.New("The organizers deleted this %s, so only they can restore it. Ask them.", entry.Kind)
	default:
		return d.RestoreForTeam(ctx, tx, entry, c.Caller.ID)
	}
}
