package evaluation

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
)

// finals returns the entries of each team's final runs: the newest marked ones, up to the number that the dataset takes. If a team has
// marked none on the board, its newest runs that the caller sees count as final. Marks count even if the caller does not see the marked
// run. Otherwise another run would take its place.
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
