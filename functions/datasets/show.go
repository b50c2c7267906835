package datasets

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/link"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/visibility"
)

func show(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.Dataset, error) {
	roles, err := c.Roles(ctx, d.Scope())
	if err != nil {
		return nil, err
	}
	v := d.For(roles)
	organizes := roles&(access.Organizer|access.Admin) != 0
	if v.Inputs, err = link.Files(ctx, c.Files, c.Now(), record.HolderInputs, d.ID, v.Inputs, true, organizes); err != nil {
		return nil, err
	}
	if len(v.Truths) > 0 {
		v.Truths, err = link.Files(ctx, c.Files, c.Now(), record.HolderTruths, d.ID, v.Truths, true, organizes)
	}
	return &v, err
}

// single is show for one who asks for the dataset: organizers are told of work that no worker comes for.
func single(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.Dataset, error) {
	v, err := show(ctx, c, d)
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

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[record.Dataset], err error) {
	sources, err := visible(ctx, c)
	if err != nil {
		return p, err
	}
	g, err := c.Grants(ctx)
	if err != nil {
		return p, err
	}
	var keep func(*record.DatasetItem) bool
	if len(c.Page.Values("split"))+len(c.Page.Values("name")) > 0 {
		keep = func(d *record.DatasetItem) bool {
			return c.Page.Keeps("split", string(d.Split)) && c.Page.KeepsText("name", d.Name)
		}
	}
	return api.PageOf(ctx, c, sources, keep, func(d *record.DatasetItem) record.Dataset {
		return d.For(access.Roles(c.Caller, g.Grants, d.Scope()))
	})
}

// visible names the partitions of the datasets that the caller may see; of those tasks alone that a filter names.
func visible(ctx context.Context, c *api.Call) ([]records.Source, error) {
	named := c.Page.Values("taskId")
	if len(named) == 0 {
		return c.AllPartitions(ctx, record.KindDataset)
	}
	var sources []records.Source
	for _, id := range named {
		_, _, err := visibility.Get[record.TaskItem](ctx, &c.Viewer, id, record.TaskKey)
		switch {
		case problem.NotFound.Is(err):
		case err != nil:
			return nil, err
		default:
			sources = append(sources, records.Partition(record.ByTask, record.TaskPartition(id, record.KindDataset, access.Everyone)))
		}
	}
	return sources, nil
}
