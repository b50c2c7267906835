package deletion

import (
	"context"
	"errors"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// grantsAtOnce is how many grants of members the transaction deletes that deletes an organizer. It also deletes the organizer and the
// count of its tasks, and has room for the writes that every request adds.
const grantsAtOnce = store.MaxWrites - record.TaskCountParts - 1 - 10

// DeleteOrganizer adds to tx that the organizer is deleted for good. An organizer with tasks stays: then the error is a Conflict. The
// caller calls SweepOrganizer after the commit: until then the remaining grants name a missing organizer, and give no right.
func (d Deleter) DeleteOrganizer(ctx context.Context, tx *records.Tx, o *record.Organizer) error {
	tx.Delete(o).DeleteKeys(o.MembershipKeys(o.Members[:min(grantsAtOnce, len(o.Members))])...)
	tasks, err := records.DeleteTaskCount(ctx, d.Store, tx, o.ID)
	if err == nil && tasks > 0 {
		return problem.Conflict.New("The organizer still has tasks. Delete them first.")
	}
	return err
}

// SweepOrganizer deletes the records that still name a deleted organizer: grants of members, webhooks, and audit entries, which nobody
// can read any more.
func (d Deleter) SweepOrganizer(ctx context.Context, o *record.Organizer) error {
	left := records.Deletions{Store: d.Store}
	var err error
	for _, key := range o.MembershipKeys(o.Members[min(grantsAtOnce, len(o.Members)):]) {
		err = errors.Join(err, left.Add(ctx, key))
	}
	entries := store.Query{Partition: record.AuditPartition(o.ID), Limit: store.MaxWrites, Consistency: store.Strong}
	webhooks := store.Query{Partition: o.Key().Partition, From: record.WebhookPrefix, To: record.WebhookEnd,
		Limit: record.MaxWebhooks, Consistency: store.Strong}
	return errors.Join(err, left.AddFound(ctx, entries), left.AddFound(ctx, webhooks), left.Commit(ctx))
}
