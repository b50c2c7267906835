package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/shared/storage/store"
)

var limits = map[string]func(table){
	"Limits/Keys":    testKeyLimits,
	"Limits/Writes":  testWriteLimits,
	"Limits/Queries": testQueryLimits,
	"Limits/Gets":    testGetLimits,
}

// badKeys returns keys that each exceed a different limit.
func badKeys() map[string]store.Key {
	return map[string]store.Key{
		"no partition":              {Sort: "s"},
		"no sort part":              {Partition: "p"},
		"long partition":            {Partition: strings.Repeat("p", store.MaxPartitionBytes+1), Sort: "s"},
		"long sort part":            {Partition: "p", Sort: strings.Repeat("s", store.MaxSortBytes+1)},
		"NUL in the partition":      {Partition: "p\x00", Sort: "s"},
		"NUL in the sort part":      {Partition: "p", Sort: "\x00s"},
		"partition is not UTF-8":    {Partition: "p\xff", Sort: "s"},
		"sort part is not UTF-8":    {Partition: "p", Sort: "s\xc3"},
		"a long partition in bytes": {Partition: strings.Repeat("é", store.MaxPartitionBytes/2) + "x", Sort: "s"},
	}
}

func (tb table) wantInvalid(what string, err error) {
	tb.t.Helper()
	if !errors.Is(err, store.ErrInvalid) {
		tb.t.Errorf("%s: %v, want ErrInvalid", what, err)
	}
}

func testKeyLimits(tb table) {
	ctx := tb.t.Context()
	good := key("good")
	for name, bad := range badKeys() {
		it := store.Item{Key: bad, Version: 1}
		for _, w := range []store.Write{store.Create(it), store.Replace(it), store.Delete(bad), store.DeleteIf(it), store.Check(it),
			store.CheckAbsent(bad)} {
			tb.wantInvalid(name+" in "+describe([]store.Write{w}), tb.Write(ctx, store.Create(store.Item{Key: good}), w))
		}
		for i := range store.NumIndexes {
			it := item("indexed")
			it.Indexes[i] = bad
			tb.wantInvalid(fmt.Sprintf("%s in index %d", name, i+1), tb.Write(ctx, store.Create(store.Item{Key: good}), store.Create(it)))
		}
		_, err := tb.Get(ctx, store.Strong, good, bad)
		tb.wantInvalid("Get with "+name, err)
	}
	tb.wantStored(missing(good), missing(key("indexed")))
}

func testWriteLimits(tb table) {
	ctx := tb.t.Context()
	a := store.Create(item("a"))
	big := func(bytes int) store.Item {
		it := listed("big", 3, "L", "x")
		it.Data = make([]byte, bytes-len("P")-len("big")-len("L")-len("x"))
		return it
	}
	var many, heavy []store.Write
	for i := range store.MaxWrites + 1 {
		many = append(many, store.Create(item(fmt.Sprint(i))))
	}
	for i := range store.MaxWriteBytes/store.MaxItemBytes + 1 {
		heavy = append(heavy, store.Create(largest(fmt.Sprint("heavy ", i))))
	}
	old := item("old")
	old.Expires = time.Unix(0, 0)
	for name, writes := range map[string][]store.Write{
		"too many":                        many,
		"too heavy":                       heavy,
		"an item too large":               {store.Create(big(store.MaxItemBytes + 1))},
		"a replacement too large":         {store.Replace(big(store.MaxItemBytes + 1))},
		"a key twice":                     {a, store.Delete(key("b")), store.Delete(key("a"))},
		"a key twice, only checked":       {store.CheckAbsent(key("b")), a, store.CheckAbsent(key("b"))},
		"no operation":                    {a, {}},
		"an unknown operation":            {a, {Op: store.OpCheckAbsent + 1, Item: item("b")}},
		"a replacement of version 0":      {a, store.Replace(store.Item{Key: key("b")})},
		"a deletion of version 0":         {a, store.DeleteIf(store.Item{Key: key("b")})},
		"a check of version 0":            {a, store.Check(store.Item{Key: key("b")})},
		"a replacement of version -1":     {a, store.Replace(store.Item{Key: key("b"), Version: -1})},
		"an expiry before there was time": {a, store.Create(old)},
	} {
		tb.wantInvalid(name, tb.Write(ctx, writes...))
	}
	tb.wantList(store.Query{Partition: "P"})

	tb.write(many[:store.MaxWrites]...)
	tb.write(heavy[:len(heavy)-1]...)
	tb.write(store.Create(big(store.MaxItemBytes)))
	w, _ := replaced(big(store.MaxItemBytes), "small again")
	tb.write(w)
}

func testQueryLimits(tb table) {
	tb.write(store.Create(listed("a", 1, "L", "x")))
	in := listed("a", 1, "L", "x")
	elsewhere := listed("b", 1, "M", "x")
	nowhere := item("c")
	for name, q := range map[string]store.Query{
		"no limit":                       {Partition: "P"},
		"a negative limit":               {Partition: "P", Limit: -1},
		"an index below the table":       {Index: -1, Partition: "P", Limit: 1},
		"an index too many":              {Index: store.NumIndexes + 1, Partition: "P", Limit: 1},
		"no partition":                   {Limit: 1},
		"a long partition":               {Partition: strings.Repeat("p", store.MaxPartitionBytes+1), Limit: 1},
		"NUL in the partition":           {Partition: "P\x00", Limit: 1},
		"bounds the wrong way round":     {Partition: "P", From: "b", To: "a", Limit: 1},
		"a bound that is not UTF-8":      {Partition: "P", To: "a\xff", Limit: 1},
		"a bound with NUL":               {Partition: "P", From: "a\x00", Limit: 1},
		"a long bound":                   {Partition: "P", From: strings.Repeat("a", store.MaxSortBytes+1), Limit: 1},
		"after an item elsewhere":        {Partition: "Q", After: &in, Limit: 1},
		"after an item elsewhere there":  {Index: 1, Partition: "L", After: &elsewhere, Limit: 1},
		"after an item not in the index": {Index: 1, Partition: "L", After: &nowhere, Limit: 1},
		"after no item":                  {Partition: "P", After: &store.Item{}, Limit: 1},
	} {
		_, err := tb.Query(tb.t.Context(), q)
		tb.wantInvalid(name, err)
	}
	long := strings.Repeat("a", store.MaxSortBytes)
	tb.wantList(store.Query{Partition: "P", From: long, To: long})
}

func testGetLimits(tb table) {
	var names []store.Key
	for i := range store.MaxKeys + 1 {
		names = append(names, key(fmt.Sprint(i)))
	}
	_, err := tb.Get(tb.t.Context(), store.Strong, names...)
	tb.wantInvalid("too many keys", err)
	if got, err := tb.Get(tb.t.Context(), store.Strong, names[1:]...); err != nil || len(got) != store.MaxKeys {
		tb.t.Errorf("Get of %d keys: %d items, %v", store.MaxKeys, len(got), err)
	}
}
