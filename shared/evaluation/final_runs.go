package evaluation

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/record"
)

// finals returns the entries of runs that their teams marked as final, of the last if there are more than the dataset now takes, and, where
// a team has marked none that is on the board, of the last ones that the caller sees. A mark counts also where the caller does not see the
// run, or another would be taken for the final one.
func (b *Leaderboard) finals(ctx context.Context, entries iter.Seq2[*Entry, error]) (iter.Seq2[*Entry, error], error) {
	rolesOf, err := b.Viewer.RolesOf(ctx)
	if err != nil {
		return nil, err
	}
	marked, runs := map[string][]string{}, map[string][]string{}
	sees := func(e *record.EvaluationItem) bool { return access.Sees(rolesOf(e.Scope()), e.Scope().Audience) }
	all, err := collect(entries, func(e *Entry) error {
		item, err := e.Item()
		if err != nil {
			return err
		}
		team := item.Entrant()
		switch {
		case item.Final:
			marked[team] = append(marked[team], item.RunID)
		case sees(item):
			runs[team] = append(runs[team], item.RunID)
		}
		return nil
	})
	maps.Copy(runs, marked)
	for _, ids := range runs {
		slices.SortFunc(ids, func(x, y string) int { return strings.Compare(y, x) })
	}
	return entrySeq(slices.DeleteFunc(all, func(e *Entry) bool {
		of := runs[e.item.Entrant()]
		return !sees(e.item) || !slices.Contains(of[:min(len(of), b.Dataset.FinalRuns)], e.item.RunID)
	})), err
}
