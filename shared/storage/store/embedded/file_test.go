package embedded

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/storage/store"

	"go.etcd.io/bbolt"
)

func openInChild(path, _ string) error {
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// TestOpen_RefusesASecondProcess opens the store from a second process, which fails until the first has closed it.
func TestOpen_RefusesASecondProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, Options{})
	second, stderr := child(t, "open", path, "")
	if err := second.Run(); err == nil {
		t.Error("a second process opened the store")
	}
	for _, want := range []string{path, "open in another process", "stop that one, or use another file"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the second process said %q, without %q", stderr, want)
		}
	}
	if err := s.Write(t.Context(), store.Create(named("a", ""))); err != nil {
		t.Errorf("the first process, afterwards: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	third, stderr := child(t, "open", path, "")
	if err := third.Run(); err != nil {
		t.Errorf("a process after the first had closed the store: %v: %s", err, stderr)
	}
}

// TestOpen_CreatesANewFileOnce opens a new store from many goroutines. One gets it, and no other file remains.
func TestOpen_CreatesANewFileOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		path := filepath.Join(t.TempDir(), "store.db")
		var mu sync.Mutex
		var opened []*Store
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s, err := Open(path, Options{})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					opened = append(opened, s)
				case !errors.Is(err, store.ErrUnavailable):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(opened) != 1 {
			t.Fatalf("%d have the store open", len(opened))
		}
		if err := opened[0].Close(); err != nil {
			t.Error(err)
		}
		names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if err != nil || len(names) != 1 {
			t.Errorf("the folder has %v, %v", names, err)
		}
	}
}

// TestOpen_RefusesOtherFiles checks that files of other formats are refused with the reason, and stay unchanged.
func TestOpen_RefusesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database := func(name string, fill func(*bbolt.Tx) error) {
		db, err := bbolt.Open(filepath.Join(dir, name), 0o600, boltOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(fill), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("text", bytes.Repeat([]byte("this is no store\n"), 2000))
	file("short", []byte("short"))
	database("foreign", func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("table")); return err })
	database("newer", func(tx *bbolt.Tx) error {
		if err := createBuckets(tx); err != nil {
			return err
		}
		return tx.Bucket(formatBucket).Put(formatKey, []byte("2"))
	})
	for name, want := range map[string]string{
		"text":         "damaged or is no store",
		"short":        "damaged or is no store",
		"foreign":      "another program",
		"newer":        `format "2"`,
		"none/none.db": "no such file",
		".":            "directory",
	} {
		path := filepath.Join(dir, name)
		before, _ := os.ReadFile(path)
		_, err := Open(path, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open of %s: %v, want %q and the path", name, err, want)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("Open changed %s", name)
		}
	}
	// A refused file is not locked.
	for range 2 {
		if _, err := Open(filepath.Join(dir, "newer"), Options{}); errors.Is(err, store.ErrUnavailable) {
			t.Error(err)
		}
	}
}

// FuzzDecode passes damaged values to the decoder, which must return an error and not read beyond them.
func FuzzDecode(f *testing.F) {
	it := store.Item{Expires: time.Unix(1_800_000_000, 0), Data: []byte("data")}
	f.Add(encode(&it, 1))
	it.Indexes[0] = store.Key{Partition: "L", Sort: "1"}
	it.Indexes[5] = store.Key{Partition: "M", Sort: "2"}
	f.Add(encode(&it, 1<<40))
	f.Fuzz(func(t *testing.T, v []byte) {
		h, err := decodeHeader(v)
		if err == nil {
			var got store.Item
			if got, err = h.item(it.Key); err == nil && len(got.Data) > len(v) {
				t.Errorf("%d bytes of data from a value of %d", len(got.Data), len(v))
			}
		}
		if err != nil && !errors.Is(err, errDamaged) {
			t.Error(err)
		}
		if key, err := tableKeyOf(v); err == nil && !bytes.HasSuffix(v, key) {
			t.Errorf("%q leads to %q", v, key)
		}
	})
}
