package team

import (
	"context"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// CheckFinalChoice refuses that a team deletes or restores runs, all of one submission, after the window of a dataset that takes final
// runs: another run would be taken for the final one, once its scores may be known.
func CheckFinalChoice(ctx context.Context, s store.Store, runs []*record.RunItem, now time.Time) error {
	ids := lists.Map(runs, func(r *record.RunItem) string { return r.DatasetID })
	sets, err := records.GetExisting[record.DatasetItem](ctx, s, store.Strong, ids, record.DatasetKey)
	sets = slices.DeleteFunc(sets, func(d *record.DatasetItem) bool { return d.FinalRuns == 0 })
	if err != nil || len(sets) == 0 {
		return err
	}
	t, err := records.Get[record.TaskItem](ctx, s, store.Strong, record.TaskKey(sets[0].TaskID))
	if err != nil || t == nil {
		return err
	}
	a, err := allowance.OfSubmitted(ctx, s, store.Strong, runs[0])
	for _, d := range sets {
		if err != nil {
			return err
		}
		_, closes := a.Window(t, d)
		err = record.CheckWindow("Deletion and restoring of runs of a dataset with final runs", nil, closes, now)
	}
	return err
}
