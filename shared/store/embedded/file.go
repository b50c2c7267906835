package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"assay/shared/durable"
	"assay/shared/store"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// The file's buckets.
var (
	tableBucket  = []byte("table")
	expiryBucket = []byte("expiry")
	indexBuckets = [store.NumIndexes][]byte{[]byte("index1"), []byte("index2"), []byte("index3"), []byte("index4"), []byte("index5"),
		[]byte("index6")}
	formatBucket  = []byte("format")
	formatKey     = []byte("version")
	formatVersion = []byte("1")
)

// boltOptions: a lock that another process holds is an answer, not something to wait for; the map freelist stays
// fast in a file with many free pages; the freelist is kept in the file, so that opening a large one needs no scan of
// it; and the address space is large enough that a growing file is rarely mapped again, for which reads would wait.
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

// createFile makes an empty store. It is made under another name and linked to its own when it is whole and on disk, so
// that a process that is killed on the way leaves no half of a store, and of two that create one only one does.
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
