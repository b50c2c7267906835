// Package evaluation writes and reads evaluations in the store: Writer writes the results of evaluators, Leaderboard ranks them as one
// caller may see them, and ReadTopics reads the values per topic. No other package writes or reads these formats.
//
// # Values that tell the truth
//
// Who sees an evaluation sees its measures. Of kinds of evaluators that say so (measure.EvaluatorKind.SafePerTopic) the same callers see
// the values per topic: these tell which topics are hard, but not which documents are relevant. Of other kinds, such as classification and
// regression, values are of single examples, and say which predictions are right or how far off they are: with the run at hand that is
// the truth, and a few runs give all of it. So they, and the confusion matrix, are for the organizers of the task and administrators;
// Hides decides that for all that reads them.
//
// For others the server computes from them what tells about as little as the measures do:
//
//   - The interval of a mean by the normal distribution, with ends of few digits. Of values 0 and 1 it follows from the mean
//     and their number. Of errors it adds their spread, with too few digits to carry many numbers at once. A bootstrap would
//     reveal by many seeds which examples have which values, because what each seed draws is known. Of a measure of all examples together,
//     such as macro F1, the spread is that over samples which depend on nothing but how many examples there are.
//   - For a pair of runs, p of one test, rounded up to one of seven levels before it is corrected. McNemar's counts, the statistic of a
//     t-test, Cohen's d and exact p give the number of examples on which two runs differ: for crafted runs as much as the score of another
//     run, so that n runs of a team would tell as much as n²/2, and no quota of runs would bound that. A level is at most 2.8 bits, and
//     mostly less than one; the score of a run on 1,000 examples is up to ten. There is one test, without a seed, because the thresholds
//     of several tests or many draws would tell where between two levels p is.
//   - How many examples there are, which all know who submit. Every run has all of them, so that none is left out.
package evaluation

import (
	"context"
	"iter"
	"time"

	"assay/shared/access"
	"assay/shared/lists"
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
	// Final has Entries yield the final runs of each team alone, for which it reads the whole board.
	Final bool
	// Now is when the caller looks, who is shown nothing of a dataset that withholds scores then.
	Now time.Time
}

// Entry is an evaluation on a board.
type Entry struct {
	// Rank is one more than the number of better entries.
	Rank     int
	Runs     int         // of the team on the board; 0 unless they were counted
	stored   *store.Item // nil once it is decoded and kept
	scoreKey string      // the same for entries that share a rank
	entrant  string      // EvaluationItem.Entrant
	item     *record.EvaluationItem
}

// Item decodes the evaluation when it is first needed; entries that an offset skips are never decoded.
func (e *Entry) Item() (_ *record.EvaluationItem, err error) {
	if e.item == nil {
		e.item, _, err = records.Shared[record.EvaluationItem](*e.stored)
	}
	return e.item, err
}

// Kept reports whether the evaluation that Item returns is kept with the board, and never changes.
func (e *Entry) Kept() bool { return e.stored == nil }

// Entries yields what the caller sees of the board in the order of the measure; empty is the primary one. Of equal values the earlier
// submission comes first; undefined values come last. With best it yields, and ranks, only the best run of each team.
func (b *Leaderboard) Entries(ctx context.Context, measure string, best bool) (iter.Seq2[*Entry, error], error) {
	if withheld, err := b.withheld(ctx); err != nil || withheld {
		return entrySeq(nil), err
	}
	parts, own, err := b.partitions(ctx)
	if err != nil {
		return nil, err
	}
	o := order{measure: measure, best: best, final: b.Final, count: b.Count}
	if b.Final {
		o.seen = visibleTo(parts, own)
		parts, own = lists.Map(record.Audiences, b.partition), nil
	}
	state, known := b.state()
	state.visible = visibleTo(parts, own)
	first := b.ranked(measure) && !best && !b.Final && b.AtOnce <= maxFirst
	if !known {
		return b.inOrder(ctx, b.byRank(ctx, parts, own), measure, best)
	}
	ranked, ordered := kept.get(state, o)
	switch {
	case ordered != nil:
		return entrySeq(ordered), nil
	case ranked == nil && first: // no more is read than is asked for
		return b.inOrder(ctx, kept.whenRead(state, b.byRank(ctx, parts, own)), measure, best)
	case ranked == nil:
		for e, err := range b.byRank(ctx, parts, own) {
			if err != nil {
				return nil, err
			}
			if ranked = append(ranked, e); len(ranked) > maxKept {
				return b.inOrder(ctx, b.byRank(ctx, parts, own), measure, best)
			}
		}
		if err := kept.put(state, ranked); err != nil {
			return nil, err
		}
	}
	copies := lists.Map(ranked, func(e *Entry) *Entry { return &Entry{scoreKey: e.scoreKey, entrant: e.entrant, item: e.item} })
	entries, err := b.inOrder(ctx, entrySeq(copies), measure, best)
	if err != nil {
		return nil, err
	}
	if ordered, err = collect(entries, func(*Entry) error { return nil }); err == nil {
		kept.putOrder(state, o, ordered)
	}
	return entrySeq(ordered), err
}

// maxFirst is up to which place the beginning of a board is read without the rest.
const maxFirst = 500

// ranked reports whether the partitions of the board are in the order of the measure.
func (b *Leaderboard) ranked(measure string) bool {
	shown := b.Dataset.Board()
	return measure == "" || measure == shown.Evaluator.PrimaryMeasure && b.TruthVersion == shown.TruthVersion
}

// inOrder yields the entries, which are by rank, as they were asked for.
func (b *Leaderboard) inOrder(ctx context.Context, entries iter.Seq2[*Entry, error], measure string, best bool) (
	_ iter.Seq2[*Entry, error], err error) {
	if !b.ranked(measure) {
		if entries, err = b.byMeasure(measure, entries); err != nil {
			return nil, err
		}
	}
	if b.Final {
		if entries, err = b.finals(ctx, entries); err != nil {
			return nil, err
		}
	}
	if best && b.Count {
		if entries, err = withRuns(entries); err != nil {
			return nil, err
		}
	}
	return withRanks(entries, best), nil
}

// withheld reports whether the caller is shown no scores yet.
func (b *Leaderboard) withheld(ctx context.Context) (bool, error) {
	if b.Dataset.Scores != record.ScoresAfterClose {
		return false, nil
	}
	roles, err := b.Viewer.Roles(ctx, b.Dataset.Scope())
	if err != nil || access.Sees(roles, access.Organizers) {
		return false, err
	}
	r, err := b.Viewer.Release(ctx, b.Dataset.TaskID, b.Dataset.ID)
	return r.Withholds(b.Now), err
}
