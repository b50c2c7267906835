package tasks

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
)

func show(_ context.Context, _ *api.Call, t *record.TaskItem) (*record.Task, error) {
	return &t.Task, nil
}
