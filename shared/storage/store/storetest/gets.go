package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/shared/storage/store"
)

var gets = map[string]func(table){
	"Get/OrderOfKeys":  testGetOrder,
	"Get/NoKeys":       testGetNone,
	"Get/EveryField":   testEveryField,
	"Get/LongestKeys":  testLongestKeys,
	"Get/LargestItems": testLargestItems,
	"Get/DataIsOwned":  testDataOwned,
	"Ping":             testPing,
}

func testGetOrder(tb table) {
	a, b := item("a"), item("b")
	tb.write(store.Create(a), store.Create(b))
	for _, c := range []store.Consistency{store.Strong, store.Eventual} {
		tb.eventually(func() string {
			got, err := tb.Get(tb.t.Context(), c, b.Key, key("none"), a.Key, b.Key)
			if err != nil {
				tb.t.Fatal(err)
			}
			return Diff(got, []store.Item{b, missing(key("none")), a, b})
		})
	}
	got := tb.read(key("none"))
	if got.Exists() {
		tb.t.Error("a missing item exists")
	}
	if a := tb.read(a.Key); !a.Exists() {
		tb.t.Error("a stored item does not exist")
	}
}

func testGetNone(tb table) {
	if got, err := tb.Get(tb.t.Context(), store.Strong); err != nil || len(got) != 0 {
		tb.t.Errorf("Get of no keys returned %v, %v", got, err)
	}
	if err := tb.Write(tb.t.Context()); err != nil {
		tb.t.Errorf("Write of nothing returned %v", err)
	}
}

func testEveryField(tb table) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	soon := time.Now().Add(time.Hour)
	full := item("full")
	full.Data = every
	full.Expires = soon.Truncate(time.Second)
	for i := range full.Indexes {
		full.Indexes[i] = store.Key{Partition: fmt.Sprintf("partition %d é", i), Sort: fmt.Sprintf("sort %d 😀", i)}
	}
	empty := item("empty")
	empty.Data = nil
	odd := item("\x01 😀\U0010FFFF #/\\\"")
	odd.Indexes[2] = store.Key{Partition: "\x01", Sort: "\x7f"}
	fraction := item("fraction")
	fraction.Expires = soon.Truncate(time.Second).Add(time.Millisecond)

	tb.write(store.Create(full), store.Create(empty), store.Create(odd), store.Create(fraction))
	fraction.Expires = soon.Truncate(time.Second).Add(time.Second)
	tb.wantStored(full, empty, odd, fraction)
	if zone := tb.read(full.Key).Expires.Location(); zone != time.UTC {
		tb.t.Errorf("Expires is read back in %v, want UTC", zone)
	}
	for i := range full.Indexes {
		tb.wantList(store.Query{Index: store.Index(i + 1), Partition: full.Indexes[i].Partition}, full)
	}

	w, after := replaced(full, "")
	after.Indexes, after.Expires = odd.Indexes, time.Time{}
	w.Item.Indexes, w.Item.Expires = after.Indexes, after.Expires
	tb.write(w)
	tb.wantStored(after)
}

func testLongestKeys(tb table) {
	long := func(c string) store.Key {
		return store.Key{Partition: strings.Repeat(c, store.MaxPartitionBytes), Sort: strings.Repeat(c, store.MaxSortBytes)}
	}
	it := store.Item{Key: long("k"), Version: 1, Data: []byte("x")}
	for i := range it.Indexes {
		it.Indexes[i] = long(string(rune('a' + i)))
	}
	tb.write(store.Create(it))
	tb.wantStored(it)
	for i, k := range it.Indexes {
		tb.wantList(store.Query{Index: store.Index(i + 1), Partition: k.Partition, From: k.Sort, To: k.Sort}, it)
	}
}

// largest returns an item of exactly MaxItemBytes, with an entry in index 1.
func largest(sort string) store.Item {
	it := listed(sort, 1, "large", sort)
	it.Data = bytes.Repeat([]byte(sort[len(sort)-1:]), store.MaxItemBytes-len(it.Partition)-2*len(it.Sort)-len("large"))
	return it
}

// testLargestItems reads more in one call than DynamoDB returns in one page.
func testLargestItems(tb table) {
	const each = store.MaxWriteBytes / store.MaxItemBytes
	var all []store.Item
	for len(all) < 45 {
		var writes []store.Write
		for range each {
			it := largest(fmt.Sprintf("%03d", len(all)))
			all, writes = append(all, it), append(writes, store.Create(it))
		}
		tb.write(writes...)
	}
	var names []store.Key
	for _, it := range all {
		names = append(names, it.Key)
	}
	got, err := tb.Get(tb.t.Context(), store.Strong, names...)
	if err != nil {
		tb.t.Fatal(err)
	}
	if wrong := Diff(got, all); wrong != "" {
		tb.t.Errorf("Get of %d large items: %s", len(all), wrong)
	}
	tb.wantList(store.Query{Partition: "P"}, all...)
	slices.Reverse(all)
	tb.wantList(store.Query{Index: 1, Partition: "large", Descending: true}, all...)
}

func testDataOwned(tb table) {
	it := listed("a", 1, "L", "1")
	want := bytes.Clone(it.Data)
	spoil := func(b []byte) {
		for i := range b {
			b[i] = 'X'
		}
	}
	check := func(when string) {
		tb.t.Helper()
		if got := tb.read(it.Key).Data; !bytes.Equal(got, want) {
			tb.t.Fatalf("after %s the data is %q", when, got)
		}
	}
	tb.write(store.Create(it))
	spoil(it.Data)
	check("changing what was written")
	spoil(tb.read(it.Key).Data)
	check("changing what Get returned")
	spoil(tb.list(store.Query{Partition: "P"})[0].Data)
	check("changing what Query returned")
}

func testPing(tb table) {
	if err := tb.Ping(tb.t.Context()); err != nil {
		tb.t.Error(err)
	}
}
