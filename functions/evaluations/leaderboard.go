package evaluations

import (
	"context"
	"strings"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/board"
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
	err = eachEntry(ctx, c, d, o, func(e *record.Evaluation) (more bool, err error) {
		p.More = full
		if full {
			return false, nil
		}
		full, err = p.Add(*e)
		full = full || len(p.Data) == c.Page.Limit
		return true, err
	})
	return p, err
}

// query asks for the leaderboard of the dataset in the order of the measure.
func query(c *api.Call, d *record.DatasetItem, measure string, o boardOptions) board.Query {
	return board.Query{Viewer: &c.Viewer, Dataset: d, TruthVersion: d.Board().TruthVersion, Measure: measure, Best: o.best, Count: o.count,
		Final: o.final, AtOnce: c.Page.Offset + c.Page.Limit + 1, Now: c.Now()}
}

// eachEntry calls do with each entry of the dataset's leaderboard that the caller sees, until do returns false. The dataset must have been
// read with strong consistency. It starts at the offset of the request, in the requested order.
func eachEntry(ctx context.Context, c *api.Call, d *record.DatasetItem, o boardOptions, do func(*record.Evaluation) (bool, error)) error {
	rules, err := c.RulesOf(ctx, d)
	if err != nil {
		return err
	}
	rolesOf, err := c.RolesOf(ctx)
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
	q := query(c, d, measure, o)
	filtered := len(c.Page.Values("runId"))+len(c.Page.Values("userId"))+len(c.Page.Values("taskId")) > 0
	skip := 0 // entries that pass the filters
	if filtered {
		skip = c.Page.Offset
	} else {
		q.Offset = c.Page.Offset
	}
	entries, err := c.Boards.Entries(ctx, q)
	if err != nil {
		return err
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		item, err := e.Item()
		if err != nil {
			return err
		}
		roles := rolesOf(item.Scope())
		sight := rules.For(item.Access, roles, c.Now())
		if !sight.Entry() || !matchesFilters(c, item, roles) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		v := item.For(sight)
		v.Rank, v.Runs = e.Rank, e.Runs
		if more, err := do(&v); err != nil || !more {
			return err
		}
	}
	return nil
}
