package records

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"assay/shared/domain/record"
	"assay/shared/storage/store"
)

// nextPart chooses the parts of counts in turn, starting with a random one. Up to record.TaskCountParts concurrent attempts of one
// process therefore use different parts.
var nextPart atomic.Uint64

func init() { nextPart.Store(rand.Uint64()) } //nolint:gosec // which part is no secret

// CountTasks adds n to the organizer's task count in tx; n can be negative. Each attempt of a change uses another part of the count, so
// that concurrent changes seldom conflict.
func CountTasks(ctx context.Context, s store.Store, tx *Tx, now time.Time, organizerID string, n int) error {
	part := int(nextPart.Add(1) % record.TaskCountParts)
	count, err := Get[record.TaskCount](ctx, s, store.Strong, record.TaskCountKey(organizerID, part))
	if err != nil {
		return err
	}
	count = cmp.Or(count, &record.TaskCount{Meta: record.MetaOf(organizerID, now), Part: part})
	count.Tasks += n
	tx.Save(count, now)
	return nil
}

// DeleteTaskCount adds the deletion of the organizer's task count to tx, and returns the count. Tasks that are created meanwhile
// conflict with tx.
func DeleteTaskCount(ctx context.Context, s store.Store, tx *Tx, organizerID string) (tasks int, err error) {
	keys := record.TaskCountKeys(organizerID)
	parts, err := GetAll[record.TaskCount](ctx, s, store.Strong, keys...)
	for i, part := range parts {
		if part == nil {
			tx.CheckAbsent(keys[i])
			continue
		}
		tx.Delete(part)
		tasks += part.Tasks
	}
	return tasks, err
}
