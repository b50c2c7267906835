package records

import (
	"context"
	"iter"
	"runtime"

	"assay/shared/problem"
	"assay/shared/store"
)

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
		if len(it.Data) > maxSharedBytes {
			// Decoded and encoded in most of a millisecond. A little request gives up the processor several times, and would wait each time
			// until the lists under way have theirs taken from them, which is after 10 ms.
			runtime.Gosched()
		}
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
