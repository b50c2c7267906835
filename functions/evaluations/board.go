package evaluations

import (
	"context"
	"iter"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// board is what a caller sees of a dataset's ranking.
type board struct {
	c       *api.Call
	dataset *record.DatasetItem
}

// entry is an evaluation on a board.
type entry struct {
	stored store.Item
	worth  string // the same for entries that share a rank
	item   *record.EvaluationItem
}

// decode reads the evaluation, when it is first needed: what an offset passes over is not.
func (e *entry) decode() (_ *record.EvaluationItem, err error) {
	if e.item == nil {
		e.item, err = table.Decode[record.EvaluationItem](e.stored)
	}
	return e.item, err
}

// key is the entry's place in the order of the ranking.
func key(it *store.Item) string { return it.Entry(record.ByWork).Sort }

// byRank yields the board by the primary measure: the partitions merged, each of which is in that order. From one
// partition it reads, in one call, what the page needs, and more only when that was not enough.
func (b *board) byRank(ctx context.Context) (iter.Seq2[*entry, error], error) {
	parts, own, err := b.partitions(ctx)
	if err != nil {
		return nil, err
	}
	var streams []*stream
	limit := b.c.Page.Offset + b.c.Page.Limit + 1
	for _, p := range parts {
		streams = append(streams, &stream{query: store.Query{Index: record.ByWork, Partition: p, Limit: limit}})
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
	return func(yield func(*entry, error) bool) {
		if err := table.Together(len(streams), func(i int) error { return streams[i].read(ctx, b.c.Store) }); err != nil {
			yield(nil, err)
			return
		}
		last := ""
		for {
			it, err := first(ctx, b.c.Store, streams)
			if it == nil || err != nil {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if k := key(it); k != last {
				last = k
				worth, _, _ := strings.Cut(k, "#")
				if !yield(&entry{stored: *it, worth: worth}, nil) {
					return
				}
			}
		}
	}, nil
}

// partitions names those of the ranking whose entries all are visible to the caller, and reports whether results of the
// caller's own may stand in others.
func (b *board) partitions(ctx context.Context) (parts []string, own bool, err error) {
	roles, err := b.c.Roles(ctx, b.dataset.Scope())
	for _, a := range record.Audiences {
		if access.Sees(roles, a) {
			parts = append(parts, b.partition(a))
		}
	}
	return parts, roles&access.User != 0 && roles&(access.Organizer|access.Admin) == 0, err
}

func (b *board) partition(a access.Audience) string {
	return record.OfRank(b.dataset.ID, b.dataset.TruthVersion, a)
}

// own returns the entries of the caller's that are not everyone's, in their order on the board.
func (b *board) own(ctx context.Context) ([]store.Item, error) {
	var mine []store.Item
	q := store.Query{Index: record.ByUser, Partition: record.OfUser(b.c.Caller.ID, record.KindEvaluation, access.Owners), Limit: ownPage}
	for {
		items, err := b.c.Store.Query(ctx, q)
		if err != nil {
			return nil, table.Failed(err)
		}
		for i := range items {
			partition := items[i].Entry(record.ByWork).Partition
			if slices.ContainsFunc(record.Audiences, func(a access.Audience) bool { return partition == b.partition(a) }) {
				mine = append(mine, items[i])
			}
		}
		if len(items) < ownPage {
			break
		}
		q.After = &items[ownPage-1]
	}
	slices.SortFunc(mine, func(x, y store.Item) int { return strings.Compare(key(&x), key(&y)) })
	return mine, nil
}

// ownPage is how many of a user's evaluations are read at once.
const ownPage = 200

// stream is a run of items in the order of the board, of which items[at:] is read and not yet used.
type stream struct {
	query store.Query
	items []store.Item
	at    int
	end   bool // nothing more behind items
}

func (s *stream) read(ctx context.Context, st store.Store) error {
	if s.end {
		return nil
	}
	items, err := st.Query(ctx, s.query)
	if err != nil {
		return table.Failed(err)
	}
	s.items, s.at, s.end = items, 0, len(items) < s.query.Limit
	if !s.end {
		s.query.After = &items[len(items)-1]
	}
	return nil
}

// first takes the item that comes first of all streams; nil at their end.
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
