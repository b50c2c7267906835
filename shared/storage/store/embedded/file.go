package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/shared/storage/durable"
	"assay/shared/storage/store"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// The file's buckets.
var (
	tableBucket   = []byte("table")
	expiryBucket  = []byte("expiry")
	indexBuckets  = nameIndexBuckets()
	formatBucket  = []byte("format")
	formatKey     = []byte("version")
	formatVersion = []byte("1")
)

// nameIndexBuckets returns the names index1, index2 and so on.
func nameIndexBuckets() (names [store.NumIndexes][]byte) {
	for i := range names {
		names[i] = fmt.Appendf(nil, "index%d", i+1)
	}
	return names
}

// boltOptions returns the options of the database:
//
//   - Timeout: opening fails at once if another process holds the lock.
//   - FreelistType: the map stays fast in a file with many free pages. The freelist is stored in the file, so that opening a large
//     file does not scan it.
//   - InitialMmapSize: the address space is large, so that a growing file is rarely mapped again, which blocks reads.
func boltOptions() *bbolt.Options {
	return &bbolt.Options{
		Timeout:         time.Nanosecond,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: 256 << 20,
		NoStatistics:    true,
	}
}

func openFile(path string) (*bbolt.DB, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { //nolint:gosec // who runs the program names the file
		if err := createFile(path); err != nil {
			return nil, fmt.Errorf("store: create %s: %w", path, err)
		}
	}
	db, err := bbolt.Open(path, 0o600, boltOptions())
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s is open in another process: stop that one, or use another file", store.ErrUnavailable, path)
	case errors.Is(err, bbolterrors.ErrInvalid), errors.Is(err, bbolterrors.ErrChecksum), errors.Is(err, bbolterrors.ErrVersionMismatch):
		return nil, fmt.Errorf("store: %s is damaged or is no store (%w): restore it from a copy, or move it away to begin with an empty one",
			path, err)
	case err != nil:
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	if err := db.View(checkFormat); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s %w", path, err), db.Close())
	}
	return db, nil
}

func checkFormat(tx *bbolt.Tx) error {
	format := tx.Bucket(formatBucket)
	if format == nil {
		return errors.New("is a database of another program: use another file")
	}
	if v := format.Get(formatKey); !bytes.Equal(v, formatVersion) {
		return fmt.Errorf("has format %q, and this version of the program reads %q: use the version that wrote it", v, formatVersion)
	}
	return nil
}

// createFile creates an empty store. It writes and syncs the file under another name, and then links it to path. So a process that is
// killed leaves no partial store, and only one of several concurrent processes creates the store.
func createFile(path string) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".new-")
	if err != nil {
		return err
	}
	name := f.Name()
	defer os.Remove(name)
	if err := f.Close(); err != nil {
		return err
	}
	o := boltOptions()
	o.InitialMmapSize = 0
	db, err := bbolt.Open(name, 0o600, o)
	if err != nil {
		return err
	}
	if err := errors.Join(db.Update(createBuckets), db.Close()); err != nil {
		return err
	}
	if err := os.Link(name, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.Sync(dir)
}

func createBuckets(tx *bbolt.Tx) error {
	for _, name := range append(indexBuckets[:], tableBucket, expiryBucket) {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	format, err := tx.CreateBucket(formatBucket)
	if err != nil {
		return err
	}
	return format.Put(formatKey, formatVersion)
}

// errDamaged means that this package cannot have written the bytes in the file.
var errDamaged = errors.New("the file is damaged: restore it from a copy")

// tableKey returns partition NUL sort. Neither part contains NUL, so keys are ordered by partition, then by sort part.
func tableKey(k store.Key) []byte { return []byte(k.Partition + "\x00" + k.Sort) }

// splitTableKey is the inverse of tableKey.
func splitTableKey(b []byte) (store.Key, error) {
	partition, sort, ok := strings.Cut(string(b), "\x00")
	if !ok {
		return store.Key{}, errDamaged
	}
	return store.Key{Partition: partition, Sort: sort}, nil
}

// entryKey returns the entry's partition, NUL, the entry's sort part, NUL, and the tableKey. So equal entries are in the order of their
// items. It returns nil for the zero entry of an item that is not in the index.
func entryKey(entry store.Key, table []byte) []byte {
	if entry.IsZero() {
		return nil
	}
	return []byte(entry.Partition + "\x00" + entry.Sort + "\x00" + string(table))
}

// tableKeyOf returns the tableKey at the end of an entryKey.
func tableKeyOf(entry []byte) ([]byte, error) {
	for range 2 {
		i := bytes.IndexByte(entry, 0)
		if i < 0 {
			return nil, errDamaged
		}
		entry = entry[i+1:]
	}
	return entry, nil
}

// expiryKey returns the expiry in seconds, big endian, followed by the tableKey. It returns nil for an item that does not expire.
func expiryKey(unix int64, table []byte) []byte {
	if unix == 0 {
		return nil
	}
	b := make([]byte, 0, 8+len(table))
	b = binary.BigEndian.AppendUint64(b, uint64(unix))
	return append(b, table...)
}

// A value in the table is
//
//	version   uvarint
//	expires   uvarint, seconds since 1970, 0 for never
//	entries   one byte, bit i-1 set when the item is in index i
//	lengths   two uvarints for each entry, of its partition and its sort part
//	parts     the bytes of these parts
//	data      the remaining bytes

// encode returns the value of the item with the version.
func encode(it *store.Item, version int64) []byte {
	var mask byte
	size := 2*binary.MaxVarintLen64 + 1 + len(it.Data)
	for i, k := range it.Indexes {
		if !k.IsZero() {
			mask |= 1 << i
			size += 2*binary.MaxVarintLen16 + len(k.Partition) + len(k.Sort)
		}
	}
	b := make([]byte, 0, size)
	b = binary.AppendUvarint(b, uint64(version))
	b = binary.AppendUvarint(b, uint64(it.ExpiresUnix()))
	b = append(b, mask)
	for _, k := range it.Indexes {
		if !k.IsZero() {
			b = binary.AppendUvarint(b, uint64(len(k.Partition)))
			b = binary.AppendUvarint(b, uint64(len(k.Sort)))
		}
	}
	for _, k := range it.Indexes {
		b = append(b, k.Partition...)
		b = append(b, k.Sort...)
	}
	return append(b, it.Data...)
}

// valueHeader holds the decoded fields before the entries of a value, and the rest of the value.
type valueHeader struct {
	version   int64
	expires   int64
	undecoded []byte
}

func decodeHeader(v []byte) (valueHeader, error) {
	version, n := binary.Uvarint(v)
	if n <= 0 {
		return valueHeader{}, errDamaged
	}
	expires, m := binary.Uvarint(v[n:])
	if m <= 0 {
		return valueHeader{}, errDamaged
	}
	return valueHeader{int64(version), int64(expires), v[n+m:]}, nil
}

// expired reports whether the item has expired at now.
func (h valueHeader) expired(now time.Time) bool { return h.expires != 0 && h.expires <= now.Unix() }

// entries returns the item's index entries and its data. The data shares memory with the value.
func (h valueHeader) entries() (indexes [store.NumIndexes]store.Key, data []byte, err error) {
	if len(h.undecoded) == 0 || h.undecoded[0] >= 1<<store.NumIndexes {
		return indexes, nil, errDamaged
	}
	mask, rest := h.undecoded[0], h.undecoded[1:]
	var lengths [2 * store.NumIndexes]int
	n, total := 2*bits.OnesCount8(mask), 0
	for i := range n {
		l, size := binary.Uvarint(rest)
		if size <= 0 || l > store.MaxPartitionBytes {
			return indexes, nil, errDamaged
		}
		lengths[i], rest = int(l), rest[size:]
		total += int(l)
	}
	if total > len(rest) {
		return indexes, nil, errDamaged
	}
	parts := string(rest[:total]) // all parts share one allocation
	next := 0
	for i := range indexes {
		if mask&(1<<i) == 0 {
			continue
		}
		p, s := lengths[next], lengths[next+1]
		indexes[i] = store.Key{Partition: parts[:p], Sort: parts[p : p+s]}
		parts, next = parts[p+s:], next+2
	}
	return indexes, rest[total:], nil
}

// item returns the item, copied out of the file's memory.
func (h valueHeader) item(k store.Key) (store.Item, error) {
	it := store.Item{Key: k, Version: h.version}
	if h.expires != 0 {
		it.Expires = time.Unix(h.expires, 0).UTC()
	}
	indexes, data, err := h.entries()
	if err != nil {
		return store.Item{}, err
	}
	it.Indexes = indexes
	it.Data = bytes.Clone(data)
	return it, nil
}
