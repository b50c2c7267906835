package organizers

import (
	"context"
	"errors"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// reservedWrites is how many writes of a transaction are left to what every deletion adds.
const reservedWrites = 10

// remove deletes an organizer without tasks. Grants beyond what one transaction holds are deleted afterwards: until then they name
// a missing organizer, and give no right. No address below a missing organizer answers, so its audit entries are deleted too, and
// the log has the deletion.
func remove(ctx context.Context, c *api.Call, o *record.Organizer) error {
	c.Tx.Delete(o)
	tasks, err := records.DeleteTaskCount(ctx, c.Store, c.Tx, o.ID)
	switch {
	case err != nil:
		return err
	case tasks > 0:
		return problem.Conflict.New("The organizer still has tasks. Delete them first.")
	}
	atOnce := min(len(o.Members), store.MaxWrites-c.Tx.Len()-reservedWrites)
	c.Tx.DeleteKeys(o.MembershipKeys(o.Members[:atOnce])...)
	c.After(func(ctx context.Context) {
		c.Log.InfoContext(ctx, "organizer deleted", "organizer", o.ID, "name", o.Name, "user", c.Caller.ID)
		deleteRest(ctx, c, o.ID, o.Members[atOnce:])
	})
	return nil
}

// deleteRest deletes what still names a deleted organizer: grants of members, audit entries, and webhooks.
func deleteRest(ctx context.Context, c *api.Call, organizerID string, members []string) {
	d := records.Deletions{Store: c.Store}
	var err error
	for _, m := range members {
		err = errors.Join(err, d.Add(ctx, record.MembershipKey(m, organizerID)))
	}
	entries := store.Query{Partition: record.AuditPartition(organizerID), Limit: store.MaxWrites, Consistency: store.Strong}
	webhooks := store.Query{Partition: record.OrganizerKey(organizerID).Partition, From: record.WebhookPrefix, To: record.WebhookEnd,
		Limit: record.MaxWebhooks, Consistency: store.Strong}
	if err = errors.Join(err, d.AddFound(ctx, entries), d.AddFound(ctx, webhooks), d.Commit(ctx)); err != nil {
		c.Log.WarnContext(ctx, "grants, audit entries or webhooks of a deleted organizer are left", "organizer", organizerID, "error", err)
	}
}
