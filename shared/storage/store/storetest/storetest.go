// Package storetest is the conformance suite of the store's contract: it tests each sentence that callers rely on. It is
// independent of implementations, and assumes nothing beyond the contract. Eventual reads may lag by the store's Lag, and no longer.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/storage/store"
)

// Run tests a store. open returns an empty store for each subtest, and closes it when the subtest ends.
func Run(t *testing.T, open func(t *testing.T) store.Scanner) {
	for name, test := range scans {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			test(table{t, s}, s)
		})
	}
	for _, group := range []map[string]func(table){
		gets, conditions, queries, expiries, limits, calls, races,
		{"Budget": func(tb table) { Budget(tb.t, tb.Store, 1000) }},
		{"Model": testModel, "Linearizable": testLinearizable},
	} {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(table{t, open(t)})
			})
		}
	}
}

// table is a store under test.
type table struct {
	t *testing.T
	store.Store
}

// eventually repeats try, which compares eventual reads with earlier writes, until it returns "". It fails with the last result once
// the store's Lag has passed. In a store without lag, the first result counts.
func (tb table) eventually(try func() string) {
	tb.t.Helper()
	for deadline := time.Now().Add(tb.Lag()); ; time.Sleep(20 * time.Millisecond) {
		last := !time.Now().Before(deadline)
		wrong := try()
		if wrong == "" {
			return
		}
		if last {
			tb.t.Fatal(wrong)
		}
	}
}

// Write writes, and fails the test on an error.
func Write(t testing.TB, s store.Store, writes ...store.Write) {
	t.Helper()
	if err := s.Write(t.Context(), writes...); err != nil {
		t.Fatalf("Write(%v): %v", describe(writes), err)
	}
}

func (tb table) write(writes ...store.Write) {
	tb.t.Helper()
	Write(tb.t, tb.Store, writes...)
}

// conflict checks that the Write is refused, with exactly the failed positions.
func (tb table) conflict(failed []int, writes ...store.Write) {
	tb.t.Helper()
	err := tb.Write(tb.t.Context(), writes...)
	c, ok := errors.AsType[*store.ConflictError](err)
	if !ok {
		tb.t.Fatalf("Write(%v) returned %v; want a conflict at %v", describe(writes), err, failed)
	}
	if got := slices.Sorted(slices.Values(c.Failed)); !slices.Equal(got, failed) {
		tb.t.Fatalf("Write(%v) failed at %v; want %v", describe(writes), got, failed)
	}
}

// read returns the item with the key, by a strong read.
func (tb table) read(k store.Key) store.Item {
	tb.t.Helper()
	items, err := tb.Get(tb.t.Context(), store.Strong, k)
	if err != nil {
		tb.t.Fatalf("Get(%v): %v", k, err)
	}
	if len(items) != 1 || items[0].Key != k {
		tb.t.Fatalf("Get(%v) returned %v", k, items)
	}
	return items[0]
}

// list returns the result of a Query, which must succeed.
func (tb table) list(q store.Query) []store.Item {
	tb.t.Helper()
	q.Consistency = store.Strong
	if q.Limit == 0 {
		q.Limit = 1000
	}
	items, err := tb.Query(tb.t.Context(), q)
	if err != nil {
		tb.t.Fatalf("Query(%+v): %v", q, err)
	}
	return items
}

// wantList checks that a Query returns the items: at once from the table, and within the store's Lag from an index.
func (tb table) wantList(q store.Query, want ...store.Item) {
	tb.t.Helper()
	want = entries(q.Index, want)
	compare := func() string {
		if wrong := Diff(tb.list(q), want); wrong != "" {
			return fmt.Sprintf("Query(%+v): %s", q, wrong)
		}
		return ""
	}
	if q.Index != store.Table {
		tb.eventually(compare)
	} else if wrong := compare(); wrong != "" {
		tb.t.Fatal(wrong)
	}
}

// entries returns the items in the form that a Query of the index returns.
func entries(of store.Index, items []store.Item) []store.Item {
	items = slices.Clone(items)
	for i := range items {
		items[i].LeaveEntry(of)
	}
	return items
}

// wantPages checks the items of a Query that is read in pages.
func (tb table) wantPages(q store.Query, want []store.Item) {
	tb.t.Helper()
	if wrong := Diff(tb.pages(q), entries(q.Index, want)); wrong != "" {
		tb.t.Fatalf("pages of %+v: %s", q, wrong)
	}
}

// wantStored checks that the table has exactly these items under their keys.
func (tb table) wantStored(items ...store.Item) {
	tb.t.Helper()
	for i := range items {
		if wrong := diff(tb.read(items[i].Key), items[i]); wrong != "" {
			tb.t.Fatalf("item %v: %s", items[i].Key, wrong)
		}
	}
}

// key returns a key in the partition that most tests use.
func key(sort string) store.Key { return store.Key{Partition: "P", Sort: sort} }

// within returns the items within q's bounds.
func within(q store.Query, items []store.Item) (all []store.Item) {
	for _, it := range items {
		if s := it.Entry(q.Index).Sort; s >= q.From && (q.To == "" || s <= q.To) {
			all = append(all, it)
		}
	}
	return all
}

// item returns an item with different data for each sort part.
func item(sort string) store.Item {
	return store.Item{Key: key(sort), Version: 1, Data: []byte(`{"of":"` + sort + `"}`)}
}

// listed returns an item with an entry in an index.
func listed(sort string, i store.Index, partition, entry string) store.Item {
	it := item(sort)
	it.Indexes[i-1] = store.Key{Partition: partition, Sort: entry}
	return it
}

// replaced returns a Replace of the item with the data, and the item that it stores.
func replaced(it store.Item, data string) (write store.Write, after store.Item) {
	it.Data = []byte(data)
	write = store.Replace(it)
	it.Version++
	return write, it
}

// missing returns the result of a Get for a key without an item.
func missing(k store.Key) store.Item { return store.Item{Key: k} }

// diff describes how got differs from want. It returns "" if they are equal.
func diff(got, want store.Item) string {
	switch {
	case got.Key != want.Key:
		return fmt.Sprintf("key %v, want %v", got.Key, want.Key)
	case got.Version != want.Version:
		return fmt.Sprintf("version %d, want %d", got.Version, want.Version)
	case got.Indexes != want.Indexes:
		return fmt.Sprintf("index entries %v, want %v", got.Indexes, want.Indexes)
	case !got.Expires.Equal(want.Expires):
		return fmt.Sprintf("expires %v, want %v", got.Expires, want.Expires)
	case !bytes.Equal(got.Data, want.Data):
		return fmt.Sprintf("data %.60q, want %.60q", got.Data, want.Data)
	}
	return ""
}

// Diff describes how got differs from want. It returns "" if they are equal.
func Diff(got, want []store.Item) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d items %v, want %d %v", len(got), keys(got), len(want), keys(want))
	}
	for i := range got {
		if wrong := diff(got[i], want[i]); wrong != "" {
			return fmt.Sprintf("item %d: %s", i, wrong)
		}
	}
	return ""
}

func keys(items []store.Item) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "[%.40s %.40s]", it.Partition, it.Sort)
	}
	return b.String()
}

func describe(writes []store.Write) string {
	names := [...]string{"none", "create", "replace", "delete", "delete-if", "check", "check-absent"}
	var b strings.Builder
	for _, w := range writes {
		fmt.Fprintf(&b, "%s %.40s/%.40s v%d; ", names[w.Op], w.Item.Partition, w.Item.Sort, w.Item.Version)
	}
	return b.String()
}

// again reports whether a Write that raced others should be tried again.
func again(err error) bool { return store.IsConflict(err) || errors.Is(err, store.ErrUnavailable) }

// counted returns the Usage of the calls that use makes with its context.
func (tb table) counted(use func(ctx context.Context)) (calls, read int64) {
	var u store.Usage
	use(store.WithUsage(tb.t.Context(), &u))
	return u.Calls.Load(), u.Read.Load()
}

// seedVariable is the environment variable with the seed for Random.
const seedVariable = "ASSAY_TEST_SEED"

// Random returns a generator for concurrent use. Its seed comes from the environment, or is random and logged, so that it can be given
// again.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64() //nolint:gosec // a seed of a test is no secret
	if given := os.Getenv(seedVariable); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%s=%d repeats the random choices of this run", seedVariable, seed)
	return rand.New(&lockedSource{source: rand.NewPCG(seed, seed)}) //nolint:gosec // not secret either
}

type lockedSource struct {
	mu     sync.Mutex
	source rand.Source
}

// Uint64 implements rand.Source.
func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}
