package deletions

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/deletion"
)

// remove removes an entry of the trash, which restores its resource. If the request ends before that, the background worker continues.
func remove(ctx context.Context, c *api.Call, entry *record.DeletionItem) error {
	d := deletion.Deleter{Store: c.Store, Now: c.Now, WaitingRuns: c.Rates.Limits().WaitingRuns}
	restore := d.RestoreForTeam
	switch {
	case c.Organizes():
		restore = d.Restore
	case entry.ByOrganizers:
		return problem.Forbidden.New("The organizers deleted this %s, so only they can restore it. Ask them.", entry.Kind)
	}
	if err := restore(ctx, c.Tx, entry, c.Caller.ID); err != nil {
		return err
	}
	c.Propagate(d.Continue, entry.Key())
	return c.UpsertProfile(ctx)
}
