package deletions

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/deletion"
)

func show(ctx context.Context, c *api.Call, entry *record.DeletionItem) (record.Deletion, error) {
	shown, err := api.ShowFor(ctx, c, entry)
	if err != nil {
		return shown, err
	}
	shown.UnmarkedRunIDs, err = deletion.Deleter{Store: c.Store, Now: c.Now}.Unmarked(ctx, entry)
	return shown, err
}
