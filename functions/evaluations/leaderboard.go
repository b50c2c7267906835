package evaluations

import (
	"context"
	"strings"

	"assay/shared/api"
	"assay/shared/board"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
)

// rank is the order by the primary measure.
const rank = "rank"

// options are what a leaderboard has: the best run of each team alone, and then how many runs each team has on it.
type options struct{ best, count bool }

// leaderboard is the page of the dataset's leaderboard that the request asks for. Ranks count whatever the caller sees
// of the board (with best, of each team its best run), so a filter by run or user leaves each entry its place.
func leaderboard(ctx context.Context, c *api.Call, d *record.DatasetItem, o options) (p page.Page[record.Evaluation], err error) {
	show, err := viewer(ctx, c)
	if err != nil {
		return p, err
	}
	measure, shown := "", d.Board()
	if c.Page.Sort != rank {
		measure = shown.Evaluator.Measure(c.Page.Sort)
	}
	if measure == "" && c.Page.Sort != rank {
		return p, problem.InvalidParameter.New("sort must be rank or one of the measures of the dataset: %s.", strings.Join(shown.Evaluator.Measures, ", "))
	}
	b := board.Board{Viewer: &c.Viewer, Dataset: d, TruthVersion: shown.TruthVersion, AtOnce: c.Page.Offset + c.Page.Limit + 1, Count: o.count}
	entries, err := b.Entries(ctx, measure, o.best)
	if err != nil {
		return p, err
	}
	filtered := len(c.Page.Values("runId"))+len(c.Page.Values("userId"))+len(c.Page.Values("taskId")) > 0
	skipped := 0
	var found []*record.EvaluationItem
	var places []*board.Entry
	for e, err := range entries {
		if err != nil {
			return p, err
		}
		var item *record.EvaluationItem
		if filtered || skipped == c.Page.Offset && len(found) < c.Page.Limit { // the others need not be read
			if item, err = e.Item(); err != nil {
				return p, err
			}
			if v, sees := show(item); !sees || !keeps(c, v) {
				continue
			}
		}
		if skipped < c.Page.Offset {
			skipped++
			continue
		}
		if len(found) == c.Page.Limit {
			p.More = true
			break
		}
		found, places = append(found, item), append(places, e)
	}
	err = addAll(ctx, c, &p, found, func(i int) (record.Evaluation, bool) {
		v, sees := show(found[i])
		v.Rank, v.Runs = places[i].Rank, places[i].Runs
		return v, sees
	})
	p.More = p.More || len(p.Data) < len(found)
	return p, err
}
