package deletion

import (
	"context"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// maxWrites and maxBytes bound what one transaction moves, with room for its other changes.
const (
	maxWrites = store.MaxWrites - 20
	maxBytes  = store.MaxWriteBytes / 2
)

// bin shows the items that lie in the trash for an entry as a store, in which they have their former keys.
type bin struct {
	store.Store
	deletionID string
}

func (d Deleter) bin(entry *record.DeletionItem) bin { return bin{d.Store, entry.ID} }

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

// batch is a transaction that moves items to the trash of an entry, or back.
type batch struct {
	*records.Tx
	entry *record.DeletionItem
	bytes int
	// byTeam reports whether a team asks to restore the resource.
	byTeam bool
	// waitingRuns is Deleter.WaitingRuns if it limits what is restored, and otherwise 0.
	waitingRuns int
	// unmarked lists the runs that come back without the mark as final that they had.
	unmarked []string
	// until is the instant from which the team can no longer restore the resource. It is nil if the team can until the purge.
	until *record.Instant
}

// fits reports whether the transaction has room for more items.
func (b *batch) fits(items ...store.Item) bool {
	bytes := b.bytes
	for _, it := range items {
		bytes += len(it.Data)
	}
	return b.Len()+2*len(items) <= maxWrites && bytes <= maxBytes
}

// require requires, once, that a record is unchanged.
func (b *batch) require(r record.Record) {
	if !b.Writes(r.Key()) {
		b.Check(r)
	}
}

// out moves an item to the trash.
func (b *batch) out(it store.Item) error {
	to, err := record.Trash(it, b.entry.ID)
	b.move(it, to)
	return err
}

// record moves a record with the changes that were made to it since it was read.
func (b *batch) record(r record.Record, move func(*batch, store.Item) error) error {
	it, err := record.Item(r)
	if err != nil {
		return err
	}
	return move(b, it)
}

// back moves an item that was read from the bin back to its former key.
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

// each calls move with each of the items.
func (b *batch) each(items []store.Item, move func(*batch, store.Item) error) error {
	for _, it := range items {
		if err := move(b, it); err != nil {
			return err
		}
	}
	return nil
}

// moveAll moves the items in as few transactions as possible. It conflicts when the entry changes.
func (d Deleter) moveAll(ctx context.Context, entry *record.DeletionItem, items []store.Item,
	move func(*batch, store.Item) error) error {
	for len(items) > 0 {
		b := &batch{Tx: new(records.Tx).Check(entry), entry: entry}
		for n := 0; len(items) > 0 && (n == 0 || b.fits(items[0])); n++ {
			if err := move(b, items[0]); err != nil {
				return err
			}
			items = items[1:]
		}
		if err := b.Commit(ctx, d.Store); err != nil {
			return err
		}
	}
	return nil
}

// each calls do with the former key of each item that lies in the trash for the entry.
func (d Deleter) each(ctx context.Context, entry *record.DeletionItem, do func(store.Key) error) error {
	q := store.Query{Index: record.ByKind, Partition: record.TrashPartition(entry.ID), Limit: page, MaxBytes: store.ScanBytes}
	return records.EachItem(ctx, d.Store, q, func(it store.Item) error {
		it, err := record.Untrash(it)
		if err != nil {
			return err
		}
		return do(it.Key)
	})
}

// listed separates the run, and the items of it that lists show or will show, from the rest: its review, logs, values per topic, and
// evaluations against earlier truths.
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
