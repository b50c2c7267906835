// Package evaluation writes and reads evaluations in the store: Writer writes the results of evaluators, Leaderboard ranks the results
// that one caller may see, and ReadTopics reads the values per topic. No other package writes or reads these formats.
//
// # Values that reveal the ground truth
//
// Callers who see an evaluation see its measures. If the kind of evaluator allows it (measure.EvaluatorKind.SafePerTopic), they also see
// the values per topic: these show which topics are hard, but not which documents are relevant. For other kinds, such as classification
// and regression, each value belongs to one example. It shows whether a prediction is right or how far off it is. Together with the run,
// this is the ground truth (qrels, labels) of the example, and a few runs reveal all of it. So only the organizers of the task and
// administrators see these values and the confusion matrix. Hides decides this for every reader.
//
// For other callers the server computes statistics from the values that reveal about as little as the measures:
//
//   - The interval of a mean by the normal distribution, with ends of few digits. For values 0 and 1 it follows from the mean and the
//     number of examples. For errors it also shows their spread, with too few digits to encode many numbers. A bootstrap with many
//     seeds would reveal which examples have which values, because the samples of each seed are known. For a measure of all examples
//     together, such as macro F1, the spread comes from samples that depend only on the number of examples.
//   - For a pair of runs, p of one test, rounded up to one of seven levels before its correction. McNemar's counts, the statistic of a
//     t-test, Cohen's d and exact p reveal the number of examples on which two runs differ. For crafted runs, this is as much as the
//     score of another run: n runs of a team would reveal as much as n²/2 runs, whatever the quota. A level is at most 2.8 bits, and
//     mostly less than one; the score of a run on 1,000 examples is up to ten. There is one test, without a seed. The thresholds of
//     several tests, or many draws, would show where between two levels p is.
//   - The number of examples, which everyone who submits knows. Every run has all examples, so that none is left out.
package evaluation

import (
	"context"
	"iter"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// Leaderboard is the ranking against one version of a dataset's ground truth. Values against different versions are not comparable.
type Leaderboard struct {
	Viewer       *visibility.Viewer
	Dataset      *record.DatasetItem
	TruthVersion int64
	// AtOnce is how many entries the first read of a partition asks for: as many as the reader is likely to need. Each further read
	// doubles the number.
	AtOnce int
	// Count makes Entries set Runs on the best run of each team. Entries then reads the whole board.
	Count bool
	// Final makes Entries yield only the final runs of each team. Entries then reads the whole board.
	Final bool
	// Now is the time of the read. If the dataset withholds scores then, only organizers see entries.
	Now time.Time
}

// Entry is an evaluation on a board.
type Entry struct {
	// Rank is one more than the number of better entries. It is 0 without a value of the measure that sorts the board.
	Rank     int
	Runs     int         // number of the team's runs on the board; 0 unless counted
	stored   *store.Item // nil once the entry is decoded and cached
	scoreKey string      // equal for entries with equal ranks; record.NoScore without a value
	entrant  string      // EvaluationItem.Entrant
	item     *record.EvaluationItem
}

// Item returns the evaluation, which the first call decodes. Entries that an offset skips are never decoded.
func (e *Entry) Item() (_ *record.EvaluationItem, err error) {
	if e.item == nil {
		e.item, err = records.Decode[record.EvaluationItem](*e.stored)
	}
	return e.item, err
}

// Kept reports whether the evaluation of Item is cached with the board, and never changes.
func (e *Entry) Kept() bool { return e.stored == nil }

// Entries yields the entries that the caller sees, in the order of the measure; "" means the primary measure. Equal values are in the
// order of submission, and undefined values come last, without a rank. With best, Entries yields and ranks only the best run of each team.
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
	case ranked == nil && first: // reads only the entries that are asked for
		return b.inOrder(ctx, kept.whenRead(state, b.byRank(ctx, parts, own)), measure, best)
	case ranked == nil:
		for e, err := range b.byRank(ctx, parts, own) {
			if err != nil {
				return nil, err
			}
			ranked = append(ranked, e)
			if len(ranked) > maxKept {
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

// maxFirst is the greatest AtOnce with which the beginning of a board is read without the rest.
const maxFirst = 500

// ranked reports whether the partitions of the board have the order of the measure.
func (b *Leaderboard) ranked(measure string) bool {
	shown := b.Dataset.Board()
	return measure == "" || measure == shown.Evaluator.PrimaryMeasure && b.TruthVersion == shown.TruthVersion
}

// inOrder selects and orders the entries, which must be by rank.
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

// withheld reports whether the caller must not see scores yet.
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
