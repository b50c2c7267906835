package evaluation

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

// key returns the item's key in the ranking.
func key(it *store.Item) string { return it.Entry(record.ByWork).Sort }

// byRank yields the board in the order of the primary measure, by merging partitions, which have this order.
func (b *Leaderboard) byRank(ctx context.Context, parts []string, own []store.Item) iter.Seq2[*Entry, error] {
	sources := lists.Map(parts, func(p string) records.Source { return records.Partition(record.ByWork, p) })
	if len(own) > 0 {
		sources = append(sources, records.Source{Index: record.ByWork, Items: own})
	}
	return func(yield func(*Entry, error) bool) {
		for it, err := range records.Ascending(ctx, b.Viewer.Store, b.AtOnce, sources) {
			if err != nil {
				yield(nil, err)
				return
			}
			parts := strings.Split(key(it), "#")
			if !yield(&Entry{stored: it, scoreKey: parts[0], entrant: parts[len(parts)-1]}, nil) {
				return
			}
		}
	}
}

// partitions returns the partitions of the ranking that the caller may read, and the caller's own entries in other partitions.
func (b *Leaderboard) partitions(ctx context.Context) (parts []string, own []store.Item, err error) {
	roles, err := b.Viewer.Roles(ctx, b.Dataset.Scope())
	if err != nil {
		return nil, nil, err
	}
	for _, a := range record.Audiences {
		if access.Sees(roles, a) {
			parts = append(parts, b.partition(a))
		}
	}
	if roles&access.User != 0 && roles&(access.Organizer|access.Admin) == 0 {
		own, err = b.own(ctx)
	}
	return parts, own, err
}

func (b *Leaderboard) partition(a access.Audience) string {
	return record.RankPartition(b.Dataset.ID, b.TruthVersion, a)
}

// contains reports whether the item is an entry of the leaderboard that its owner may see.
func (b *Leaderboard) contains(it *store.Item) bool {
	partition := it.Entry(record.ByWork).Partition
	return slices.ContainsFunc(record.Audiences, func(a access.Audience) bool {
		return a != access.Organizers && partition == b.partition(a)
	})
}

// own returns the entries of the caller's team, in the order of the board.
func (b *Leaderboard) own(ctx context.Context) ([]store.Item, error) {
	sources, err := b.Viewer.Own(ctx, record.KindEvaluation, b.Dataset.TaskID)
	if err != nil {
		return nil, err
	}
	found := make([][]store.Item, len(sources))
	err = records.Concurrently(len(sources), func(i int) error {
		q := store.Query{Index: sources[i].Index, Partition: sources[i].Partition, Limit: ownPage}
		return records.EachItem(ctx, b.Viewer.Store, q, func(it store.Item) error {
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
	if b.TruthVersion != b.Dataset.Board().TruthVersion || b.Dataset.Reevaluation != nil {
		var err error
		if mine, err = b.older(ctx, mine); err != nil {
			return nil, err
		}
	}
	mine = slices.DeleteFunc(mine, func(it store.Item) bool { return !b.contains(&it) })
	slices.SortFunc(mine, func(x, y store.Item) int { return strings.Compare(key(&x), key(&y)) })
	return mine, nil
}

// older returns all evaluations of the dataset's runs whose listed evaluations are given. Lists of users have no other evaluations.
func (b *Leaderboard) older(ctx context.Context, listed []store.Item) ([]store.Item, error) {
	var runs []string
	var evaluations []store.Key
	for _, it := range listed {
		e, err := records.Decode[record.EvaluationItem](it)
		if err != nil {
			return nil, err
		}
		if e.DatasetID == b.Dataset.ID {
			runs = append(runs, e.RunID)
		}
	}
	found, err := records.GetExisting[record.RunItem](ctx, b.Viewer.Store, b.Viewer.Consistency, runs, record.RunKey)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		evaluations = append(evaluations, records.Keys(r.Evaluations, record.EvaluationKey)...)
	}
	return records.GetItems(ctx, b.Viewer.Store, b.Viewer.Consistency, evaluations...)
}

// ownPage is the page size for a team's evaluations.
const ownPage = 200
