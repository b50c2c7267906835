// Package evaluation holds both sides of evaluations in the store: Writer writes what evaluators computed, Leaderboard ranks it
// as one caller may see it, and ReadTopics reads the values per topic. Each format is written and read here alone.
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

// Leaderboard is the ranking against one version of a dataset's truth. Values against different versions do not compare.
type Leaderboard struct {
	Viewer       *visibility.Viewer
	Dataset      *record.DatasetItem
	TruthVersion int64
	// AtOnce is how many entries are read first of a partition: as many as the reader is likely to need. Each read that follows has
	// twice as many as the one before.
	AtOnce int
	// Count says that, of the best run of each team, it is counted how many runs the team has on the board. All of the board
	// is read for that.
	Count bool
}

// Entry is an evaluation on a board.
type Entry struct {
	// Rank is one more than there are better entries; equal values share it.
	Rank     int
	Runs     int // of the team on the board; 0 unless they were counted
	stored   store.Item
	scoreKey string // the same for entries that share a rank
	// entrant is EvaluationItem.Entrant.
	entrant string
	item    *record.EvaluationItem
}

// Item reads the evaluation, when it is first needed: what an offset passes over is not.
func (e *Entry) Item() (_ *record.EvaluationItem, err error) {
	if e.item == nil {
		e.item, err = records.Decode[record.EvaluationItem](e.stored)
	}
	return e.item, err
}

// Entries yields what the caller sees of the board: by the measure, or, when that is empty, by the one that ranks. Of equal
// values the earlier submission comes first, and one that is not defined last. With best it is the best run of each team,
// and ranks count those.
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
	return counted(entries, best), nil
}

// withRuns counts, for each entry, the runs of its team.
func withRuns(entries iter.Seq2[*Entry, error]) (iter.Seq2[*Entry, error], error) {
	runs := map[string]int{}
	all, err := read(entries, func(e *Entry) error {
		runs[e.entrant]++
		return nil
	})
	for _, e := range all {
		e.Runs = runs[e.entrant]
	}
	return yields(all), err
}

// read reads all entries.
func read(entries iter.Seq2[*Entry, error], each func(*Entry) error) (all []*Entry, err error) {
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

// counted gives entries their ranks.
func counted(entries iter.Seq2[*Entry, error], best bool) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		teams := map[string]bool{}
		place, count, worth := 0, 0, ""
		for e, err := range entries {
			if err != nil {
				yield(nil, err)
				return
			}
			if best && teams[e.entrant] {
				continue
			}
			teams[e.entrant] = true
			if count++; e.scoreKey != worth || count == 1 {
				place, worth = count, e.scoreKey
			}
			e.Rank = place
			if !yield(e, nil) {
				return
			}
		}
	}
}

// byMeasure yields the board by a measure that the table has no order for: all of it is read and sorted.
func (b *Leaderboard) byMeasure(ctx context.Context, name string) (iter.Seq2[*Entry, error], error) {
	shown := b.Dataset.Board()
	lowerIsBetter := shown.Evaluator.LessIsBetter(name)
	ranked, err := b.byRank(ctx)
	if err != nil {
		return nil, err
	}
	all, err := read(ranked, func(e *Entry) error {
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
