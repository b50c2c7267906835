package team

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// CheckFinalChoice refuses that a team deletes or restores runs after the window of a dataset that takes final runs has closed: the team
// could choose another final run while its scores may be known. All runs belong to one submission. CheckFinalChoice returns the instant
// from which it refuses, when the first of these windows closes. It returns nil if none closes.
func CheckFinalChoice(ctx context.Context, s store.Store, runs []*record.RunItem, now time.Time) (*record.Instant, error) {
	ids := lists.Map(runs, func(r *record.RunItem) string { return r.DatasetID })
	sets, err := records.GetExisting[record.DatasetItem](ctx, s, store.Strong, ids, record.DatasetKey)
	sets = slices.DeleteFunc(sets, func(d *record.DatasetItem) bool { return d.FinalRuns == 0 })
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	t, err := records.Get[record.TaskItem](ctx, s, store.Strong, record.TaskKey(sets[0].TaskID))
	if err != nil || t == nil {
		return nil, err
	}
	a, err := allowance.OfSubmitted(ctx, s, store.Strong, runs[0])
	if err != nil {
		return nil, err
	}
	first, closes := a.FirstClose(t, sets)
	if first == nil {
		return nil, nil
	}
	what := fmt.Sprintf("Deletion and restoring of runs on the dataset %q, which takes final runs,", first.Name)
	return closes, record.CheckWindow(what, nil, closes, now)
}
