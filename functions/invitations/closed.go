package invitations

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// closedAt returns when the last dataset of the invitation's task closed for the team that the user joins or registers. It returns nil
// without a task, and while one of the datasets takes submissions or will.
func (j *joining) closedAt(ctx context.Context) (*record.Instant, error) {
	if j.task == nil {
		return nil, nil
	}
	var used *record.Allowance // nil for a new team
	if j.team != nil {
		var err error
		if used, err = allowance.Of(ctx, j.Store, store.Strong, j.team.Scope()); err != nil {
			return nil, err
		}
	}
	var windows []record.DatasetSubmissions
	add := func(d *record.DatasetItem) {
		opens, closes := used.Window(j.task, d)
		windows = append(windows, record.DatasetSubmissions{OpensAt: opens, ClosesAt: closes})
	}
	sources := records.Of(record.KindTask, j.task.ID, record.KindDataset)
	err := records.Each(ctx, j.Store, record.MaxTaskDatasets, sources, func(d *record.DatasetItem) error {
		add(d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(windows) == 0 {
		add(new(record.DatasetItem)) // the window of the task itself
	}
	if stage := j.task.Stage(windows, j.Now()); stage.Past() {
		return stage.ClosesAt, nil
	}
	return nil, nil
}
