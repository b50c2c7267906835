package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"assay/shared/store"

	"pgregory.net/rapid"
)

// model is the table as the contract describes it, in the simplest way. It has no items that expired.
type model map[store.Key]store.Item

// write applies the writes and returns the positions whose condition does not hold.
func (m model) write(writes []store.Write) []int {
	var failed []int
	for i, w := range writes {
		version := m[w.Item.Key].Version
		holds := true
		switch w.Op {
		case store.OpCreate, store.OpCheckAbsent:
			holds = version == 0
		case store.OpReplace, store.OpDeleteIf, store.OpCheck:
			holds = version == w.Item.Version
		case store.OpDelete: // has no condition
		}
		if !holds {
			failed = append(failed, i)
		}
	}
	if failed != nil {
		return failed
	}
	for _, w := range writes {
		it := w.Item
		switch w.Op {
		case store.OpCreate:
			it.Version = 1
			m[it.Key] = it
		case store.OpReplace:
			it.Version++
			m[it.Key] = it
		case store.OpDelete, store.OpDeleteIf:
			delete(m, it.Key)
		case store.OpCheck, store.OpCheckAbsent: // change nothing
		}
		if now := m[it.Key]; !now.Expires.IsZero() && now.Expires.Before(time.Now()) {
			delete(m, it.Key)
		}
	}
	return nil
}

// list returns what a Query of the whole partition holds, in no order.
func (m model) list(i store.Index, partition string) []store.Item {
	var items []store.Item
	for _, it := range m {
		if it.Entry(i).Partition == partition {
			items = append(items, it)
		}
	}
	return items
}

// machine is a store and its model, in partitions that no other machine uses.
type machine struct {
	tb     table
	prefix string
	model  model
}

var machines atomic.Int64

// testModel applies random calls to the store and to the model, and compares them.
func testModel(tb table) {
	rapid.Check(tb.t, func(t *rapid.T) {
		m := &machine{tb, fmt.Sprintf("%d ", machines.Add(1)), model{}}
		t.Repeat(map[string]func(*rapid.T){
			"write": m.write,
			"get":   m.get,
			"query": m.query,
		})
	})
}

func (m *machine) partition(t *rapid.T, names ...string) string {
	return m.prefix + rapid.SampledFrom(names).Draw(t, "partition")
}

func (m *machine) key(t *rapid.T) store.Key {
	return store.Key{Partition: m.partition(t, "P", "Q"), Sort: rapid.SampledFrom([]string{"a", "aa", "b", "é"}).Draw(t, "sort")}
}

// entry draws an index entry; the few there are meet often.
func (m *machine) entry(t *rapid.T) store.Key {
	if rapid.Bool().Draw(t, "sparse") {
		return store.Key{}
	}
	return store.Key{Partition: m.partition(t, "L", "M"), Sort: rapid.SampledFrom([]string{"1", "2", "22"}).Draw(t, "entry")}
}

func (m *machine) write(t *rapid.T) {
	var writes []store.Write
	for _, k := range rapid.SliceOfNDistinct(rapid.Custom(m.key), 1, 4, rapid.ID).Draw(t, "keys") {
		it := store.Item{Key: k, Version: m.model[k].Version, Data: rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "data")}
		if it.Version == 0 || rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
			it.Version++
		}
		it.Indexes[0], it.Indexes[store.NumIndexes-1] = m.entry(t), m.entry(t)
		switch rapid.IntRange(0, 9).Draw(t, "expires") {
		case 0:
			it.Expires = past()
		case 1:
			it.Expires = future()
		}
		op := rapid.SampledFrom([]store.Op{store.OpCreate, store.OpCreate, store.OpReplace, store.OpReplace, store.OpDelete, store.OpDeleteIf,
			store.OpCheck, store.OpCheckAbsent}).Draw(t, "operation")
		writes = append(writes, store.Write{Op: op, Item: it})
	}
	want := m.model.write(writes)
	err := m.tb.Write(t.Context(), writes...)
	if want == nil && err != nil || want != nil && !store.IsConflict(err) {
		t.Fatalf("Write(%s) returned %v, want conflicts at %v", describe(writes), err, want)
	}
	for i := range writes {
		if Conflicts(err, i) != slices.Contains(want, i) {
			t.Fatalf("Write(%s) returned %v, want conflicts at %v", describe(writes), err, want)
		}
	}
}

func (m *machine) get(t *rapid.T) {
	names := rapid.SliceOfN(rapid.Custom(m.key), 1, 5).Draw(t, "keys")
	got, err := m.tb.Get(t.Context(), store.Strong, names...)
	if err != nil {
		t.Fatal(err)
	}
	var want []store.Item
	for _, k := range names {
		it := m.model[k]
		it.Key = k
		want = append(want, it)
	}
	if wrong := diffItems(got, want); wrong != "" {
		t.Fatal(wrong)
	}
}

// query reads a partition whole, which must have the model's items in the order of their entries; with bounds, a place
// to start and a limit, it then must read the same list's part.
func (m *machine) query(t *rapid.T) {
	q := store.Query{
		Index:       rapid.SampledFrom(sides).Draw(t, "index"),
		Descending:  rapid.Bool().Draw(t, "descending"),
		Limit:       100,
		Consistency: store.Strong,
	}
	q.Partition = m.partition(t, "L", "M")
	if q.Index == store.Table {
		q.Partition = m.partition(t, "P", "Q")
	}
	var whole []store.Item
	m.tb.eventually(func() string {
		whole = m.list(t, q)
		got, want := slices.Clone(whole), m.model.list(q.Index, q.Partition)
		for _, items := range [][]store.Item{got, want} {
			slices.SortFunc(items, func(a, b store.Item) int {
				return strings.Compare(a.Partition+a.Sort, b.Partition+b.Sort)
			})
		}
		return diffItems(got, want)
	})
	for i := 1; i < len(whole); i++ {
		if a, b := whole[i-1].Entry(q.Index).Sort, whole[i].Entry(q.Index).Sort; q.Descending && a < b || !q.Descending && a > b {
			t.Fatalf("Query(%+v): %q stands before %q", q, a, b)
		}
	}

	bounds := []string{"", "1", "2", "22", "3", "a", "aa", "b", "é"}
	q.From = rapid.SampledFrom(bounds).Draw(t, "from")
	if q.To = rapid.SampledFrom(bounds).Draw(t, "to"); q.To != "" && q.To < q.From {
		q.From, q.To = q.To, q.From
	}
	q.Limit = rapid.IntRange(1, 9).Draw(t, "limit")
	part := whole
	if len(whole) > 0 && rapid.Bool().Draw(t, "goes on") {
		n := rapid.IntRange(0, len(whole)-1).Draw(t, "after")
		q.After, part = &whole[n], whole[n+1:]
	}
	var want []store.Item
	for _, it := range part {
		if s := it.Entry(q.Index).Sort; s >= q.From && (q.To == "" || s <= q.To) && len(want) < q.Limit {
			want = append(want, it)
		}
	}
	if wrong := diffItems(m.list(t, q), want); wrong != "" {
		t.Fatalf("Query(%+v): %s", q, wrong)
	}
}

func (m *machine) list(t *rapid.T, q store.Query) []store.Item {
	items, err := m.tb.Query(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return items
}
