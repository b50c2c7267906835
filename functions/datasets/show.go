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

// showWithLinks returns the dataset as the caller sees it, with links to its files and, for organizers, what addForOrganizers adds.
func showWithLinks(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.Dataset, error) {
	roles, unaccepted, err := c.InputRoles(ctx, d)
	if err != nil {
		return nil, err
	}
	v := d.For(roles)
	if p, ok := errors.AsType[*problem.Error](unaccepted); ok {
		v.Diagnostics = []measure.Diagnostic{{Severity: measure.Warning, Message: "You get no inputs. " + p.Detail}}
	}
	organizes := roles&(access.Organizer|access.Admin) != 0
	if organizes {
		if err := addForOrganizers(ctx, c, d, &v); err != nil {
			return nil, err
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

// addForOrganizers adds to v advice, the types of submissions that no worker serves now, and whether scores are withheld now. It adds
// nothing if the task was deleted meanwhile.
func addForOrganizers(ctx context.Context, c *api.Call, d *record.DatasetItem, v *record.Dataset) error {
	var t *record.TaskItem
	var serving *record.Serving
	var embargo *record.Embargo
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&t, record.TaskKey(d.TaskID)), records.Into(&serving, record.ServingKey()),
		records.Into(&embargo, record.EmbargoKey(d.TaskID)))
	if t == nil || err != nil {
		return err
	}
	if d.MayNeedAdvice() {
		v.Advice = d.Advise(t, c.Now())
	}
	v.UnservedTypes = serving.UnservedTypes(t, d, c.Now())
	v.Withheld = d.Release(t, embargo).Withholds(c.Now())
	return nil
}

// show is like showWithLinks. For organizers it adds a diagnostic if no worker serves the dataset's pool.
func show(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.Dataset, error) {
	v, err := showWithLinks(ctx, c, d)
	needsWorkers := d.Executed || d.Evaluator.Kind == record.EvaluatorWorker
	if err != nil || !needsWorkers {
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
