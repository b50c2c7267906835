package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"

	"go.etcd.io/bbolt"
)

// blockedStore is a store whose first commit has happened, and whose next commit begins when release is called. Within a bubble of
// synctest, synctest.Wait returns when all writes wait.
type blockedStore struct {
	*Store
	release func()
}

func blockCommits(t *testing.T) blockedStore {
	t.Helper()
	gate := make(chan struct{})
	entered := make(chan struct{}, 1)
	var once sync.Once
	s := openEmpty(t, Options{OnChange: func([]store.Item) {
		once.Do(func() {
			entered <- struct{}{}
			<-gate
		})
	}})
	storetest.Write(t, s, store.Create(named("first", "")))
	<-entered
	return blockedStore{s, sync.OnceFunc(func() { close(gate) })}
}

func (s *Store) commits(t *testing.T) (id int) {
	t.Helper()
	if err := s.db.View(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestCommit_TakesAllWaitingWrites commits all waiting writes at once. Each fails or succeeds separately, in order.
func TestCommit_TakesAllWaitingWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := blockCommits(t)
		defer s.release()
		before := s.commits(t)
		const writers, keys = 60, 4
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				mine := named(fmt.Sprintf("own %d", i), "")
				err := s.Write(t.Context(), store.Create(mine), store.Create(named(fmt.Sprint(i%keys), fmt.Sprint(i))))
				items, getErr := s.Get(t.Context(), store.Strong, mine.Key)
				switch {
				case getErr != nil:
					t.Error(getErr)
				case err == nil && items[0].Exists():
					won.Add(1)
				case storetest.Conflicts(err, 1) && !storetest.Conflicts(err, 0) && !items[0].Exists():
					lost.Add(1)
				default:
					t.Errorf("write %d: %v, exists: %v", i, err, items[0].Exists())
				}
			})
		}
		synctest.Wait()
		s.release()
		wg.Wait()
		if won.Load() != keys || lost.Load() != writers-keys {
			t.Errorf("%d writes won and %d lost, want %d and %d", won.Load(), lost.Load(), keys, writers-keys)
		}
		if n := s.commits(t) - before; n != 1 {
			t.Errorf("%d writes that waited took %d commits, want 1", writers, n)
		}
		checkFile(t, s.Store)
	})
}

// TestCommit_HasBoundedBytes queues more bytes than one commit takes.
func TestCommit_HasBoundedBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := blockCommits(t)
		defer s.release()
		before := s.commits(t)
		const writers = 2*maxCommitBytes/store.MaxWriteBytes + 1
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				var writes []store.Write
				for j := range 10 {
					writes = append(writes, store.Create(store.Item{Key: store.Key{Partition: fmt.Sprint(i), Sort: fmt.Sprint(j)},
						Data: make([]byte, 380<<10)}))
				}
				if err := s.Write(t.Context(), writes...); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		s.release()
		wg.Wait()
		if n := s.commits(t) - before; n != 3 {
			t.Errorf("%d large writes took %d commits, want 3", writers, n)
		}
	})
}

// TestWrite_IsWithdrawnWithItsContext ends the context of a waiting write. The write returns at once, and is never applied.
func TestWrite_IsWithdrawnWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := blockCommits(t)
		defer s.release()
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 3)
		go func() { results <- s.Write(t.Context(), store.Create(named("before", ""))) }()
		synctest.Wait()
		withdrawn := make(chan error, 1)
		go func() { withdrawn <- s.Write(ctx, store.Create(named("withdrawn", ""))) }()
		synctest.Wait()
		go func() { results <- s.Write(t.Context(), store.Create(named("after", ""))) }()
		synctest.Wait()
		cancel()
		if err := <-withdrawn; !errors.Is(err, context.Canceled) {
			t.Errorf("the withdrawn write returned %v", err)
		}
		s.release()
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		items, err := s.Get(t.Context(), store.Strong, named("before", "").Key, named("withdrawn", "").Key, named("after", "").Key)
		if err != nil || !items[0].Exists() || items[1].Exists() || !items[2].Exists() {
			t.Errorf("before, withdrawn and after are %v, %v", items, err)
		}
	})
}

// TestWrite_WithdrawnIsNeverApplied ends contexts at every moment of a write. After an error the item must not exist, then or later.
func TestWrite_WithdrawnIsNeverApplied(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Options{})
	var mu sync.Mutex
	written := map[store.Key]bool{}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 50 {
				it := named(fmt.Sprint(g, " ", n), "")
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*20*time.Microsecond)
				err := s.Write(ctx, store.Create(it))
				cancel()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				mu.Lock()
				written[it.Key] = err == nil
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	storetest.Write(t, s, store.Create(named("last", "")))
	for k, want := range written {
		items, err := s.Get(t.Context(), store.Strong, k)
		if err != nil || items[0].Exists() != want {
			t.Fatalf("%v is there: %v, and the Write said %v; %v", k, items[0].Exists(), want, err)
		}
	}
}

// TestCommit_KeepsTheOrder checks that the earliest write wins.
func TestCommit_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := blockCommits(t)
		defer s.release()
		const writers = 5
		results := make([]error, writers)
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() { results[i] = s.Write(t.Context(), store.Create(named("a", ""))) })
			synctest.Wait()
		}
		s.release()
		wg.Wait()
		for i, err := range results {
			if store.IsConflict(err) != (i > 0) {
				t.Errorf("write %d returned %v", i, err)
			}
		}
	})
}

// TestCommit_IsOnlyForChanges checks that writes without a change cause no commit.
func TestCommit_IsOnlyForChanges(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Options{})
	it := named("a", "")
	storetest.Write(t, s, store.Create(it))
	before := s.commits(t)
	_ = s.Write(t.Context(), store.Create(it))
	_ = s.Write(t.Context(), store.Check(it), store.CheckAbsent(named("b", "").Key))
	_ = s.Write(t.Context(), store.Delete(named("b", "").Key))
	if n := s.commits(t) - before; n != 0 {
		t.Errorf("writes that change nothing took %d commits", n)
	}
}

// TestOnChange_ReportsEachChangeOnce checks that every change is reported once, in the order of the versions, with the item that a read
// returns.
func TestOnChange_ReportsEachChangeOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []store.Item
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{OnChange: func(items []store.Item) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, items...)
	}})
	if err != nil {
		t.Fatal(err)
	}
	const keys, rounds = 8, 30
	var wg sync.WaitGroup
	for k := range keys {
		wg.Go(func() {
			it := named(fmt.Sprint(k), "1")
			it.Expires = time.Now().Add(time.Hour).Truncate(time.Second).Add(time.Millisecond)
			writes := []store.Write{store.Create(it)}
			for v := range rounds {
				it.Version, it.Data = int64(v+1), fmt.Append(nil, v+2)
				writes = append(writes, store.Replace(it), store.Replace(it), store.Check(it), store.Delete(named("none", "").Key))
			}
			for i, w := range writes {
				if err := s.Write(t.Context(), w); err != nil && i%4 != 2 && i%4 != 3 {
					t.Errorf("write %d: %v", i, err)
				}
				for i := range w.Item.Data {
					w.Item.Data[i] = 'X' // the caller's own again
				}
			}
			if err := s.Write(t.Context(), store.Delete(it.Key)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := map[string]int64{}
	for _, it := range seen {
		v := next[it.Sort] + 1
		next[it.Sort] = v
		if v == rounds+2 {
			if it.Key == (store.Key{}) || !reflect.DeepEqual(it, store.Item{Key: it.Key}) {
				t.Errorf("the deletion was reported as %+v", it)
			}
			continue
		}
		if it.Version != v || string(it.Data) != fmt.Sprint(v) || it.Indexes[0].Sort != it.Sort || it.Expires.Nanosecond() != 0 {
			t.Errorf("change %d was reported as %+v", v, it)
		}
	}
	if len(seen) != keys*(rounds+2) {
		t.Errorf("%d changes were reported, want %d", len(seen), keys*(rounds+2))
	}
}

// TestOnCommit_PrecedesTheReturnOfWrites checks that every change is reported before its Write returns. Conflicts report nothing, and a
// commit that fails reports nil.
func TestOnCommit_PrecedesTheReturnOfWrites(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	versions := map[string]int64{}
	unknown := 0
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{OnCommit: func(items []store.Item) {
		time.Sleep(time.Millisecond) // later than a Write that does not wait
		mu.Lock()
		defer mu.Unlock()
		if items == nil {
			unknown++
		}
		for _, it := range items {
			versions[it.Sort] = it.Version
			if it.Indexes[0].Sort != it.Sort {
				t.Errorf("version %d of %s has the entries %v", it.Version, it.Sort, it.Indexes)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	reported := func(key string) int64 {
		mu.Lock()
		defer mu.Unlock()
		return versions[key]
	}
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			it := named(fmt.Sprint(k), "1")
			for want := int64(1); want < 20; want++ {
				w := store.Create(it)
				if want > 1 {
					it.Version = want - 1
					w = store.Replace(it)
				}
				if err := s.Write(t.Context(), w); err != nil || reported(it.Sort) != want {
					t.Errorf("version %d was reported as %d: %v", want, reported(it.Sort), err)
				}
				if err := s.Write(t.Context(), store.Create(it)); !store.IsConflict(err) {
					t.Error(err)
				}
			}
			if err := s.Write(t.Context(), store.Delete(it.Key)); err != nil || reported(it.Sort) != 0 {
				t.Errorf("the deletion was reported as %d: %v", reported(it.Sort), err)
			}
		})
	}
	wg.Wait()
	if unknown > 0 {
		t.Errorf("%d commits of unknown result", unknown)
	}
	if err := s.db.Close(); err != nil { // so that commits fail
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), store.Create(named("late", ""))); err == nil || unknown != 1 {
		t.Errorf("%v, %d commits of unknown result", err, unknown)
	}
	_ = s.Close()
}

// TestStore_CloseFinishesQueuedWrites finishes queued writes, and refuses later ones.
func TestStore_CloseFinishesQueuedWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := blockCommits(t)
		defer s.release()
		results := make(chan error, 10)
		for i := range cap(results) {
			go func() { results <- s.Write(t.Context(), store.Create(named(fmt.Sprint(i), ""))) }()
		}
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		s.release()
		for range cap(results) {
			if err := <-results; err != nil {
				t.Errorf("a write that waited when the store was closed: %v", err)
			}
		}
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		_, getErr := s.Get(t.Context(), store.Strong, named("1", "").Key)
		_, queryErr := s.Query(t.Context(), store.Query{Partition: "P", Limit: 1})
		for name, err := range map[string]error{
			"Get": getErr, "Query": queryErr, "Ping": s.Ping(t.Context()), "Write": s.Write(t.Context(), store.Create(named("late", ""))),
		} {
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("the second Close: %v", err)
		}
		again := open(t, s.path, Options{})
		items, err := again.Query(t.Context(), store.Query{Index: 1, Partition: "L", Limit: 100})
		if err != nil || len(items) != cap(results)+1 {
			t.Errorf("%d items after reopening, %v", len(items), err)
		}
	})
}
