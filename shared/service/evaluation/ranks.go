package evaluation

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"assay/shared/domain/record"
)

// withRuns sets Runs of each entry to the number of its team's entries.
func withRuns(entries iter.Seq2[*Entry, error]) (iter.Seq2[*Entry, error], error) {
	runs := map[string]int{}
	all, err := collect(entries, func(e *Entry) error {
		runs[e.entrant]++
		return nil
	})
	for _, e := range all {
		e.Runs = runs[e.entrant]
	}
	return entrySeq(all), err
}

// collect reads all entries and calls each with them.
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

func entrySeq(all []*Entry) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// withRanks sets the ranks of the entries that have a value. With best, it yields only the first entry of each team.
func withRanks(entries iter.Seq2[*Entry, error], best bool) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		teams := map[string]bool{}
		rank := 0
		count := 0
		scoreKey := ""
		for e, err := range entries {
			if err != nil {
				yield(nil, err)
				return
			}
			if best && teams[e.entrant] {
				continue
			}
			teams[e.entrant] = true
			count++
			if e.scoreKey != scoreKey || count == 1 {
				rank, scoreKey = count, e.scoreKey
			}
			e.Rank = rank
			if e.scoreKey == record.NoScore {
				e.Rank = 0
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// byMeasure sorts the entries by a measure that no index sorts by.
func (b *Leaderboard) byMeasure(name string, ranked iter.Seq2[*Entry, error]) (iter.Seq2[*Entry, error], error) {
	shown := b.Dataset.Board()
	lowerIsBetter := shown.Evaluator.LessIsBetter(name)
	all, err := collect(ranked, func(e *Entry) error {
		item, err := e.Item()
		e.scoreKey = record.NoScore
		if err == nil && item.Measures[name] != nil {
			e.scoreKey = strconv.FormatFloat(*item.Measures[name]+0, 'g', -1, 64)
		}
		return err
	})
	slices.SortFunc(all, func(x, y *Entry) int {
		return cmp.Or(compare(x.item.Measures[name], y.item.Measures[name], lowerIsBetter),
			strings.Compare(x.item.SubmissionID, y.item.SubmissionID), strings.Compare(x.item.RunID, y.item.RunID))
	})
	return entrySeq(all), err
}

// compare orders values from best to worst, and undefined values last.
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
