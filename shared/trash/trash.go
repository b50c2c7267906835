// Package trash deletes tasks, datasets, submissions and runs so that they can be restored for record.TrashTime. Nothing marks what
// lies in the trash: each of its items moves to another key and out of all indexes, in the transaction that deletes, so that what
// does not know the trash cannot find it.
//
// A record.DeletionItem says what was deleted, and its pending work what becomes of it. What lists show moves with the transaction of
// the request; what does not fit into it moves afterwards. Each later transaction requires that the entry is as it was read, so that of
// moving, restoring and purging only one goes on at a time, and each of them can stop at any point and be resumed.
//
// What lies in the trash counts in the quota of stored bytes until it is purged. The quota of its task is not changed.
package trash

import (
	"context"
	"slices"
	"time"

	"assay/shared/blob"
	"assay/shared/lists"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

const (
	page = 100 // records read at once
	lag  = 5 * time.Second

	// maxWrites and maxBytes bound what one transaction moves, with room for what else it changes.
	maxWrites = store.MaxWrites - 20
	maxBytes  = store.MaxWriteBytes / 2
)

// Trash is the trash of a store. Files is for purging alone.
type Trash struct {
	Store store.Store
	Files blob.Store
	Now   func() time.Time
}

// batch is a transaction that moves items for a deletion.
type batch struct {
	*records.Tx
	deletion *record.DeletionItem
	bytes    int
}

// fits reports whether the transaction has room for another item.
func (b *batch) fits(it store.Item) bool {
	return b.Len()+2 <= maxWrites && b.bytes+len(it.Data) <= maxBytes
}

// out moves an item to the trash.
func (b *batch) out(it store.Item) error {
	to, err := record.Trash(it, b.deletion.ID)
	b.bytes += len(it.Data)
	b.Move(it, to)
	return err
}

// back moves an item, which Untrash returned, back to where it was.
func (b *batch) back(it store.Item) error {
	b.bytes += len(it.Data)
	b.Move(store.Item{Key: record.TrashKey(it.Key), Version: it.Version}, it)
	return nil
}

// moveAll moves the items in as few transactions as can be, while the deletion is as it was read.
func (t Trash) moveAll(ctx context.Context, d *record.DeletionItem, items []store.Item, move func(*batch, store.Item) error) error {
	for len(items) > 0 {
		b := &batch{Tx: new(records.Tx).Check(d), deletion: d}
		for n := 0; len(items) > 0 && (n == 0 || b.fits(items[0])); n++ {
			if err := move(b, items[0]); err != nil {
				return err
			}
			items = items[1:]
		}
		if err := b.Commit(ctx, t.Store); err != nil {
			return err
		}
	}
	return nil
}

// place is where items are: under their own keys, or in the trash.
type place struct {
	key  func(store.Key) store.Key
	item func(store.Item) (store.Item, error)
}

var (
	live = place{func(k store.Key) store.Key { return k }, func(it store.Item) (store.Item, error) { return it, nil }}
	in   = place{record.TrashKey, record.Untrash}
)

// get returns those items of the keys that are in the place, each with its own key.
func (t Trash) get(ctx context.Context, at place, keys ...store.Key) (items []store.Item, err error) {
	for some := range slices.Chunk(keys, store.MaxKeys) {
		found, err := t.Store.Get(ctx, store.Strong, lists.Map(some, at.key)...)
		if err != nil {
			return nil, records.Failed(err)
		}
		for _, it := range found {
			if it.Exists() {
				if it, err = at.item(it); err != nil {
					return nil, err
				}
				items = append(items, it)
			}
		}
	}
	return items, nil
}

// partition returns the items of a partition that are in the place, each with its own key.
func (t Trash) partition(ctx context.Context, at place, of store.Key) (items []store.Item, err error) {
	q := store.Query{Partition: at.key(of).Partition, Limit: page, Consistency: store.Strong}
	err = records.EachItem(ctx, t.Store, q, func(it store.Item) error {
		it, err := at.item(it)
		items = append(items, it)
		return err
	})
	return items, err
}

// find returns the record of the key that lies in the trash; nil when there is none.
func find[R any, P records.Pointer[R]](ctx context.Context, t Trash, key store.Key) (P, error) {
	items, err := t.get(ctx, in, key)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return records.Decode[R, P](items[0])
}

// runItems returns what belongs to the run in the place: the run, if it is there, and its evaluations that lists have or will have,
// which move with it, and the rest: its review, logs, values per topic, and evaluations against earlier truths.
func (t Trash) runItems(ctx context.Context, at place, r *record.RunItem) (first, rest []store.Item, err error) {
	items, err := t.partition(ctx, at, r.Key())
	if err != nil {
		return nil, nil, err
	}
	var keys []store.Key
	listed := []store.Key{r.Key()}
	for _, id := range r.Evaluations {
		if r.Lists(id) {
			listed = append(listed, record.EvaluationKey(id))
		}
		keys = append(keys, record.EvaluationKey(id), record.TopicsKey(id))
	}
	evaluations, err := t.get(ctx, at, keys...)
	for _, it := range append(items, evaluations...) {
		if slices.Contains(listed, it.Key) {
			first = append(first, it)
		} else {
			rest = append(rest, it)
		}
	}
	return first, rest, err
}

// step reads the deletion, and calls do if it has work of the kind, again after a conflict.
func (t Trash) step(ctx context.Context, key store.Key, kind record.PendingKind, do func(*record.DeletionItem) error) error {
	return records.Retry(ctx, func() error {
		d, err := records.Get[record.DeletionItem](ctx, t.Store, store.Strong, key)
		if err != nil || d == nil || !d.PendingWork.Is(kind) || d.PendingWork.State != "" && d.PendingWork.NotBefore.After(t.Now()) {
			return err
		}
		return do(d)
	})
}

// schedule gives the deletion other work.
func (t Trash) schedule(ctx context.Context, d *record.DeletionItem, kind record.PendingKind, at time.Time,
	state record.PendingState) error {
	d.PendingWork = &record.PendingWork{Kind: kind, NotBefore: record.At(at), State: state}
	return new(records.Tx).Replace(d).Commit(ctx, t.Store)
}

func conflict(text string, args ...any) error { return problem.Conflict.New(text, args...) }
