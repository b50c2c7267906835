package evaluations

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
)

// rank is the order by the primary measure.
const rank = "rank"

// leaderboard is the page of the dataset's leaderboard that the request asks for. Ranks count whatever the caller sees
// of the board (with best, of each team its best run), so a filter by run or user leaves each entry its place.
func leaderboard(ctx context.Context, c *api.Call, d *record.DatasetItem) (p page.Page[record.Evaluation], err error) {
	show, err := viewer(ctx, c)
	if err != nil {
		return p, err
	}
	b := &board{c: c, dataset: d}
	entries, err := b.entries(ctx)
	if err != nil {
		return p, err
	}
	filtered := len(c.Page.Values("runId"))+len(c.Page.Values("userId"))+len(c.Page.Values("taskId")) > 0
	teams := map[string]bool{}
	place, counted, skipped, worth := 0, 0, 0, ""
	for e, err := range entries {
		if err != nil {
			return p, err
		}
		if bestOnly(c) {
			item, err := e.decode()
			if err != nil {
				return p, err
			}
			if teams[item.UserID] {
				continue
			}
			teams[item.UserID] = true
		}
		if counted++; e.worth != worth || counted == 1 {
			place, worth = counted, e.worth
		}
		if !filtered && skipped < c.Page.Offset {
			skipped++
			continue
		}
		if !filtered && len(p.Data) == c.Page.Limit {
			p.More = true
			break
		}
		item, err := e.decode()
		if err != nil {
			return p, err
		}
		v, sees := show(item)
		if !sees || !keeps(c, v) {
			continue
		}
		if skipped < c.Page.Offset {
			skipped++
			continue
		}
		if len(p.Data) == c.Page.Limit {
			p.More = true
			break
		}
		v.Rank = place
		p.Data = append(p.Data, v)
	}
	return p, nil
}

// entries yields what the caller sees of the board in the order that the request asks for.
func (b *board) entries(ctx context.Context) (iter.Seq2[*entry, error], error) {
	d := b.dataset
	switch name := b.c.Page.Sort; {
	case name == rank, name == d.RankedBy:
		return b.byRank(ctx)
	case slices.Contains(d.Evaluator.Measures, name):
		return b.byMeasure(ctx, name)
	default:
		return nil, problem.InvalidParameter.New("sort must be rank or one of the measures of the dataset: %s.", strings.Join(d.Evaluator.Measures, ", "))
	}
}

// byMeasure yields the board by a measure that the table has no order for: all of it is read and sorted.
func (b *board) byMeasure(ctx context.Context, name string) (iter.Seq2[*entry, error], error) {
	lowerIsBetter := b.dataset.Evaluator.LessIsBetter(name)
	ranked, err := b.byRank(ctx)
	if err != nil {
		return nil, err
	}
	var all []*entry
	for e, err := range ranked {
		if err != nil {
			return nil, err
		}
		item, err := e.decode()
		if err != nil {
			return nil, err
		}
		e.worth = "null"
		if v := item.Measures[name]; v != nil {
			e.worth = strconv.FormatFloat(*v+0, 'g', -1, 64)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(x, y *entry) int {
		return cmp.Or(compare(x.item.Measures[name], y.item.Measures[name], lowerIsBetter),
			strings.Compare(x.item.SubmissionID, y.item.SubmissionID), strings.Compare(x.item.RunID, y.item.RunID))
	})
	return func(yield func(*entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}, nil
}

// compare orders values from best to worst, one that is not defined last.
func compare(x, y *float64, lowerIsBetter bool) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	case lowerIsBetter:
		return cmp.Compare(*x, *y)
	default:
		return cmp.Compare(*y, *x)
	}
}
