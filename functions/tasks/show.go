package tasks

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
)

func show(_ context.Context, _ *api.Call, t *record.TaskItem) (*record.Task, error) {
	return &t.Task, nil
}
