package embedded

import (
	"bytes"
	"context"
	"time"

	"assay/shared/storage/store"

	"go.etcd.io/bbolt"
)

// Get implements store.Store. It reads all keys from one state.
func (s *Store) Get(ctx context.Context, _ store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if err := store.ValidateGet(ctx, keys); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, nil
	}
	store.Count(ctx, len(keys))
	items := make([]store.Item, len(keys))
	now := s.now()
	err := s.view(func(tx *bbolt.Tx) error {
		table := tx.Bucket(tableBucket)
		for i, k := range keys {
			items[i].Key = k
			v := table.Get(tableKey(k))
			if v == nil {
				continue
			}
			h, err := decodeHeader(v)
			if err != nil {
				return err
			}
			if h.expired(now) {
				continue
			}
			if items[i], err = h.item(k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Query implements store.Store. It reads from one state.
func (s *Store) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if err := store.ValidateQuery(ctx, q); err != nil {
		return nil, err
	}
	r := queryScan{ctx: ctx, q: q, now: s.now()}
	low, high := keyRange(q)
	err := s.view(func(tx *bbolt.Tx) error { return r.run(tx, low, high) })
	store.Count(ctx, r.read)
	if err != nil {
		return nil, err
	}
	return r.items, nil
}

// queryScan is the state of one Query.
type queryScan struct {
	ctx   context.Context
	q     store.Query
	now   time.Time
	read  int
	items []store.Item
	bytes int // of their Data
}

// run adds the items whose keys in q's bucket are at least low and less than high.
func (r *queryScan) run(tx *bbolt.Tx, low, high []byte) error {
	table := tx.Bucket(tableBucket)
	cursor := table.Cursor()
	var items *bbolt.Cursor // seeks the items of entries; nil for the table
	if r.q.Index != store.Table {
		cursor, items = tx.Bucket(indexBuckets[r.q.Index-1]).Cursor(), cursor
	}
	k, v := first(cursor, low, high, r.q.Descending)
	for ; k != nil && len(r.items) < r.q.Limit && (r.q.MaxBytes == 0 || r.bytes < r.q.MaxBytes); k, v = next(cursor, r.q.Descending) {
		if bytes.Compare(k, low) < 0 || bytes.Compare(k, high) >= 0 {
			return nil
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if items != nil {
			key, err := tableKeyOf(k)
			if err != nil {
				return err
			}
			k, v = items.Seek(key)
			if !bytes.Equal(k, key) {
				return errDamaged
			}
		}
		if err := r.add(k, v); err != nil {
			return err
		}
	}
	return nil
}

// add appends the item, unless it has expired.
func (r *queryScan) add(k, v []byte) error {
	r.read++
	h, err := decodeHeader(v)
	if err != nil || h.expired(r.now) {
		return err
	}
	key, err := splitTableKey(k)
	if err != nil {
		return err
	}
	it, err := h.item(key)
	if err != nil {
		return err
	}
	it.LeaveEntry(r.q.Index)
	if r.items == nil {
		r.items = make([]store.Item, 0, min(r.q.Limit, 256))
	}
	r.items = append(r.items, it)
	r.bytes += len(it.Data)
	return nil
}

// keyRange returns the bounds of q in its bucket: keys are at least low and less than high.
func keyRange(q store.Query) (low, high []byte) {
	low = tableKey(store.Key{Partition: q.Partition, Sort: q.From})
	switch {
	case q.To == "":
		high = append([]byte(q.Partition), 1)
	case q.Index == store.Table:
		high = append(tableKey(store.Key{Partition: q.Partition, Sort: q.To}), 0)
	default: // in an index, a NUL follows the sort part
		high = append(tableKey(store.Key{Partition: q.Partition, Sort: q.To}), 1)
	}
	if q.After == nil {
		return low, high
	}
	after := tableKey(q.After.Key)
	if q.Index != store.Table {
		after = entryKey(q.After.Entry(q.Index), after)
	}
	if q.Descending {
		if bytes.Compare(after, high) < 0 {
			high = after
		}
		return low, high
	}
	after = append(after, 0)
	if bytes.Compare(after, low) > 0 {
		low = after
	}
	return low, high
}

func first(c *bbolt.Cursor, low, high []byte, descending bool) (k, v []byte) {
	if !descending {
		return c.Seek(low)
	}
	if k, _ := c.Seek(high); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func next(c *bbolt.Cursor, descending bool) (k, v []byte) {
	if descending {
		return c.Prev()
	}
	return c.Next()
}

// afterAll is greater than every key, because UTF-8 never contains this byte.
var afterAll = []byte{0xff}

// Scan implements store.Scanner, in the order of the keys. Each page is read from one state.
func (s *Store) Scan(ctx context.Context, after store.Key, limit int) (items []store.Item, last store.Key, err error) {
	if err := store.ValidateScan(ctx, after, limit); err != nil {
		return nil, store.Key{}, err
	}
	r := queryScan{ctx: ctx, q: store.Query{Limit: limit, MaxBytes: store.ScanBytes}, now: s.now()}
	var low []byte
	if !after.IsZero() {
		low = append(tableKey(after), 0)
	}
	err = s.view(func(tx *bbolt.Tx) error { return r.run(tx, low, afterAll) })
	store.Count(ctx, r.read)
	if err != nil {
		return nil, store.Key{}, err
	}
	if !r.q.IsLastPage(r.items) {
		last = r.items[len(r.items)-1].Key
	}
	return r.items, last, nil
}
