package team

import (
	"context"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Closed is record.Allowance.Closed for a team with the allowance, which is nil for a new team.
func Closed(ctx context.Context, s store.Store, t *record.TaskItem, used *record.Allowance, now time.Time) (*record.Instant, error) {
	sets, err := records.Datasets(ctx, s, t.ID)
	return used.Closed(t, sets, now), err
}
