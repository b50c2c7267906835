package storetest

import (
	"fmt"
	"slices"
	"strings"

	"assay/shared/store"
)

var indexes = map[string]func(table){
	"Index/Sparse":         testSparse,
	"Index/FollowsTheItem": testFollows,
	"Index/SharedEntries":  testSharedEntries,
	"Index/EntriesApart":   testEntriesApart,
}

// testSparse has an item in each set of indexes that the first three and the last allow.
func testSparse(tb table) {
	in := []store.Index{1, 2, 3, store.NumIndexes}
	want := map[store.Index][]store.Item{}
	for set := range 1 << len(in) {
		it := item(fmt.Sprintf("%02d", set))
		for bit, i := range in {
			if set&(1<<bit) != 0 {
				it.Indexes[i-1] = store.Key{Partition: "L", Sort: it.Sort}
			}
		}
		for _, i := range in {
			if !it.Entry(i).IsZero() {
				want[i] = append(want[i], it)
			}
		}
		tb.write(store.Create(it))
	}
	for i := store.Index(1); i <= store.NumIndexes; i++ {
		tb.wantList(store.Query{Index: i, Partition: "L"}, want[i]...)
		tb.wantList(store.Query{Index: i, Partition: "P"})
	}
	tb.wantList(store.Query{Partition: "L"})
}

// testFollows wants each change of an item in every index, also of one whose entries stay.
func testFollows(tb table) {
	it := item("a")
	for i := range it.Indexes {
		it.Indexes[i] = store.Key{Partition: "L", Sort: "x"}
	}
	tb.write(store.Create(it))
	for n := range 3 {
		var w store.Write
		w, it = replaced(it, fmt.Sprint(n))
		tb.write(w)
		tb.conflict([]int{0}, w)
		for i := store.Index(1); i <= store.NumIndexes; i++ {
			tb.wantList(store.Query{Index: i, Partition: "L"}, it)
		}
	}
}

func bySort(a, b store.Item) int { return strings.Compare(a.Sort, b.Sort) }

func byEntry(a, b store.Item) int { return strings.Compare(a.Indexes[0].Sort, b.Indexes[0].Sort) }

// testSharedEntries lists items whose entries are equal: each once, in an order that stays, in pages of every size.
func testSharedEntries(tb table) {
	var all []store.Item
	for i := range 30 {
		it := listed(fmt.Sprintf("%02d", (i*7)%30), 1, "L", fmt.Sprint(i/10))
		if i%2 == 0 {
			it.Partition = "other"
		}
		all = append(all, it)
		tb.write(store.Create(it))
	}
	for _, descending := range []bool{false, true} {
		q := store.Query{Index: 1, Partition: "L", Descending: descending, Limit: 100}
		var whole []store.Item
		tb.eventually(func() string {
			whole = tb.list(q)
			got, want := slices.Clone(whole), slices.Clone(all)
			slices.SortFunc(got, bySort)
			slices.SortFunc(want, bySort)
			return diffItems(got, want)
		})
		ascending := slices.Clone(whole)
		if descending {
			slices.Reverse(ascending)
		}
		if !slices.IsSortedFunc(ascending, byEntry) {
			tb.t.Fatalf("descending=%v: not in order: %s", descending, keys(whole))
		}
		for limit := 1; limit <= 31; limit++ {
			q.Limit = limit
			if wrong := diffItems(tb.pages(q), whole); wrong != "" {
				tb.t.Fatalf("descending=%v in pages of %d: %s", descending, limit, wrong)
			}
		}
		// An equal bound takes all that share it.
		q.From, q.To, q.Limit = "1", "1", 100
		if got := tb.list(q); len(got) != 10 {
			tb.t.Errorf("descending=%v: %d items share the entry, want 10", descending, len(got))
		}
	}
}

// testEntriesApart has entries whose parts, written one after the other, would be the same.
func testEntriesApart(tb table) {
	x, y, z := listed("a", 1, "L", "MN"), listed("b", 1, "LM", "N"), listed("c", 2, "L", "MN")
	tb.write(store.Create(x), store.Create(y), store.Create(z))
	tb.wantList(store.Query{Index: 1, Partition: "L"}, x)
	tb.wantList(store.Query{Index: 1, Partition: "LM"}, y)
	tb.wantList(store.Query{Index: 2, Partition: "L"}, z)
	u, v := item("x"), item("x")
	u.Key, v.Key = store.Key{Partition: "A", Sort: "BC"}, store.Key{Partition: "AB", Sort: "C"}
	u.Data = []byte("other")
	tb.write(store.Create(u), store.Create(v))
	tb.wantStored(u, v)
}
