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
	of, err := conditionsOf(ctx, c, d)
	if err != nil || of.Task == nil {
		return err
	}
	if d.MayNeedAdvice() {
		v.Advice = d.Advise(of.Task, c.Now())
	}
	v.UnservedTypes = of.Serving.UnservedTypes(of.Task, d, c.Now())
	v.Withheld = !d.ValueRules(of.Task, of.Embargo).Wait(access.Owners, c.Now()).Over
	return nil
}

// conditionsOf returns the conditions of the dataset. It reads them unless they were read.
func conditionsOf(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.DatasetConditions, error) {
	if d.Conditions == nil {
		var of record.DatasetConditions
		err := records.Read(ctx, c.Store, c.Consistency, records.Into(&of.Task, record.TaskKey(d.TaskID)),
			records.Into(&of.Embargo, record.EmbargoKey(d.TaskID)), records.Into(&of.Serving, record.ServingKey()))
		if err != nil {
			return nil, err
		}
		d.Conditions = &of
	}
	return d.Conditions, nil
}

// show is like showWithLinks. For organizers it adds a diagnostic if no worker serves the dataset's pool.
func show(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.Dataset, error) {
	v, err := showWithLinks(ctx, c, d)
	needsWorkers := d.Executed || d.Evaluator.Kind == record.EvaluatorWorker
	if err != nil || !needsWorkers || d.Conditions == nil { // Only organizers are shown what the conditions decide.
		return v, err
	}
	unserved, err := queue.Queue{Store: c.Store, Now: c.Now}.Unserved(ctx, d, d.Conditions)
	v.Diagnostics = append(v.Diagnostics, unserved...)
	return v, err
}
