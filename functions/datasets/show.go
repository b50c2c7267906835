package datasets

import (
	"context"
	"errors"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/files"
	"assay/shared/service/queue"
	"assay/shared/service/records"
)

// showChanged returns the dataset as the caller who created or changed it sees it, with links to its files.
func showChanged(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.Dataset, error) {
	roles, unaccepted, err := c.InputRoles(ctx, d)
	if err != nil {
		return nil, err
	}
	v := d.For(roles)
	if p, ok := errors.AsType[*problem.Error](unaccepted); ok {
		v.Diagnostics = []measure.Diagnostic{{Severity: measure.Warning, Message: "You get no inputs. " + p.Detail}}
	}
	organizes := roles&(access.Organizer|access.Admin) != 0
	if organizes && d.MayNeedAdvice() {
		t, err := records.Get[record.TaskItem](ctx, c.Store, c.Consistency, record.TaskKey(d.TaskID))
		if err != nil {
			return nil, err
		}
		if t != nil {
			v.Advice = d.Advise(t)
		}
	}
	links := files.Links{Objects: c.Files, Now: c.Now(), Download: true, Upload: organizes}
	if v.Inputs, err = links.Sign(ctx, record.HolderInputs, d.ID, v.Inputs); err != nil {
		return nil, err
	}
	if len(v.Truths) > 0 {
		v.Truths, err = links.Sign(ctx, record.HolderTruths, d.ID, v.Truths)
	}
	return &v, err
}

// show returns the dataset as the caller sees it. For organizers it adds a diagnostic if no worker serves the dataset's pool.
func show(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.Dataset, error) {
	v, err := showChanged(ctx, c, d)
	if err != nil || !d.Executed && d.Evaluator.Kind != record.EvaluatorWorker {
		return v, err
	}
	roles, err := c.Roles(ctx, d.Scope())
	if err != nil || roles&(access.Organizer|access.Admin) == 0 {
		return v, err
	}
	unserved, err := queue.Queue{Store: c.Store, Now: c.Now}.Unserved(ctx, d)
	v.Diagnostics = append(v.Diagnostics, unserved...)
	return v, err
}
