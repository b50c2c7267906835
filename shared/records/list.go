package records

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/lists"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"

	"golang.org/x/sync/errgroup"
)

// Source is one run of items in descending order of their sort key, which is the id.
type Source struct {
	Index     store.Index
	Partition string
	From, To  string // bounds in the table itself, which an id is appended to; empty in an index
	// Instead of a partition: the ids of records, in descending order, and their keys.
	IDs []string
	Key func(id string) store.Key
	// Instead of a partition to read: its items, in the order of the list.
	Items []store.Item
}

// ByIDs returns the source of the records with the ids, each once.
func ByIDs(ids []string, key func(id string) store.Key) Source {
	newestFirst := func(a, b string) int { return strings.Compare(b, a) }
	return Source{IDs: slices.Compact(slices.SortedFunc(slices.Values(ids), newestFirst)), Key: key}
}

// Partition is the source of one partition of an index.
func Partition(i store.Index, partition string) Source { return Source{Index: i, Partition: partition} }

// Selection is the part of a list to read.
type Selection struct {
	Sources []Source
	Cursor  string // id of the first wanted record; empty: the newest
	Limit   int
}

// List merges the sources, newest first and each record once, and calls add with the records that keep accepts (nil accepts
// all), until it has Limit of them or add reports that there is no more room. It returns the id of the one after them. A
// cursor that is not the first of them is an InvalidCursor. Without keep it reads at most Limit+1 items of each source, in
// one call each unless they are large.
func List[R any, P Pointer[R]](ctx context.Context, s store.Store, sel Selection, keep func(P) bool,
	add func(P) (full bool, err error)) (next string, err error) {
	return ListShared(ctx, s, sel, keep, func(r P, _ any) (bool, error) { return add(r) })
}

// ListShared is List that gives add the key of each record too, as Shared has it.
func ListShared[R any, P Pointer[R]](ctx context.Context, s store.Store, sel Selection, keep func(P) bool,
	add func(_ P, key any) (full bool, err error)) (next string, err error) {
	type listed struct {
		record P
		key    any
	}
	decode := func(it store.Item) (l listed, err error) {
		l.record, l.key, err = Shared[R, P](it)
		return l, err
	}
	var keeps func(listed) bool
	if keep != nil {
		keeps = func(l listed) bool { return keep(l.record) }
	}
	return ListItems(ctx, s, sel, decode, keeps, func(l listed) (bool, error) { return add(l.record, l.key) })
}

// ListItems is List for what decode returns of the items, which can be records of several kinds.
func ListItems[T any](ctx context.Context, s store.Store, sel Selection, decode func(store.Item) (T, error), keep func(T) bool,
	add func(T) (full bool, err error)) (next string, err error) {
	m := newMerge(s, sel)
	if keep != nil {
		m.more = max(m.more, searchPage)
	}
	added, full := 0, false
	for it, err := range m.all(ctx) {
		var r T
		if err == nil {
			r, err = decode(*it.Item)
		}
		switch {
		case err != nil:
			return "", err
		case keep != nil && !keep(r):
			continue
		case full || added == sel.Limit:
			return it.id, nil
		case added == 0 && sel.Cursor != "" && it.id != sel.Cursor:
			return "", invalidCursor
		}
		if full, err = add(r); err != nil {
			return "", err
		}
		added++
	}
	if sel.Cursor != "" && added == 0 {
		return "", invalidCursor
	}
	return "", nil
}

var invalidCursor = problem.InvalidCursor.New("The cursor names nothing in this list. Follow links.next as it was given, or start " +
	"without a cursor.")

// Bounds of what is read at a time, so that lists of large records do not fill the memory: of all sources together, but of
// each one enough that lists of ordinary records take one call.
const (
	readBytes   = 1 << 20
	sourceBytes = 128 << 10
)

// searchPage is how many items one call reads at least while a list looks further for what keep accepts, so that a short
// page of something rare costs no call for each few items.
const searchPage = 200

// atOnce is how many calls Together makes at the same time.
const atOnce = 32

// merge reads several sources together.
type merge struct {
	store     store.Store
	sel       Selection
	ascending bool
	more      int // how many items to read of a source at a time, once the first ones are used up
	bytes     int // how many bytes to read of a source at a time
	parts     []*part
}

// part is a source with what was read of it.
type part struct {
	Source
	more int // as that of merge
	at   int // of Items, the first that is not used
	end  bool
}

// placed is an item with its place in the order of the list.
type placed struct {
	*store.Item
	id string
}

func newMerge(s store.Store, sel Selection) *merge {
	return &merge{store: s, sel: sel, more: sel.Limit + 1, bytes: max(readBytes/max(len(sel.Sources), 1), sourceBytes)}
}

// Concurrently calls do with 0 to n-1, at most atOnce at the same time, and returns the error of the lowest that has one.
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
	_ = all.Wait() // errs has what failed, in an order that does not depend on time
	return cmp.Or(errs...)
}

// read replaces the items of p by the next ones behind them.
func (p *part) read(ctx context.Context, m *merge) (err error) {
	switch {
	case p.end:
		return nil
	case p.Partition == "":
		n := min(m.sel.Limit+1, len(p.IDs), store.MaxKeys) // skip takes those of items that are used
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

// head returns the id of the part's next item; empty at its end.
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

// all yields the items of all sources in their order, each once.
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

// boardBytes bounds one read of a partition by Ascending: some thousand entries of a board.
const boardBytes = 4 << 20

// Ascending yields the items of the sources in ascending order of their sort keys, each once. The first read of a source asks for n, and
// each further one for twice as many: a reader that continues is likely to read all.
func Ascending(ctx context.Context, s store.Store, n int, sources []Source) iter.Seq2[*store.Item, error] {
	m := merge{store: s, sel: Selection{Sources: sources, Limit: n - 1}, ascending: true, more: 2 * n, bytes: boardBytes}
	return func(yield func(*store.Item, error) bool) {
		for it, err := range m.all(ctx) {
			if !yield(it.Item, err) {
				return
			}
		}
	}
}

// all yields every record of the sources, newest first; each record once. It reads in pages of n.
func all[R any, P Pointer[R]](ctx context.Context, s store.Store, n int, sources []Source) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for it, err := range newMerge(s, Selection{Sources: sources, Limit: n}).all(ctx) {
			var r P
			if err == nil {
				r, err = Decode[R, P](*it.Item)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Each calls do with every record of the sources, newest first; each record once. It reads in pages of n.
func Each[R any, P Pointer[R]](ctx context.Context, s store.Store, n int, sources []Source, do func(P) error) error {
	for r, err := range all[R, P](ctx, s, n, sources) {
		if err == nil {
			err = do(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Count is how many records of the sources do count, as far as most; it reads in pages of n.
func Count[R any, P Pointer[R]](
	ctx context.Context, s store.Store, n, most int, sources []Source, counts func(P) bool,
) (found int, err error) {
	for r, err := range all[R, P](ctx, s, n, sources) {
		if err != nil {
			return found, err
		}
		if counts(r) {
			found++
		}
		if found == most {
			break
		}
	}
	return found, nil
}

// Items yields what the query finds, page after page of its limit, as it is in the store. An error, after which it ends, is a
// problem.
func Items(ctx context.Context, s store.Store, q store.Query) iter.Seq2[store.Item, error] {
	return func(yield func(store.Item, error) bool) {
		for {
			found, err := s.Query(ctx, q)
			if err != nil {
				yield(store.Item{}, Failed(err))
				return
			}
			for _, it := range found {
				if !yield(it, nil) {
					return
				}
			}
			if q.IsLastPage(found) {
				return
			}
			q.After = &found[len(found)-1]
		}
	}
}

// EachItem calls do with every item that the query finds.
func EachItem(ctx context.Context, s store.Store, q store.Query, do func(store.Item) error) error {
	for it, err := range Items(ctx, s, q) {
		if err == nil {
			err = do(it)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Of are the sources of all resources of the kind that belong to the one with the id, whose kind is of (record.List).
func Of(of record.Kind, id string, k record.Kind) []Source {
	audiences := record.AudiencesOf(k)
	if of == record.KindTeam {
		audiences = audiences[1:] // what everyone sees is in the lists of users
	}
	return OfAudiences(of, id, k, audiences...)
}

// OfAudiences is Of for the resources with the audiences alone.
func OfAudiences(of record.Kind, id string, k record.Kind, audiences ...access.Audience) []Source {
	all := lists.Map(audiences, func(a access.Audience) Source { return Partition(record.List(of, id, k, a)) })
	return slices.CompactFunc(all, func(x, y Source) bool { return x.Partition == y.Partition })
}

// OfKind are the sources of all resources of the kind with the audiences.
func OfKind(k record.Kind, audiences ...access.Audience) (sources []Source) {
	for _, a := range audiences {
		for _, partition := range record.KindPartitions(k, a) {
			sources = append(sources, Partition(record.ByKind, partition))
		}
	}
	return sources
}

// Registrations is the source of a task's registrations, which are in the table itself.
func Registrations(taskID string) Source {
	return Source{Partition: record.TaskKey(taskID).Partition, From: record.RegistrationPrefix, To: record.RegistrationEnd}
}

// AuditEntries is the source of the audit entries of an organizer and its tasks.
func AuditEntries(organizerID string) Source {
	return Source{Partition: record.AuditPartition(organizerID)}
}
