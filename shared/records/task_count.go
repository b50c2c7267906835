package records

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"assay/shared/record"
	"assay/shared/store"
)

// nextPart chooses the parts of counts in turn, from a random one on: as many attempts at once as there are parts never meet in one
// process.
var nextPart atomic.Uint64

func init() { nextPart.Store(rand.Uint64()) } //nolint:gosec // which part is no secret

// CountTasks adds to tx that the organizer has n tasks more, or fewer if n is negative. Each attempt of a change chooses a part of the
// count, so that the changes of many clients seldom meet.
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

// DeleteTaskCount adds to tx that the count of the organizer's tasks is deleted, and returns it. A task that is made meanwhile conflicts
// with tx.
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
