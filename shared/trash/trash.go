// Package trash deletes tasks, datasets, submissions and runs so that they can be restored for record.TrashTime. Nothing marks what
// lies in the trash: each of its items moves to another key and out of all indexes, in the transaction that deletes, so that what
// does not know the trash cannot find it.
//
// A record.DeletionItem says what was deleted, and its pending work what becomes of it. What lists show moves with the transaction of
// the request; what does not fit into it moves afterwards. Each later transaction requires that the entry is as it was read, so that of
// moving, restoring and purging only one goes on at a time, and each of them can stop at any point and be resumed.
//
// Of a task, the request moves the task itself, so that from then on nothing below its path is found. What is in it follows within
// minutes: grants, so that its teams have no rights there any more, then runs, submissions and datasets. A run goes before what its
// evaluation reads, and comes back after it, or it would fail where it waits. Until its turn comes, who has the id of something in a large
// task can still read it.
//
// What lies in the trash counts in the quota of stored bytes until it is purged. The quota of its task is not changed. Versions of
// items go on, so that a change which was decided on before something was deleted does not apply
// to what is restored.
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

// bin is what lies in the trash for a deletion as a store, in which items have the keys that they had before.
type bin struct {
	store.Store
	deletionID string
}

func (t Trash) bin(d *record.DeletionItem) bin { return bin{t.Store, d.ID} }

// Get implements store.Store.
func (b bin) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	items, err := b.Store.Get(ctx, c, lists.Map(keys, record.TrashKey)...)
	return untrash(items, err)
}

// Query implements store.Store for the table itself.
func (b bin) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	q.Partition = record.TrashKey(store.Key{Partition: q.Partition}).Partition
	if q.After != nil {
		q.After = &store.Item{Key: record.TrashKey(q.After.Key)}
	}
	items, err := b.Store.Query(ctx, q)
	return untrash(items, err)
}

// Write implements store.Store.
func (b bin) Write(ctx context.Context, writes ...store.Write) error {
	for i, w := range writes {
		var err error
		if writes[i].Item, err = record.Trash(w.Item, b.deletionID); err != nil {
			return err
		}
	}
	return b.Store.Write(ctx, writes...)
}

func untrash(items []store.Item, err error) ([]store.Item, error) {
	for i := range items {
		if err == nil {
			items[i], err = record.Untrash(items[i])
		}
	}
	return items, err
}

// batch is a transaction that moves items for a deletion.
type batch struct {
	*records.Tx
	deletion *record.DeletionItem
	bytes    int
}

// fits reports whether the transaction has room for more items.
func (b *batch) fits(items ...store.Item) bool {
	bytes := b.bytes
	for _, it := range items {
		bytes += len(it.Data)
	}
	return b.Len()+2*len(items) <= maxWrites && bytes <= maxBytes
}

// require adds, once, that a record is as it was read.
func (b *batch) require(r record.Record) {
	if !b.Writes(r.Key()) {
		b.Check(r)
	}
}

// out moves an item to the trash.
func (b *batch) out(it store.Item) error {
	to, err := record.Trash(it, b.deletion.ID)
	b.move(it, to)
	return err
}

// record moves a record as it now is, not as it was read.
func (b *batch) record(r record.Record, move func(*batch, store.Item) error) error {
	it, err := record.Item(r)
	if err != nil {
		return err
	}
	return move(b, it)
}

// back moves an item that was read from the bin back to where it was.
func (b *batch) back(it store.Item) error {
	b.move(store.Item{Key: record.TrashKey(it.Key), Version: it.Version}, it)
	return nil
}

func (b *batch) move(from, to store.Item) {
	b.bytes += len(to.Data)
	create := store.Create(to)
	create.Follows = from.Version
	b.Write(store.DeleteIf(from)).Write(create)
}

// each has move move each of the items.
func (b *batch) each(items []store.Item, move func(*batch, store.Item) error) error {
	for _, it := range items {
		if err := move(b, it); err != nil {
			return err
		}
	}
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

// each calls do with the keys that items had which lie in the trash for the deletion.
func (t Trash) each(ctx context.Context, d *record.DeletionItem, do func(store.Key) error) error {
	q := store.Query{Index: record.ByKind, Partition: record.TrashPartition(d.ID), Limit: page, MaxBytes: store.ScanBytes}
	return records.EachItem(ctx, t.Store, q, func(it store.Item) error {
		it, err := record.Untrash(it)
		if err != nil {
			return err
		}
		return do(it.Key)
	})
}

// listed separates the items of the run that lists have or will have, with the run itself, from the rest: its review, logs, values per
// topic, and evaluations against earlier truths.
func listed(r *record.RunItem, items []store.Item) (first, rest []store.Item) {
	for _, it := range items {
		if slices.Contains([]store.Key{r.Key(), record.EvaluationKey(r.EvaluationID), record.EvaluationKey(r.ListedID())}, it.Key) {
			first = append(first, it)
		} else {
			rest = append(rest, it)
		}
	}
	return first, rest
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
