package evaluations

import (
	"context"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/evaluation"
)

// rank is the value of sort for the order by the primary measure.
const rank = "rank"

// boardOptions select the entries of a leaderboard.
type boardOptions struct {
	final bool // only final runs
	best  bool // only the best run of each team
	count bool // each entry has the number of the team's runs on the board
}

// optionsOf returns the options of the request.
func optionsOf(c *api.Call) boardOptions {
	is := func(f page.Filter) bool { return c.Page.Value(f.Name) == "true" }
	return boardOptions{final: is(final), best: is(best)}
}

// leaderboard returns the requested page of the dataset's leaderboard. Ranks count all entries that the caller sees, or with best the best
// run of each team. Filters by run or user do not change ranks.
func leaderboard(ctx context.Context, c *api.Call, d *record.DatasetItem, o boardOptions) (p page.Page[record.Evaluation], err error) {
	full := false
	err = eachEntry(ctx, c, d, o, func(e record.Evaluation, _ any) (more bool, err error) {
		p.More = full
		if full {
			return false, nil
		}
		full, err = p.Add(e)
		full = full || len(p.Data) == c.Page.Limit
		return true, err
	})
	return p, err
}

// shownEntry identifies the JSON of an entry: equal values have equal JSON.
type shownEntry struct {
	item  *record.EvaluationItem // never changes
	roles access.Role
	rank  int
}

// board returns the leaderboard of the dataset that the request asks for.
func board(c *api.Call, d *record.DatasetItem, o boardOptions) *evaluation.Leaderboard {
	return &evaluation.Leaderboard{Viewer: &c.Viewer, Dataset: d, TruthVersion: d.Board().TruthVersion,
		AtOnce: c.Page.Offset + c.Page.Limit + 1, Count: o.count, Final: o.final, Now: c.Now()}
}

// eachEntry calls do with each entry of the dataset's leaderboard that the caller sees, until do returns false. It starts at the offset of
// the request, in the requested order. Entries with equal keys have equal JSON; a nil key says nothing.
func eachEntry(ctx context.Context, c *api.Call, d *record.DatasetItem, o boardOptions,
	do func(_ record.Evaluation, key any) (bool, error)) error {
	show, err := viewer(ctx, c)
	if err != nil {
		return err
	}
	if o.final && d.FinalRuns == 0 {
		return problem.InvalidParameter.New("The dataset takes no final runs. Leave {?final} out.")
	}
	measure, shown := "", d.Board()
	if c.Page.Sort != rank {
		measure = shown.Evaluator.Measure(c.Page.Sort)
	}
	if measure == "" && c.Page.Sort != rank {
		return problem.InvalidParameter.New("{?sort} must be rank or one of the measures of the dataset: %s.",
			strings.Join(shown.Evaluator.Measures, ", "))
	}
	entries, err := board(c, d, o).Entries(ctx, measure, o.best)
	if err != nil {
		return err
	}
	filtered := len(c.Page.Values("runId"))+len(c.Page.Values("userId"))+len(c.Page.Values("taskId")) > 0
	skipped := 0
	for e, err := range entries {
		if err != nil {
			return err
		}
		if !filtered && skipped < c.Page.Offset { // Without a filter, skipped entries are not decoded.
			skipped++
			continue
		}
		item, err := e.Item()
		if err != nil {
			return err
		}
		v, roles, sees := show(item)
		if !sees || !matchesFilters(c, v) {
			continue
		}
		if skipped < c.Page.Offset {
			skipped++
			continue
		}
		v.Rank, v.Runs = e.Rank, e.Runs
		var key any
		if e.Kept() {
			key = shownEntry{item, roles, e.Rank}
		}
		if more, err := do(v, key); err != nil || !more {
			return err
		}
	}
	return nil
}
