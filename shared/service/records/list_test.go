package records_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// testRecord is a record in at most one partition of each of two indexes.
type testRecord struct {
	record.Meta
	First, Second string
	Odd           bool
	Text          string
}

func (r *testRecord) Key() store.Key { return store.Key{Partition: "TEST#" + r.ID, Sort: "TEST"} }

func (r *testRecord) Indexes() (x [store.NumIndexes]store.Key) {
	if r.First != "" {
		x[0] = store.Key{Partition: r.First, Sort: r.ID}
	}
	if r.Second != "" {
		x[1] = store.Key{Partition: r.Second, Sort: r.ID}
	}
	return x
}

func open(t *testing.T) store.Store {
	t.Helper()
	return recordtest.OpenStore(t, embedded.Options{})
}

func commit(t *testing.T, s store.Store, tx *records.Tx) {
	t.Helper()
	if err := tx.Commit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func id(n int) string { return fmt.Sprintf("%026d", n) }

// fill stores n records in partition A, changed by edit, and returns their IDs, newest first.
func fill(t *testing.T, s store.Store, n int, edit func(i int, r *testRecord)) (ids []string) {
	t.Helper()
	for i := range n {
		r := &testRecord{Meta: record.Meta{ID: id(i)}, First: "A"}
		edit(i, r)
		commit(t, s, new(records.Tx).Create(r))
		ids = append(ids, r.ID)
	}
	slices.Reverse(ids)
	return ids
}

// TestList_MergesItsSources checks that a list of several sources has all their records, sorted, filtered and limited.
func TestList_MergesItsSources(t *testing.T) {
	s, ctx := open(t), t.Context()
	var all []*testRecord
	fill(t, s, 60, func(i int, r *testRecord) {
		r.Odd = i%3 == 0
		if i%2 == 1 {
			r.First = ""
		}
		if i%5 < 3 {
			r.Second = fmt.Sprintf("B%d", i%2)
		}
		all = append(all, r)
	})
	slices.Reverse(all)
	named := records.Source{Key: func(id string) store.Key { return (&testRecord{Meta: record.Meta{ID: id}}).Key() }}
	for i := 59; i >= 0; i -= 4 {
		named.IDs = append(named.IDs, id(i+3)) // some do not exist
	}
	inNamed := func(r *testRecord) bool { return slices.Contains(named.IDs, r.ID) }
	nightlytest.Check(t, func(t *rapid.T) {
		var sel records.Selection
		holds := map[string]func(*testRecord) bool{
			"A":     func(r *testRecord) bool { return r.First == "A" },
			"B0":    func(r *testRecord) bool { return r.Second == "B0" },
			"B1":    func(r *testRecord) bool { return r.Second == "B1" },
			"none":  func(*testRecord) bool { return false },
			"named": inNamed,
		}
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B0", "B1", "none", "named"}), 1, 5, rapid.ID[string]).Draw(t, "sources")
		for _, name := range chosen {
			switch name {
			case "A":
				sel.Sources = append(sel.Sources, records.Partition(1, "A"))
			case "named":
				sel.Sources = append(sel.Sources, named)
			default:
				sel.Sources = append(sel.Sources, records.Partition(2, name))
			}
		}
		oddOnly := rapid.Bool().Draw(t, "filtered")
		var keep func(*testRecord) bool
		if oddOnly {
			keep = func(r *testRecord) bool { return r.Odd }
		}
		var want []string
		for _, r := range all {
			if (!oddOnly || r.Odd) && slices.ContainsFunc(chosen, func(name string) bool { return holds[name](r) }) {
				want = append(want, r.ID)
			}
		}
		sel.Limit = rapid.IntRange(1, 20).Draw(t, "limit")
		var got []string
		for {
			page, next, err := list(ctx, s, sel, keep)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				got = append(got, r.ID)
			}
			if next == "" {
				break
			}
			if len(page) != sel.Limit {
				t.Fatalf("a page of %d is followed by another", len(page))
			}
			sel.Cursor = next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v\ngot  %v\nwant %v", chosen, got, want)
		}
		for _, r := range all {
			sel.Cursor = r.ID
			if _, _, err := list(ctx, s, sel, keep); problem.InvalidCursor.Is(err) == slices.Contains(want, r.ID) {
				t.Fatalf("cursor %s: %v", r.ID, err)
			}
		}
	})
}

func TestList_WithoutAFilterReadsOneItemMore(t *testing.T) {
	s := open(t)
	fill(t, s, 30, func(int, *testRecord) {})
	var used store.Usage
	sel := records.Selection{Sources: []records.Source{records.Partition(1, "A")}, Limit: 10, Cursor: id(20)}
	if _, _, err := list[testRecord](store.WithUsage(t.Context(), &used), s, sel, nil); err != nil {
		t.Fatal(err)
	}
	if used.Calls.Load() != 1 || used.Read.Load() != 11 {
		t.Errorf("%d calls read %d items", used.Calls.Load(), used.Read.Load())
	}
}

func TestList_FindsRareRecordsInFewCalls(t *testing.T) {
	s := open(t)
	fill(t, s, 300, func(i int, r *testRecord) { r.Odd = i == 0 })
	var used store.Usage
	sel := records.Selection{Sources: []records.Source{records.Partition(1, "A")}, Limit: 1}
	found, next, err := list(store.WithUsage(t.Context(), &used), s, sel, func(r *testRecord) bool { return r.Odd })
	if err != nil || len(found) != 1 || next != "" {
		t.Fatal(len(found), next, err)
	}
	if used.Calls.Load() > 3 {
		t.Errorf("%d calls for one of 300", used.Calls.Load())
	}
}

// The registrations of a task are between other items of its partition.
func TestList_OfTheTableKeepsToItsPrefix(t *testing.T) {
	s, ctx := open(t), t.Context()
	const task = "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"
	var want []string
	for i := range 9 {
		r := &record.RegistrationItem{}
		r.ID, r.TaskID = id(i), task
		commit(t, s, new(records.Tx).Create(r).Create(&record.Allowance{Meta: r.Meta, TaskID: task}).
			Create(&record.Reservation{Meta: r.Meta, At: record.TeamKey(task, r.ID)}))
		want = append([]string{r.ID}, want...)
	}
	sel := records.Selection{Sources: []records.Source{records.Registrations(task)}, Limit: 4}
	var got []string
	for {
		page, next, err := list[record.RegistrationItem](ctx, s, sel, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			got = append(got, r.ID)
		}
		sel.Cursor = next
		if next == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	sel.Cursor = task
	if _, _, err := list[record.RegistrationItem](ctx, s, sel, nil); !problem.InvalidCursor.Is(err) {
		t.Errorf("a cursor that is no registration: %v", err)
	}
	got = nil
	err := records.Each(ctx, s, 2, sel.Sources, func(r *record.RegistrationItem) error { got = append(got, r.ID); return nil })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Each: %v, %v", got, err)
	}
}

// list collects the records of a list.
func list[R any, P records.Pointer[R]](ctx context.Context, s store.Store, sel records.Selection,
	keep func(P) bool) (found []P, next string, err error) {
	next, err = records.List(ctx, s, sel, keep, func(r P) (bool, error) {
		found = append(found, r)
		return false, nil
	})
	return found, next, err
}

// TestList_EndsWhenThePageIsFull checks that a full page continues on the next one, and that no call reads more large records than
// needed.
func TestList_EndsWhenThePageIsFull(t *testing.T) {
	s := open(t)
	const size = 200 << 10
	want := fill(t, s, 30, func(_ int, r *testRecord) { r.Text = strings.Repeat("x", size) })
	sel := records.Selection{Sources: []records.Source{records.Partition(1, "A")}, Limit: 20}
	var got []string
	for {
		var used store.Usage
		n := 0
		next, err := records.List(store.WithUsage(t.Context(), &used), s, sel, nil, func(r *testRecord) (bool, error) {
			got = append(got, r.ID)
			n++
			return n == 3, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if read := used.Read.Load(); read*size > 2<<20 {
			t.Errorf("%d items of %d bytes were read for a page of %d", read, size, n)
		}
		sel.Cursor = next
		if next == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
