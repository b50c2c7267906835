package evaluation

import (
	"context"
	"iter"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/record"
)

// finals returns the entries of runs that their teams marked as final and, where a team has marked none that is on the board, of the last
// ones that the caller sees. A mark counts also where the caller does not see the run, or another would be taken for the final one.
func (b *Leaderboard) finals(ctx context.Context, entries iter.Seq2[*Entry, error]) (iter.Seq2[*Entry, error], error) {
	rolesOf, err := b.Viewer.RolesOf(ctx)
	if err != nil {
		return nil, err
	}
	chosen, runs := map[string]bool{}, map[string][]string{}
	sees := func(e *record.EvaluationItem) bool { return access.Sees(rolesOf(e.Scope()), e.Scope().Audience) }
	all, err := collect(entries, func(e *Entry) error {
		item, err := e.Item()
		if err != nil {
			return err
		}
		team := item.Entrant()
		if chosen[team] = chosen[team] || item.Final; sees(item) {
			runs[team] = append(runs[team], item.RunID)
		}
		return nil
	})
	for _, ids := range runs {
		slices.SortFunc(ids, func(x, y string) int { return strings.Compare(y, x) })
	}
	return entrySeq(slices.DeleteFunc(all, func(e *Entry) bool {
		team := e.item.Entrant()
		last := runs[team][:min(len(runs[team]), b.Dataset.FinalRuns)]
		return !sees(e.item) || !e.item.Final && (chosen[team] || !slices.Contains(last, e.item.RunID))
	})), err
}
