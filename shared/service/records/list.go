package records

import (
	"context"
	"iter"
	"runtime"

	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// Selection is the part of a list to read.
type Selection struct {
	Sources []Source
	Cursor  string // ID of the first record to return; empty means the newest
	Limit   int
}

// List merges the sources, newest first and without duplicates. It calls add with each record that keep accepts; a nil keep accepts all
// records. It ends after Limit records, or when add returns true. It returns the ID of the following record, or "" at the end.
//
// If the first accepted record is not the one that the cursor names, List fails with an InvalidCursor. Without keep, it reads at most
// Limit+1 items of each source, in one call each unless the items are large.
func List[R any, P Pointer[R]](ctx context.Context, s store.Store, sel Selection, keep func(P) bool,
	add func(P) (full bool, err error)) (next string, err error) {
	return ListItems(ctx, s, sel, Decode[R, P], keep, add)
}

// ListItems is like List for the values that decode returns. The items can be records of several kinds.
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
		if len(it.Data) > largeItem {
			// Decoding and encoding such an item takes up to a millisecond. A small request yields the processor several times. Each
			// time it would wait until concurrent lists are preempted, which takes 10 ms.
			runtime.Gosched()
		}
	}
	if sel.Cursor != "" && added == 0 {
		return "", invalidCursor
	}
	return "", nil
}

// largeItem is the size in bytes from which one item delays others.
const largeItem = 4 << 10

var invalidCursor = problem.InvalidCursor.New("The cursor names nothing in this list. Follow {links.next} as it was given, or start " +
	"without a cursor.")

// Limits of one read, so that lists of large records do not fill the memory. readBytes is for all sources together. sourceBytes is the
// least for each source, so that lists of ordinary records take one call.
const (
	readBytes   = 1 << 20
	sourceBytes = 128 << 10
)

// searchPage is the least number of items in one read if keep rejects some. Otherwise a short page of rare records would need a call
// for every few items.
const searchPage = 200

// boardBytes limits one read of a partition by Ascending: some thousand entries of a board.
const boardBytes = 4 << 20

// Ascending yields the items of the sources in ascending order of their sort keys, without duplicates. The first read of a source asks
// for n items. Each further read asks for twice as many, because a reader that continues usually reads everything.
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

// all yields every record of the sources, newest first and without duplicates. It reads pages of n records.
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

// Each calls do with every record of the sources, newest first and without duplicates. It reads pages of n records.
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

// While is like Each, until do returns false.
func While[R any, P Pointer[R]](ctx context.Context, s store.Store, n int, sources []Source, do func(P) (more bool)) error {
	for r, err := range all[R, P](ctx, s, n, sources) {
		if err != nil {
			return err
		}
		if !do(r) {
			break
		}
	}
	return nil
}

// Items yields the items that the query finds, in pages of its limit. An error ends the sequence, and is a problem.
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
