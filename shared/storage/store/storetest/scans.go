package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/shared/storage/store"
)

var scans = map[string]func(table, store.Scanner){
	"Scan/Empty":            func(tb table, s store.Scanner) { tb.wantScan(s, 10, nil) },
	"Scan/Pages":            testScanPages,
	"Scan/PagesOfBytes":     testScanBytes,
	"Scan/LeavesOutExpired": testScanExpired,
	"Scan/AfterDeleted":     testScanAfterDeleted,
	"Scan/Calls":            testScanCalls,
}

// scan reads the whole table in pages, calls between after each page, and returns the items in the order of their keys.
func (tb table) scan(s store.Scanner, limit int, between func(last store.Key)) (all []store.Item) {
	tb.t.Helper()
	for after := (store.Key{}); ; {
		items, last, err := s.Scan(tb.t.Context(), after, limit)
		if err != nil || len(items) > limit {
			tb.t.Fatalf("Scan(%v, %d): %d items, %v", after, limit, len(items), err)
		}
		all = append(all, items...)
		if last.IsZero() {
			break
		}
		between(last)
		after = last
	}
	slices.SortFunc(all, func(a, b store.Item) int {
		return cmp.Or(strings.Compare(a.Partition, b.Partition), strings.Compare(a.Sort, b.Sort))
	})
	return all
}

func (tb table) wantScan(s store.Scanner, limit int, want []store.Item) {
	tb.t.Helper()
	if wrong := Diff(tb.scan(s, limit, func(store.Key) {}), want); wrong != "" {
		tb.t.Fatalf("pages of %d: %s", limit, wrong)
	}
}

// scanned creates items of several partitions, some with index entries and some replaced, and returns them in the order of their keys.
func (tb table) scanned() (all []store.Item) {
	for p := range 5 {
		for n := range 7 {
			it := listed(fmt.Sprintf("%d", n), store.Index(1+p), "L", "x")
			it.Partition = fmt.Sprintf("P%d", p)
			tb.write(store.Create(it))
			if n%3 == 0 {
				var w store.Write
				w, it = replaced(it, "again")
				tb.write(w)
			}
			all = append(all, it)
		}
	}
	return all
}

func testScanPages(tb table, s store.Scanner) {
	want := tb.scanned()
	for _, limit := range []int{1, 2, 7, len(want), 1000} {
		tb.wantScan(s, limit, want)
	}
}

func testScanBytes(tb table, s store.Scanner) {
	var want []store.Item
	for n := range 9 {
		it := store.Item{Key: key(fmt.Sprint(n)), Version: 1, Data: make([]byte, 300<<10)}
		tb.write(store.Create(it))
		want = append(want, it)
	}
	items, last, err := s.Scan(tb.t.Context(), store.Key{}, 1000)
	if err != nil || len(items) < 3 || len(items) > 5 || last.IsZero() {
		tb.t.Errorf("the first page has %d items of 300 KiB, and ends with %v: %v", len(items), last, err)
	}
	tb.wantScan(s, 1000, want)
}

func testScanExpired(tb table, s store.Scanner) {
	want := tb.scanned()
	for n := range 20 {
		it := item(fmt.Sprintf("old %02d", n))
		it.Expires = past()
		tb.write(store.Create(it))
	}
	later := item("later")
	later.Expires = future()
	tb.write(store.Create(later))
	tb.wantScan(s, 3, append([]store.Item{later}, want...))
}

// testScanAfterDeleted deletes the last item of each page before it reads the next page.
func testScanAfterDeleted(tb table, s store.Scanner) {
	want := tb.scanned()
	got := tb.scan(s, 4, func(last store.Key) { tb.write(store.Delete(last)) })
	if wrong := Diff(got, want); wrong != "" {
		tb.t.Fatal(wrong)
	}
}

func testScanCalls(tb table, s store.Scanner) {
	tb.scanned()
	calls, read := tb.counted(func(ctx context.Context) {
		if _, _, err := s.Scan(ctx, store.Key{}, 5); err != nil {
			tb.t.Error(err)
		}
	})
	if calls != 1 || read != 5 {
		tb.t.Errorf("a page of 5 cost %d calls and %d items", calls, read)
	}
	ended, cancel := context.WithCancel(tb.t.Context())
	cancel()
	if _, _, err := s.Scan(ended, store.Key{}, 1); !errors.Is(err, context.Canceled) {
		tb.t.Errorf("with a context that has ended: %v", err)
	}
	for _, after := range []store.Key{{Partition: "P"}, {Sort: "s"}, {Partition: "P\x00", Sort: "s"}} {
		if _, _, err := s.Scan(tb.t.Context(), after, 1); !errors.Is(err, store.ErrInvalid) {
			tb.t.Errorf("after %q: %v", after, err)
		}
	}
	if _, _, err := s.Scan(tb.t.Context(), store.Key{}, 0); !errors.Is(err, store.ErrInvalid) {
		tb.t.Errorf("with the limit 0: %v", err)
	}
}
