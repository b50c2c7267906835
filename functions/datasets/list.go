package datasets

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/visibility"
)

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
			return c.Page.Matches("split", string(d.Split)) && c.Page.MatchesText("name", d.Name)
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
