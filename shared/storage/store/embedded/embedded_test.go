package embedded

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"

	"go.etcd.io/bbolt"
)

// open opens the store at the path, and closes it when the test ends.
func open(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openEmpty(t testing.TB, o Options) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "store.db"), o)
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Scanner { return openEmpty(t, Options{}) })
}

func TestBudget(t *testing.T) {
	t.Parallel()
	storetest.Budget(t, openEmpty(t, Options{}), 100_000)
}

// named returns an item with the sort part, an entry in an index, and data.
func named(sort, data string) store.Item {
	it := store.Item{Key: store.Key{Partition: "P", Sort: sort}, Version: 1, Data: []byte(data)}
	it.Indexes[0] = store.Key{Partition: "L", Sort: sort}
	return it
}

// checkFile fails the test unless the buckets agree: every entry of every item exists, and no other entry.
func checkFile(t *testing.T, s *Store) {
	t.Helper()
	err := s.db.View(func(tx *bbolt.Tx) error {
		want := map[string]bool{} // bucket and key of every entry of the table's items
		err := tx.Bucket(tableBucket).ForEach(func(k, v []byte) error {
			h, err := decodeHeader(v)
			if err != nil {
				return err
			}
			indexes, _, err := h.entries()
			if err != nil {
				return err
			}
			for i, entry := range indexes {
				if !entry.IsZero() {
					want[string(indexBuckets[i])+string(entryKey(entry, k))] = true
				}
			}
			if h.expires != 0 {
				want[string(expiryBucket)+string(expiryKey(h.expires, k))] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range append(indexBuckets[:], expiryBucket) {
			err := tx.Bucket(name).ForEach(func(k, _ []byte) error {
				if !want[string(name)+string(k)] {
					return fmt.Errorf("%s has %q, which no item asks for", name, k)
				}
				delete(want, string(name)+string(k))
				return nil
			})
			if err != nil {
				return err
			}
		}
		for k := range want {
			return fmt.Errorf("an entry is missing: %q", k)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkPages fails the test when bbolt finds its own pages inconsistent.
func checkPages(t *testing.T, s *Store) {
	t.Helper()
	err := s.db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPurge_RemovesExpiredItemsIncrementally checks that each commit removes some expired items from the file.
func TestPurge_RemovesExpiredItemsIncrementally(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := openEmpty(t, Options{Now: func() time.Time { return now }})
	const n = 3 * maxPurge
	for i := range n {
		it := named(fmt.Sprintf("%04d", i), "x")
		it.Indexes[5] = it.Indexes[0]
		it.Expires = now.Add(time.Duration(i+1) * time.Second)
		storetest.Write(t, s, store.Create(it))
	}
	kept := named("kept", "x")
	storetest.Write(t, s, store.Create(kept))
	stored := func() (n int) {
		checkFile(t, s)
		_ = s.db.View(func(tx *bbolt.Tx) error {
			n = tx.Bucket(tableBucket).Stats().KeyN
			return nil
		})
		return n
	}
	if got := stored(); got != n+1 {
		t.Fatalf("%d items before any expired, want %d", got, n+1)
	}
	now = now.Add(10 * time.Second)
	items, err := s.Query(t.Context(), store.Query{Index: 1, Partition: "L", Limit: 1})
	if err != nil || len(items) != 1 || items[0].Sort != "0010" {
		t.Fatalf("the first that is left is %v, %v", items, err)
	}
	storetest.Write(t, s, store.Replace(kept))
	kept.Version++
	if got := stored(); got != n+1 {
		t.Fatalf("%d items just after some expired, want %d", got, n+1)
	}
	now = now.Add(n*time.Second + purgeDelay)
	for commit, want := range []int{n + 1 - maxPurge, n + 1 - 2*maxPurge, 1, 1} {
		storetest.Write(t, s, store.Replace(kept))
		kept.Version++
		if got := stored(); got != want {
			t.Errorf("after commit %d the file has %d items, want %d", commit+1, got, want)
		}
	}
}

// TestItems_ExpireAtTheirInstant checks that an item expires at its instant, not a second before or after.
func TestItems_ExpireAtTheirInstant(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	now := at.Add(-time.Nanosecond)
	s := openEmpty(t, Options{Now: func() time.Time { return now }})
	it := named("a", "x")
	it.Expires = at.Add(-time.Millisecond) // rounded up
	storetest.Write(t, s, store.Create(it))
	for _, want := range []bool{true, false} {
		items, err := s.Get(t.Context(), store.Strong, it.Key)
		if err != nil || items[0].Exists() != want {
			t.Errorf("at %v the item exists: %v, %v", now, items[0].Exists(), err)
		}
		now = at
	}
}

// TestReads_DoNotWaitForWrites reads while an open write transaction has changed the same items.
func TestReads_DoNotWaitForWrites(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Options{})
	storetest.Write(t, s, store.Create(named("a", "old")))
	tx, err := s.db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	tb := tables{tx: tx, now: time.Now()}
	w := store.Replace(named("a", "new"))
	c := newChange(&w)
	if _, err := tb.apply(&c, &stored{present: true, version: 1}); err != nil {
		t.Fatal(err)
	}
	items, err := s.Get(t.Context(), store.Strong, named("a", "").Key)
	if err != nil || string(items[0].Data) != "old" {
		t.Errorf("Get during a write: %v, %v", items, err)
	}
	items, err = s.Query(t.Context(), store.Query{Index: 1, Partition: "L", Limit: 1})
	if err != nil || !bytes.Equal(items[0].Data, []byte("old")) {
		t.Errorf("Query during a write: %v, %v", items, err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping during a write: %v", err)
	}
}
