package embedded

import (
	"encoding/binary"
	"slices"
	"time"

	"assay/shared/storage/store"

	"go.etcd.io/bbolt"
)

// maxPurge is the greatest number of expired items that one commit removes. It exceeds the number of items that a Write can put, so
// that a store whose items all expire does not grow.
const maxPurge = 2 * store.MaxWrites

// purgeDelay is how long an expired item stays in the file, hidden from reads. So a clock that is wrong for a while deletes nothing.
const purgeDelay = time.Hour

// change is a store.Write ready for the file.
type change struct {
	*store.Write
	key   []byte
	value []byte // of a put
}

func newChange(w *store.Write) change {
	c := change{Write: w, key: tableKey(w.Item.Key)}
	if version := w.PutVersion(); version > 0 {
		c.value = encode(&w.Item, version)
	}
	return c
}

// image returns the item after the change, given the stored state before it. A deleted item has only its Key and the index entries that it
// had. It shares no memory with the caller of Write.
func (c *change) image(before *stored) store.Item {
	if c.value == nil {
		return store.Item{Key: c.Item.Key, Indexes: before.indexes}
	}
	it := c.Item
	it.Version = c.PutVersion()
	if unix := it.ExpiresUnix(); unix != 0 {
		it.Expires = time.Unix(unix, 0).UTC()
	}
	it.Data = slices.Clip(c.value[len(c.value)-len(it.Data):])
	return it
}

// stored is the table's state under a change's key. The zero stored means that the table has no item there.
type stored struct {
	version int64 // 0 also for an expired item that the file still has
	expires int64
	indexes [store.NumIndexes]store.Key
	present bool // the file has the item, expired or not
}

// tables gives access to the buckets within one write transaction.
type tables struct {
	tx    *bbolt.Tx
	now   time.Time
	dirty bool
}

func (t *tables) stored(key []byte) (stored, error) {
	v := t.tx.Bucket(tableBucket).Get(key)
	if v == nil {
		return stored{}, nil
	}
	h, err := decodeHeader(v)
	if err != nil {
		return stored{}, err
	}
	s := stored{version: h.version, expires: h.expires, present: true}
	if h.expired(t.now) {
		s.version = 0
	}
	s.indexes, _, err = h.entries()
	return s, err
}

// checkConditions returns the stored state under each change's key, or an error if conditions do not hold.
func (t *tables) checkConditions(changes []change) ([]stored, error) {
	before := make([]stored, len(changes))
	var failed []int
	for i := range changes {
		s, err := t.stored(changes[i].key)
		if err != nil {
			return nil, err
		}
		before[i] = s
		if !changes[i].Holds(s.version) {
			failed = append(failed, i)
		}
	}
	if failed != nil {
		return nil, &store.ConflictError{Failed: failed}
	}
	return before, nil
}

// apply makes the change, given the stored state, and reports whether readers can see a difference.
func (t *tables) apply(c *change, before *stored) (bool, error) {
	switch c.Op {
	case store.OpCreate, store.OpReplace:
		return true, t.put(c, before)
	case store.OpDelete, store.OpDeleteIf:
		return before.version != 0, t.remove(c.key, before)
	default: // a check
		return false, nil
	}
}

func (t *tables) put(c *change, before *stored) error {
	if err := t.index(c.key, before, &c.Item); err != nil {
		return err
	}
	return t.tx.Bucket(tableBucket).Put(c.key, c.value)
}

func (t *tables) remove(key []byte, before *stored) error {
	if !before.present {
		return nil
	}
	if err := t.index(key, before, &store.Item{}); err != nil {
		return err
	}
	return t.tx.Bucket(tableBucket).Delete(key)
}

// index replaces the entries and the expiry of the stored item with those of after.
func (t *tables) index(key []byte, before *stored, after *store.Item) error {
	t.dirty = true
	for i, entry := range after.Indexes {
		old := before.indexes[i]
		if old != entry {
			if err := swap(t.tx.Bucket(indexBuckets[i]), entryKey(old, key), entryKey(entry, key)); err != nil {
				return err
			}
		}
	}
	if old, unix := before.expires, after.ExpiresUnix(); old != unix {
		return swap(t.tx.Bucket(expiryBucket), expiryKey(old, key), expiryKey(unix, key))
	}
	return nil
}

// swap deletes the key old from the bucket and puts key. Either can be nil for none.
func swap(b *bbolt.Bucket, old, key []byte) error {
	if old != nil {
		if err := b.Delete(old); err != nil {
			return err
		}
	}
	if key == nil {
		return nil
	}
	return b.Put(key, nil)
}

// purge removes items that have been expired for purgeDelay, the earliest first.
func (t *tables) purge() error {
	until := t.now.Add(-purgeDelay).Unix()
	var keys [][]byte
	c := t.tx.Bucket(expiryBucket).Cursor()
	for k, _ := c.First(); k != nil && len(keys) < maxPurge; k, _ = c.Next() {
		if int64(binary.BigEndian.Uint64(k)) > until {
			break
		}
		keys = append(keys, slices.Clone(k[8:]))
	}
	for _, key := range keys {
		s, err := t.stored(key)
		if err != nil {
			return err
		}
		if err := t.remove(key, &s); err != nil {
			return err
		}
	}
	return nil
}
