package organizers

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/table"
)

func list(ctx context.Context, c *api.Call, _ api.Open) (p page.Page[*record.Organizer], err error) {
	var keep func(*record.Organizer) bool
	if len(c.Page.Values("name")) > 0 {
		keep = func(o *record.Organizer) bool { return c.Page.KeepsText("name", o.Name) }
	}
	sources := []table.Source{table.Partition(record.ByKind, record.OfKind(record.KindOrganizer, access.Everyone)[0])}
	p.Cursor, err = table.List(ctx, c.Store, table.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}, keep, p.Add)
	return p, err
}

func show(_ context.Context, _ *api.Call, o *record.Organizer) (*record.Organizer, error) {
	return o, nil
}
