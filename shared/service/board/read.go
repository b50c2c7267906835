package board

import (
	"context"
	"iter"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// sortKey returns the item's key in the ranking.
func sortKey(it *store.Item) string { return it.Entry(record.ByWork).Sort }

// inRankOrder reports whether the entries are in the order of the ranking's partitions, so that a page needs only its beginning.
func (q *Query) inRankOrder(by selector) bool {
	shown := q.Dataset.Board()
	ranks := shown.Evaluator.RanksBy(by.measure, by.lowerIsBetter) && !by.concealed
	return q.TruthVersion == shown.TruthVersion && ranks && !q.Final && !(q.Best && q.Count)
}

// byRank yields the items of the partitions and the caller's own ones in the order of the ranking, by merging them.
func (q *Query) byRank(ctx context.Context, parts []string, own []store.Item) iter.Seq2[*store.Item, error] {
	sources := lists.Map(parts, func(p string) records.Source { return records.Partition(record.ByWork, p) })
	if len(own) > 0 {
		sources = append(sources, records.Source{Index: record.ByWork, Items: own})
	}
	return records.Ascending(ctx, q.Viewer.Store, q.AtOnce, sources)
}

// ranked yields the entries while it reads them. It does not decode entries, because the keys of the ranking have all that ranks need.
func (q *Query) ranked(ctx context.Context, parts []string, own []store.Item) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		teams := map[string]bool{}
		rank, count := 0, 0
		score := ""
		for it, err := range q.byRank(ctx, parts, own) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			key := strings.Split(sortKey(it), "#")
			team := key[len(key)-1]
			if q.Best && teams[team] {
				continue
			}
			teams[team] = true
			count++
			if key[0] != score || count == 1 {
				rank, score = count, key[0]
			}
			e := Entry{Rank: rank, stored: it}
			if score == record.NoScore {
				e.Rank = 0
			}
			if count > q.Offset && !yield(e, nil) {
				return
			}
		}
	}
}

// read returns the board with the evaluations of the partitions and the caller's own ones. Final runs also depend on evaluations that the
// caller does not see.
func (q *Query) read(ctx context.Context, parts []string, own []store.Item) (*Board, error) {
	if q.Final {
		parts, own = q.board().partitions(), nil
	}
	b := New()
	for it, err := range q.byRank(ctx, parts, own) {
		if err == nil {
			err = b.follow(*it)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// partitions returns the partitions of the ranking that the caller may read, and the caller's own entries. Evaluations move to other
// partitions some time after a rule of the dataset changes. So the present rules decide about partitions, which hold only published runs
// if registrants or everyone may read them, and about each own entry.
func (q *Query) partitions(ctx context.Context, r Reader) (parts []string, own []store.Item, err error) {
	for _, a := range record.Audiences {
		if a >= r.Class && (r.Class == access.Organizers || r.Rule.Published >= r.Class) {
			parts = append(parts, q.partition(a))
		}
	}
	if len(r.Owners) > 0 {
		own, err = q.own(ctx, r.Sees)
	}
	return parts, own, err
}

func (q *Query) partition(a access.Audience) string {
	return record.RankPartition(q.Dataset.ID, q.TruthVersion, a)
}

// contains reports whether the item is an entry of the board that its owner may see.
func (q *Query) contains(it *store.Item) bool {
	partition := it.Entry(record.ByWork).Partition
	return slices.ContainsFunc(record.Audiences, func(a access.Audience) bool {
		return a != access.Organizers && partition == q.partition(a)
	})
}

// own returns the entries of the caller's team that sees accepts, in the order of the ranking.
func (q *Query) own(ctx context.Context, sees func(*record.EvaluationItem) bool) ([]store.Item, error) {
	sources, err := q.Viewer.Own(ctx, record.KindEvaluation, q.Dataset.TaskID)
	if err != nil {
		return nil, err
	}
	found := make([][]store.Item, len(sources))
	err = records.Concurrently(len(sources), func(i int) error {
		query := store.Query{Index: sources[i].Index, Partition: sources[i].Partition, Limit: ownPage}
		return records.EachItem(ctx, q.Viewer.Store, query, func(it store.Item) error {
			e, err := records.Decode[record.EvaluationItem](it)
			if err == nil {
				it.Indexes = e.Indexes() // the query returned only one of the entries
				found[i] = append(found[i], it)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	mine := slices.Concat(found...)
	if q.TruthVersion != q.Dataset.Board().TruthVersion || q.Dataset.Reevaluation != nil {
		var err error
		if mine, err = q.older(ctx, mine); err != nil {
			return nil, err
		}
	}
	var seen []store.Item
	for _, it := range mine {
		if !q.contains(&it) {
			continue
		}
		e, err := records.Decode[record.EvaluationItem](it)
		if err != nil {
			return nil, err
		}
		if sees(e) {
			seen = append(seen, it)
		}
	}
	slices.SortFunc(seen, func(x, y store.Item) int { return strings.Compare(sortKey(&x), sortKey(&y)) })
	return seen, nil
}

// older returns all evaluations of the dataset's runs whose listed evaluations are given. Lists of users have no other evaluations.
func (q *Query) older(ctx context.Context, listed []store.Item) ([]store.Item, error) {
	var runs []string
	var evaluations []store.Key
	for _, it := range listed {
		e, err := records.Decode[record.EvaluationItem](it)
		if err != nil {
			return nil, err
		}
		if e.DatasetID == q.Dataset.ID {
			runs = append(runs, e.RunID)
		}
	}
	found, err := records.GetExisting[record.RunItem](ctx, q.Viewer.Store, q.Viewer.Consistency, runs, record.RunKey)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		evaluations = append(evaluations, records.Keys(r.Evaluations, record.EvaluationKey)...)
	}
	return records.GetItems(ctx, q.Viewer.Store, q.Viewer.Consistency, evaluations...)
}

// ownPage is the page size for a team's evaluations.
const ownPage = 200
