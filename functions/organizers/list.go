package organizers

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/records"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (page.Page[*record.Organizer], error) {
	var keep func(*record.Organizer) bool
	if len(c.Page.Values("name")) > 0 {
		keep = func(o *record.Organizer) bool { return c.Page.MatchesText("name", o.Name) }
	}
	sources := []records.Source{records.Partition(record.ByKind, record.KindPartitions(record.KindOrganizer, access.Everyone)[0])}
	return api.PageOf(ctx, c, sources, keep, func(o *record.Organizer) *record.Organizer { return o.For(c.Caller) })
}
