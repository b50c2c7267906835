package allowance

import (
	"context"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// maxUnread is the number of waiting runs above which Wait reads which of them have ended, if their number is not limited.
const maxUnread = 1000

// Wait adds runs that have not ended to the waiting runs of the allowance, unless more than most would wait then. It returns how many other
// runs wait, and whether it added the runs. Only when the bound is reached, it reads which runs have ended since. If most is 0, the number
// is not limited.
func Wait(ctx context.Context, s store.Store, a *record.Allowance, most int, runIDs ...string) (others int, added bool, err error) {
	waiting := slices.DeleteFunc(slices.Clone(a.Waiting), func(id string) bool { return slices.Contains(runIDs, id) })
	bound := most
	if most == 0 {
		bound = maxUnread
	}
	if len(waiting)+len(runIDs) > bound {
		runs, err := records.GetExisting[record.RunItem](ctx, s, store.Strong, waiting, record.RunKey)
		if err != nil {
			return 0, false, err
		}
		runs = slices.DeleteFunc(runs, func(r *record.RunItem) bool { return r.State.Ended() })
		waiting = lists.Map(runs, func(r *record.RunItem) string { return r.ID })
	}
	others = len(waiting)
	if most > 0 && others+len(runIDs) > most {
		return others, false, nil
	}
	a.Waiting = slices.Concat(waiting, runIDs)
	return others, true, nil
}
