package records

import (
	"cmp"
	"context"
	"iter"

	"assay/shared/storage/store"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many calls Concurrently makes at the same time.
const atOnce = 32

// merge reads several sources together.
type merge struct {
	store     store.Store
	sel       Selection
	ascending bool
	more      int // items in each read of a source after the first
	bytes     int // limit of each read of a source
	parts     []*part
}

// part is a source with the items read last.
type part struct {
	Source
	more int // items in the next read
	at   int // position in Items of the next item
	end  bool
}

// placed is an item with its ID in the order of the list.
type placed struct {
	*store.Item
	id string
}

func newMerge(s store.Store, sel Selection) *merge {
	return &merge{store: s, sel: sel, more: sel.Limit + 1, bytes: max(readBytes/max(len(sel.Sources), 1), sourceBytes)}
}

// Concurrently calls do with 0 to n-1, at most atOnce at a time. It returns the error of the lowest number whose call failed.
func Concurrently(n int, do func(int) error) error {
	if n == 1 {
		return do(0)
	}
	errs := make([]error, n)
	var all errgroup.Group
	all.SetLimit(atOnce)
	for i := range n {
		all.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = all.Wait() // the order of errs does not depend on timing
	return cmp.Or(errs...)
}

// read replaces p's items with the following ones.
func (p *part) read(ctx context.Context, m *merge) (err error) {
	switch {
	case p.end:
		return nil
	case p.Partition == "":
		n := min(m.sel.Limit+1, len(p.IDs), store.MaxKeys) // skip has removed the IDs of used items
		p.Items, err = m.store.Get(ctx, store.Eventual, Keys(p.IDs[:n], p.Key)...)
		p.at, p.end = 0, n == len(p.IDs)
		return Failed(err)
	}
	q := store.Query{Index: p.Index, Partition: p.Partition, From: p.From, To: p.To, Descending: !m.ascending, Limit: m.sel.Limit + 1,
		MaxBytes: m.bytes}
	if m.sel.Cursor != "" {
		q.To = p.From + m.sel.Cursor
	}
	if len(p.Items) > 0 {
		q.After, q.Limit = &p.Items[len(p.Items)-1], p.more
		if m.ascending {
			p.more *= 2
		}
	}
	p.Items, err = m.store.Query(ctx, q)
	p.at, p.end = 0, q.IsLastPage(p.Items)
	return Failed(err)
}

// head returns the ID of the part's next item, or "" at its end.
func (p *part) head(ctx context.Context, m *merge) (string, error) {
	for {
		switch {
		case p.at == len(p.Items) && p.end:
			return "", nil
		case p.at == len(p.Items):
			if err := p.read(ctx, m); err != nil {
				return "", err
			}
		case p.Partition != "" || p.IDs == nil:
			return p.Items[p.at].Entry(p.Index).Sort[len(p.From):], nil
		case p.Items[p.at].Exists():
			return p.IDs[0], nil
		default:
			p.skip()
		}
	}
}

func (p *part) skip() {
	p.at++
	if len(p.IDs) > 0 {
		p.IDs = p.IDs[1:]
	}
}

// all yields the items of all sources in order, without duplicates.
func (m *merge) all(ctx context.Context) iter.Seq2[placed, error] {
	for _, src := range m.sel.Sources {
		p := &part{Source: src, more: m.more, end: src.Items != nil}
		for m.sel.Cursor != "" && len(p.IDs) > 0 && p.IDs[0] > m.sel.Cursor {
			p.IDs = p.IDs[1:]
		}
		m.parts = append(m.parts, p)
	}
	return func(yield func(placed, error) bool) {
		err := Concurrently(len(m.parts), func(i int) error { return m.parts[i].read(ctx, m) })
		for last := ""; err == nil; {
			var best *part
			id := ""
			for _, p := range m.parts {
				h, failed := p.head(ctx, m)
				err = cmp.Or(err, failed)
				if h != "" && (best == nil || h != id && h < id == m.ascending) {
					best, id = p, h
				}
			}
			if best == nil || err != nil {
				break
			}
			it := &best.Items[best.at]
			best.skip()
			if id != last && !yield(placed{it, id}, nil) {
				return
			}
			last = id
		}
		if err != nil {
			yield(placed{}, err)
		}
	}
}
