package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"assay/shared/storage/store"
)

var queries = map[string]func(table){
	"Query/OrderOfBytes":          testOrder,
	"Query/BoundsAndLimits":       testBounds,
	"Query/PartitionsAreSeparate": testPartitions,
	"Query/Pages":                 testPages,
	"Query/PagesOfBytes":          testPagesOfBytes,
	"Query/AfterDeleted":          testAfterDeleted,
	"Query/AfterOutsideBounds":    testAfterBounds,
	"Index/Sparse":                testSparse,
	"Index/IsUpdatedWithItem":     testIndexUpdated,
	"Index/SharedEntries":         testSharedEntries,
	"Index/EntriesAreSeparate":    testEntriesApart,
}

// sorts is in the order of the bytes, which differs from that of UTF-16 and of languages.
var sorts = []string{"\x01", "\x01\x01", " ", "#", "A", "A\x01", "A\x01x", "A#", "AA", "Z", "a", "a\x7f", "aé", "z", "~", "é", "日本",
	"\uFFFD", "😀", "\U0010FFFF"}

// testedIndexes are the table, the first index and the last index.
var testedIndexes = []store.Index{store.Table, 1, store.NumIndexes}

// fill creates an item for each sort part in the partition of the index, and returns the items in order.
func (tb table) fill(index store.Index, partition string, sorts []string) []store.Item {
	var items []store.Item
	var writes []store.Write
	for i, s := range sorts {
		it := store.Item{Key: store.Key{Partition: partition, Sort: s}, Version: 1, Data: fmt.Appendf(nil, "%s %q", partition, s)}
		if index != store.Table {
			// The table's order is the reverse of the index's, so that a test cannot confuse them.
			it.Key = store.Key{Partition: fmt.Sprintf("of %d %s", index, partition), Sort: fmt.Sprintf("%03d", 999-i)}
			it.Indexes[index-1] = store.Key{Partition: partition, Sort: s}
		}
		items, writes = append(items, it), append(writes, store.Create(it))
	}
	for len(writes) > 0 {
		n := min(len(writes), store.MaxWrites)
		tb.write(writes[:n]...)
		writes = writes[n:]
	}
	return items
}

func reversed(items []store.Item) []store.Item {
	items = slices.Clone(items)
	slices.Reverse(items)
	return items
}

func testOrder(tb table) {
	if !slices.IsSorted(sorts) {
		tb.t.Fatal("the suite's own order is wrong")
	}
	for _, index := range testedIndexes {
		items := tb.fill(index, "P", sorts)
		tb.wantList(store.Query{Index: index, Partition: "P"}, items...)
		tb.wantList(store.Query{Index: index, Partition: "P", Descending: true}, reversed(items)...)
	}
}

// testBounds tries all pairs of bounds, at items and between them, with limits and in both directions.
func testBounds(tb table) {
	all := []string{"A", "A\x01", "AA", "B", "é", "😀"}
	bounds := append([]string{"", "\x01", "A\x01\x01", "A ", "AAA", "a", "\U0010FFFF"}, all...)
	for _, index := range testedIndexes {
		items := tb.fill(index, "P", all)
		tb.wantList(store.Query{Index: index, Partition: "P"}, items...)
		for _, from := range bounds {
			for _, to := range bounds {
				if to != "" && from > to {
					continue
				}
				q := store.Query{Index: index, Partition: "P", From: from, To: to}
				want := within(q, items)
				for _, q.Limit = range []int{1, 2, max(len(want), 1), 100} {
					n := min(q.Limit, len(want))
					q.Descending = false
					tb.wantList(q, want[:n]...)
					q.Descending = true
					tb.wantList(q, reversed(want)[:n]...)
				}
			}
		}
	}
}

func testPartitions(tb table) {
	for _, index := range testedIndexes {
		all := map[string][]store.Item{}
		names := []string{"O", "P", "P\x01", "P ", "P#", "PA", "Q", "p"}
		for _, p := range names {
			all[p] = tb.fill(index, p, []string{"\x01", "A", "\U0010FFFF"})
		}
		for _, p := range names {
			q := store.Query{Index: index, Partition: p}
			tb.wantList(q, all[p]...)
			q.Descending = true
			tb.wantList(q, reversed(all[p])...)
			q.To = "A"
			tb.wantList(q, all[p][1], all[p][0])
			q.To, q.From = "", "A"
			tb.wantList(q, all[p][2], all[p][1])
		}
	}
}

// pages returns the items of a Query that is read in pages. Every page except the last must be full.
func (tb table) pages(q store.Query) []store.Item {
	tb.t.Helper()
	var items []store.Item
	for range 1000 {
		page := tb.list(q)
		if len(page) > q.Limit {
			tb.t.Fatalf("Query(%+v) returned %d items", q, len(page))
		}
		items = append(items, page...)
		if q.IsLastPage(page) {
			return items
		}
		q.After = &page[len(page)-1]
	}
	tb.t.Fatalf("the pages of Query(%+v) do not end", q)
	return nil
}

func testPages(tb table) {
	for _, index := range testedIndexes {
		items := tb.fill(index, "P", sorts)
		tb.fill(index, "P\x01", sorts[:5])
		tb.wantList(store.Query{Index: index, Partition: "P"}, items...)
		for limit := 1; limit <= len(sorts)+1; limit++ {
			for _, q := range []store.Query{{}, {From: "A\x01"}, {To: "é"}, {From: "A", To: "~"}} {
				q.Index = index
				q.Partition = "P"
				q.Limit = limit
				tb.wantPages(q, within(q, items))
				q.Descending = true
				tb.wantPages(q, reversed(within(q, items)))
			}
		}
	}
}

// testPagesOfBytes reads pages that end with the item that reaches a number of bytes, for items of all sizes.
func testPagesOfBytes(tb table) {
	const most = 300 << 10
	for _, index := range testedIndexes {
		var items []store.Item
		for i, size := range []int{1, 0, most - 1, most, most + 1, 2, most / 2, most / 2, most / 2, 0} {
			it := store.Item{Key: store.Key{Partition: fmt.Sprint("I", index, i), Sort: "I"}, Data: bytes.Repeat([]byte("x"), size)}
			if index != store.Table {
				it.Indexes[index-1] = store.Key{Partition: "P", Sort: fmt.Sprint(i)}
			} else {
				it.Key = store.Key{Partition: "P", Sort: fmt.Sprint(i)}
			}
			tb.write(store.Create(it))
			it.Version = 1
			items = append(items, it)
		}
		for _, q := range []store.Query{{MaxBytes: 1}, {MaxBytes: most}, {MaxBytes: 10 * most}, {MaxBytes: most, Descending: true}} {
			q.Index = index
			q.Partition = "P"
			q.Limit = 4
			want := items
			if q.Descending {
				want = reversed(items)
			}
			tb.wantPages(q, want)
			first := tb.list(q)
			if cut := q.Truncate(want[:q.Limit]); len(first) != len(cut) {
				tb.t.Errorf("a page of %d bytes has %d items, want %d", q.MaxBytes, len(first), len(cut))
			}
		}
	}
}

// testAfterDeleted continues after an item that was deleted, moved or changed after its page was read.
func testAfterDeleted(tb table) {
	for _, index := range testedIndexes {
		items := tb.fill(index, "P", []string{"A", "B", "C", "D", "E"})
		b := items[1]
		q := store.Query{Index: index, Partition: "P", After: &b}
		forth := func(want ...store.Item) {
			tb.t.Helper()
			q.Descending = false
			tb.wantList(q, want...)
		}
		back := func(want ...store.Item) {
			tb.t.Helper()
			q.Descending = true
			tb.wantList(q, want...)
		}
		forth(items[2:]...)
		back(items[0])

		moved := b
		moved.Data = []byte("changed")
		if index != store.Table {
			moved.Indexes[index-1].Sort = "D\x01"
		}
		tb.write(store.Replace(moved))
		moved.Version++
		if index != store.Table {
			forth(items[2], items[3], moved, items[4])
		} else {
			forth(items[2:]...)
		}
		back(items[0])

		tb.write(store.Delete(b.Key))
		forth(items[2:]...)
		back(items[0])
		tb.write(store.Delete(items[0].Key), store.Delete(items[4].Key))
		forth(items[2:4]...)
		back()
	}
}

func testAfterBounds(tb table) {
	for _, index := range testedIndexes {
		items := tb.fill(index, "P", []string{"A", "B", "C", "D", "E"})
		for i := range items {
			q := store.Query{Index: index, Partition: "P", From: "B", To: "D", After: &items[i]}
			tb.wantList(q, items[min(max(i+1, 1), 4):4]...)
			q.Descending = true
			tb.wantList(q, reversed(items[1:max(1, min(i, 4))])...)
		}
	}
}

// testSparse creates an item for each subset of the first three indexes and the last.
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

// testIndexUpdated checks that each change of an item is visible in every index, even if its entries stay the same.
func testIndexUpdated(tb table) {
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

// sorted returns the items in the order of their keys.
func sorted(items []store.Item) []store.Item {
	byKey := func(a, b store.Item) int { return strings.Compare(a.Partition+a.Sort, b.Partition+b.Sort) }
	return slices.SortedFunc(slices.Values(items), byKey)
}

func byEntry(a, b store.Item) int { return strings.Compare(a.Indexes[0].Sort, b.Indexes[0].Sort) }

// testSharedEntries lists items with equal entries. Each appears once, always in the same order, in pages of every size.
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
			return Diff(sorted(whole), sorted(all))
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
			tb.wantPages(q, whole)
		}
		// A bound includes all items with an equal entry.
		q.From = "1"
		q.To = "1"
		q.Limit = 100
		if got := tb.list(q); len(got) != 10 {
			tb.t.Errorf("descending=%v: %d items share the entry, want 10", descending, len(got))
		}
	}
}

// testEntriesApart creates entries whose concatenated parts are equal.
func testEntriesApart(tb table) {
	x := listed("a", 1, "L", "MN")
	y := listed("b", 1, "LM", "N")
	z := listed("c", 2, "L", "MN")
	tb.write(store.Create(x), store.Create(y), store.Create(z))
	tb.wantList(store.Query{Index: 1, Partition: "L"}, x)
	tb.wantList(store.Query{Index: 1, Partition: "LM"}, y)
	tb.wantList(store.Query{Index: 2, Partition: "L"}, z)
	u, v := item("x"), item("x")
	u.Key = store.Key{Partition: "A", Sort: "BC"}
	v.Key = store.Key{Partition: "AB", Sort: "C"}
	u.Data = []byte("other")
	tb.write(store.Create(u), store.Create(v))
	tb.wantStored(u, v)
}
