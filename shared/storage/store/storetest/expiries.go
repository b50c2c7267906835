package storetest

import (
	"fmt"
	"time"

	"assay/shared/storage/store"
)

var expiries = map[string]func(table){
	"Expiry/Past":          testExpired,
	"Expiry/Passing":       testExpires,
	"Expiry/FillsNoPage":   testExpiredFillNoPage,
	"Expiry/IsReplaced":    testExpiryReplaced,
	"Expiry/ManyAtOneTime": testExpiredMany,
}

func past() time.Time   { return time.Now().Add(-time.Minute).Truncate(time.Second) }
func future() time.Time { return time.Now().Add(time.Hour).Truncate(time.Second) }

// wantAbsent checks that every call treats the item as deleted.
func (tb table) wantAbsent(it store.Item) {
	tb.t.Helper()
	tb.wantStored(missing(it.Key))
	tb.wantList(store.Query{Partition: it.Partition})
	for i := store.Index(1); i <= store.NumIndexes; i++ {
		if at := it.Entry(i); !at.IsZero() {
			tb.wantList(store.Query{Index: i, Partition: at.Partition})
		}
	}
	stale := it
	tb.conflict([]int{0}, store.Replace(stale))
	tb.conflict([]int{0}, store.DeleteIf(stale))
	tb.conflict([]int{0}, store.Check(stale))
	tb.write(store.CheckAbsent(it.Key))
}

func testExpired(tb table) {
	it := listed("a", 1, "L", "old")
	it.Expires = past()
	tb.write(store.Create(it))
	tb.wantAbsent(it)

	// An expired item can be created again, without any of its former entries.
	again := listed("a", 2, "M", "new")
	tb.write(store.Create(again))
	tb.wantStored(again)
	tb.wantList(store.Query{Partition: "P"}, again)
	tb.wantList(store.Query{Index: 1, Partition: "L"})
	tb.wantList(store.Query{Index: 2, Partition: "M"}, again)

	again.Expires = past()
	tb.write(store.Replace(again))
	again.Version++
	tb.wantAbsent(again)
	tb.write(store.Delete(again.Key))
	tb.wantAbsent(again)
}

// testExpires waits for an item to expire.
func testExpires(tb table) {
	it := listed("a", 1, "L", "x")
	it.Expires = time.Now().Add(1500 * time.Millisecond) // read back as the next whole second
	tb.write(store.Create(it))
	if time.Now().Before(it.Expires) {
		if got := tb.read(it.Key); !got.Exists() && time.Now().Before(it.Expires) {
			tb.t.Fatal("the item went before its time")
		}
	}
	time.Sleep(time.Until(it.Expires.Truncate(time.Second).Add(time.Second)))
	tb.wantAbsent(it)
}

func testExpiredFillNoPage(tb table) {
	for _, index := range testedIndexes {
		var live []store.Item
		for i, it := range tb.fill(index, "P", sorts) {
			if i%3 == 1 {
				live = append(live, it)
				continue
			}
			it.Expires = past()
			tb.write(store.Replace(it))
		}
		tb.wantList(store.Query{Index: index, Partition: "P"}, live...)
		for limit := 1; limit <= len(live)+1; limit++ {
			q := store.Query{Index: index, Partition: "P", Limit: limit}
			tb.wantPages(q, live)
			q.Descending = true
			tb.wantPages(q, reversed(live))
		}
	}
}

// testExpiryReplaced changes the expiry of an item.
func testExpiryReplaced(tb table) {
	it := listed("a", 1, "L", "x")
	for n, expires := range []time.Time{future(), {}, future().Add(time.Hour), future()} {
		it.Expires = expires
		if n == 0 {
			tb.write(store.Create(it))
		} else {
			tb.write(store.Replace(it))
			it.Version++
		}
		tb.wantStored(it)
		tb.wantList(store.Query{Index: 1, Partition: "L"}, it)
	}
	it.Expires = past()
	tb.write(store.Replace(it))
	it.Version++
	tb.wantAbsent(it)
}

// testExpiredMany expires more items at once than a store may remove at once.
func testExpiredMany(tb table) {
	for i := range 5 {
		var writes []store.Write
		for j := range store.MaxWrites {
			it := listed(fmt.Sprintf("%d-%03d", i, j), 1, "L", "x")
			it.Expires = past()
			writes = append(writes, store.Create(it))
		}
		tb.write(writes...)
	}
	kept := listed("kept", 1, "L", "y")
	tb.write(store.Create(kept))
	for range 5 {
		tb.wantList(store.Query{Partition: "P", Limit: 1}, kept)
		tb.wantList(store.Query{Index: 1, Partition: "L", Limit: 1}, kept)
		var w store.Write
		w, kept = replaced(kept, "again")
		tb.write(w)
	}
}
