package organizers

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
)

func show(_ context.Context, c *api.Call, o *record.Organizer) (*record.Organizer, error) {
	return o.For(c.Caller), nil
}
