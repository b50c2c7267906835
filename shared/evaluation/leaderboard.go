// Package evaluation writes and reads evaluations in the store: Writer writes the results of evaluators, Leaderboard ranks them as one
// caller may see them, and ReadTopics reads the values per topic. No other package writes or reads these formats.
package evaluation

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// Leaderboard is the ranking against one version of a dataset's truth; values against different versions are not comparable.
type Leaderboard struct {
	Viewer       *visibility.Viewer
	Dataset      *record.DatasetItem
	TruthVersion int64
	// AtOnce is how many entries the first read of a partition asks for: as many as the reader is likely to need. Each further read
	// doubles it.
	AtOnce int
	// Count has Entries set Runs on the best run of each team, for which it reads the whole board.
	Count bool
}

// Entry is an evaluation on a board.
type Entry struct {
	// Rank is one more than the number of better entries.
	Rank     int
	Runs     int // of the team on the board; 0 unless they were counted
	stored   store.Item
	scoreKey string // the same for entries that share a rank
	entrant  string // as EvaluationItem.Entrant
	item     *record.EvaluationItem
}

// Item decodes the evaluation when it is first needed; entries that an offset skips are never decoded.
func (e *Entry) Item() (_ *record.EvaluationItem, err error) {
	if e.item == nil {
		e.item, err = records.Decode[record.EvaluationItem](e.stored)
	}
	return e.item, err
}

// Entries yields what the caller sees of the board in the order of the measure; empty is the primary one. Of equal values the earlier
// submission comes first; undefined values come last. With best it yields, and ranks, only the best run of each team.
func (b *Leaderboard) Entries(ctx context.Context, measure string, best bool) (iter.Seq2[*Entry, error], error) {
	var entries iter.Seq2[*Entry, error]
	var err error
	if shown := b.Dataset.Board(); measure == "" || measure == shown.Evaluator.PrimaryMeasure && b.TruthVersion == shown.TruthVersion {
		entries, err = b.byRank(ctx)
	} else {
		entries, err = b.byMeasure(ctx, measure)
	}
	if err != nil {
		return nil, err
	}
	if best && b.Count {
		if entries, err = withRuns(entries); err != nil {
			return nil, err
		}
	}
	return withRanks(entries, best), nil
}

// withRuns sets the number of runs of each entry's team.
func withRuns(entries iter.Seq2[*Entry, error]) (iter.Seq2[*Entry, error], error) {
	runs := map[string]int{}
	all, err := collect(entries, func(e *Entry) error {
		runs[e.entrant]++
		return nil
	})
	for _, e := range all {
		e.Runs = runs[e.entrant]
	}
	return yields(all), err
}

// collect reads all entries.
func collect(entries iter.Seq2[*Entry, error], each func(*Entry) error) (all []*Entry, err error) {
	for e, err := range entries {
		if err == nil {
			err = each(e)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func yields(all []*Entry) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// withRanks sets the ranks of entries.
func withRanks(entries iter.Seq2[*Entry, error], best bool) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		teams := map[string]bool{}
		rank, count, scoreKey := 0, 0, ""
		for e, err := range entries {
			if err != nil {
				yield(nil, err)
				return
			}
			if best && teams[e.entrant] {
				continue
			}
			teams[e.entrant] = true
			if count++; e.scoreKey != scoreKey || count == 1 {
				rank, scoreKey = count, e.scoreKey
			}
			e.Rank = rank
			if !yield(e, nil) {
				return
			}
		}
	}
}

// byMeasure yields the board by a measure that no index orders, for which it reads and sorts the whole board.
func (b *Leaderboard) byMeasure(ctx context.Context, name string) (iter.Seq2[*Entry, error], error) {
	shown := b.Dataset.Board()
	lowerIsBetter := shown.Evaluator.LessIsBetter(name)
	ranked, err := b.byRank(ctx)
	if err != nil {
		return nil, err
	}
	all, err := collect(ranked, func(e *Entry) error {
		item, err := e.Item()
		if e.scoreKey = "null"; err == nil && item.Measures[name] != nil {
			e.scoreKey = strconv.FormatFloat(*item.Measures[name]+0, 'g', -1, 64)
		}
		return err
	})
	slices.SortFunc(all, func(x, y *Entry) int {
		return cmp.Or(compare(x.item.Measures[name], y.item.Measures[name], lowerIsBetter),
			strings.Compare(x.item.SubmissionID, y.item.SubmissionID), strings.Compare(x.item.RunID, y.item.RunID))
	})
	return yields(all), err
}

// compare orders values from best to worst, undefined ones last.
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
