package organizers

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
)

func show(_ context.Context, c *api.Call, o *record.Organizer) (*record.Organizer, error) {
	return o.For(c.Caller), nil
}
