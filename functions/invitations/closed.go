package invitations

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// closedAt returns when the last dataset of the invitation's task closed for the team that the user joins or registers. It returns nil
// without a task, and while one of the datasets takes submissions or will.
func (j *joining) closedAt(ctx context.Context) (_ *record.Instant, err error) {
	if j.task == nil {
		return nil, nil
	}
	var used *record.Allowance // nil for a new team
	if j.team != nil {
		if used, err = allowance.Of(ctx, j.Store, store.Strong, j.team.Scope()); err != nil {
			return nil, err
		}
	}
	return closedAt(ctx, j.Call, j.task, used)
}

// closedAt returns when the last dataset of the task closed for a team with the allowance, which is nil for a new team. It returns nil
// while one of the datasets takes submissions or will.
func closedAt(ctx context.Context, c *api.Call, t *record.TaskItem, used *record.Allowance) (*record.Instant, error) {
	var windows []record.DatasetSubmissions
	add := func(d *record.DatasetItem) {
		opens, closes := used.Window(t, d)
		windows = append(windows, record.DatasetSubmissions{OpensAt: opens, ClosesAt: closes})
	}
	sources := records.Of(record.KindTask, t.ID, record.KindDataset)
	err := records.Each(ctx, c.Store, record.MaxTaskDatasets, sources, func(d *record.DatasetItem) error {
		add(d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(windows) == 0 {
		add(new(record.DatasetItem)) // the window of the task itself
	}
	if stage := t.Stage(windows, c.Now()); stage.Past() {
		return stage.ClosesAt, nil
	}
	return nil, nil
}
