package evaluation

import (
	"context"
	"iter"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// key is the entry's place in the order of the ranking.
func key(it *store.Item) string { return it.Entry(record.ByWork).Sort }

// byRank yields the board by the primary measure, which orders the partitions that it merges.
func (b *Leaderboard) byRank(ctx context.Context) (iter.Seq2[*Entry, error], error) {
	parts, own, err := b.partitions(ctx)
	if err != nil {
		return nil, err
	}
	var streams []*stream
	for _, p := range parts {
		streams = append(streams, &stream{query: store.Query{Index: record.ByWork, Partition: p, Limit: b.AtOnce, MaxBytes: readBytes}})
	}
	if own {
		items, err := b.own(ctx)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			streams = append(streams, &stream{items: items, end: true})
		}
	}
	return func(yield func(*Entry, error) bool) {
		if err := records.Together(len(streams), func(i int) error { return streams[i].read(ctx, b.Viewer.Store) }); err != nil {
			yield(nil, err)
			return
		}
		last := ""
		for {
			it, err := first(ctx, b.Viewer.Store, streams)
			if it == nil || err != nil {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if k := key(it); k != last {
				last = k
				parts := strings.Split(k, "#")
				if !yield(&Entry{stored: *it, scoreKey: parts[0], entrant: parts[len(parts)-1]}, nil) {
					return
				}
			}
		}
	}, nil
}

// partitions returns the partitions of the ranking that the caller may read, and reports whether others may have entries of the
// caller's own.
func (b *Leaderboard) partitions(ctx context.Context) (parts []string, own bool, err error) {
	roles, err := b.Viewer.Roles(ctx, b.Dataset.Scope())
	for _, a := range record.Audiences {
		if access.Sees(roles, a) {
			parts = append(parts, b.partition(a))
		}
	}
	return parts, roles&access.User != 0 && roles&(access.Organizer|access.Admin) == 0, err
}

func (b *Leaderboard) partition(a access.Audience) string {
	return record.RankPartition(b.Dataset.ID, b.TruthVersion, a)
}

// holds reports whether the item is an entry of the board that its owner sees.
func (b *Leaderboard) holds(it *store.Item) bool {
	partition := it.Entry(record.ByWork).Partition
	return slices.ContainsFunc(record.Audiences, func(a access.Audience) bool {
		return a != access.Organizers && partition == b.partition(a)
	})
}

// own returns the caller's own entries, in the order of the board.
func (b *Leaderboard) own(ctx context.Context) ([]store.Item, error) {
	var mine []store.Item
	q := store.Query{Index: record.ByUser, Partition: record.UserListPartition(b.Viewer.Caller.ID, record.KindEvaluation, access.Owners),
		Limit: ownPage}
	for it, err := range records.Items(ctx, b.Viewer.Store, q) {
		if err != nil {
			return nil, err
		}
		mine = append(mine, it)
	}
	if b.TruthVersion != b.Dataset.Board().TruthVersion || b.Dataset.Reevaluation != nil {
		var err error
		if mine, err = b.older(ctx, mine); err != nil {
			return nil, err
		}
	}
	mine = slices.DeleteFunc(mine, func(it store.Item) bool { return !b.holds(&it) })
	slices.SortFunc(mine, func(x, y store.Item) int { return strings.Compare(key(&x), key(&y)) })
	return mine, nil
}

// older returns all evaluations of the dataset's runs whose listed ones are given, since a user's list has no others.
func (b *Leaderboard) older(ctx context.Context, listed []store.Item) ([]store.Item, error) {
	var runs, evaluations []store.Key
	for _, it := range listed {
		e, err := records.Decode[record.EvaluationItem](it)
		if err != nil {
			return nil, err
		}
		if e.DatasetID == b.Dataset.ID {
			runs = append(runs, record.RunKey(e.RunID))
		}
	}
	found, err := records.GetAll[record.RunItem](ctx, b.Viewer.Store, b.Viewer.Consistency, runs...)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		if r == nil {
			continue
		}
		evaluations = append(evaluations, records.Keys(r.Evaluations, record.EvaluationKey)...)
	}
	var all []store.Item
	for keys := range slices.Chunk(evaluations, store.MaxKeys) {
		items, err := b.Viewer.Store.Get(ctx, b.Viewer.Consistency, keys...)
		if err != nil {
			return nil, records.Failed(err)
		}
		all = append(all, items...)
	}
	return all, nil
}

// readBytes bounds one read of a partition: some thousand entries.
const readBytes = 4 << 20

// ownPage is the page size of a user's evaluations.
const ownPage = 200

// stream is items in the order of the board, of which items[at:] are read and not yet used.
type stream struct {
	query store.Query
	items []store.Item
	at    int
	end   bool // no more after items
}

func (s *stream) read(ctx context.Context, st store.Store) error {
	if s.end {
		return nil
	}
	items, err := st.Query(ctx, s.query)
	if err != nil {
		return records.Failed(err)
	}
	s.items, s.at, s.end = items, 0, s.query.Ends(items)
	if !s.end {
		s.query.After = &items[len(items)-1]
		s.query.Limit *= 2 // a reader that continues is likely to read all
	}
	return nil
}

// first takes the first item of all streams; nil at their end.
func first(ctx context.Context, st store.Store, streams []*stream) (*store.Item, error) {
	var best *stream
	for _, s := range streams {
		if s.at == len(s.items) {
			if err := s.read(ctx, st); err != nil {
				return nil, err
			}
		}
		if s.at < len(s.items) && (best == nil || key(&s.items[s.at]) < key(&best.items[best.at])) {
			best = s
		}
	}
	if best == nil {
		return nil, nil
	}
	best.at++
	return &best.items[best.at-1], nil
}
