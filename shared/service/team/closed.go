package team

import (
	"context"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Datasets returns all datasets of the task.
func Datasets(ctx context.Context, s store.Store, taskID string) (sets []*record.DatasetItem, err error) {
	sources := records.Of(record.KindTask, taskID, record.KindDataset)
	err = records.Each(ctx, s, record.MaxTaskDatasets, sources, func(d *record.DatasetItem) error {
		sets = append(sets, d)
		return nil
	})
	return sets, err
}

// Closed is record.Allowance.Closed for a team with the allowance, which is nil for a new team.
func Closed(ctx context.Context, s store.Store, t *record.TaskItem, used *record.Allowance, now time.Time) (*record.Instant, error) {
	sets, err := Datasets(ctx, s, t.ID)
	return used.Closed(t, sets, now), err
}
