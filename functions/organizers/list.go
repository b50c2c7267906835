package organizers

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (page.Page[*record.Organizer], error) {
	keep := func(o *record.Organizer) bool { return c.Page.MatchesText("name", o.Name) }
	all := records.OfKind(record.KindOrganizer, access.Everyone)
	return api.PageOf(ctx, c, all, keep, func(o *record.Organizer) *record.Organizer { return o.For(c.Caller) })
}
