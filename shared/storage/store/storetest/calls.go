package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/storage/store"
)

var calls = map[string]func(table){
	"Usage/Calls":        testUsage,
	"Context/Ended":      testEnded,
	"Context/EndsMidway": testEndsMidway,
	"Context/WithoutUsage": func(tb table) {
		if err := tb.Write(context.Background(), store.Create(item("a"))); err != nil {
			tb.t.Error(err)
		}
	},
}

func testEnded(tb table) {
	it := item("a")
	tb.write(store.Create(it))
	cancelled, cancel := context.WithCancel(tb.t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(tb.t.Context(), time.Now().Add(-time.Second))
	defer cancelLate()
	for _, c := range []struct {
		ctx  context.Context
		want error
	}{{cancelled, context.Canceled}, {late, context.DeadlineExceeded}} {
		var u store.Usage
		ctx := store.WithUsage(c.ctx, &u)
		w, _ := replaced(it, "changed")
		_, getErr := tb.Get(ctx, store.Strong, it.Key)
		_, queryErr := tb.Query(ctx, store.Query{Partition: "P", Limit: 1})
		for name, err := range map[string]error{
			"Get": getErr, "Query": queryErr, "Write": tb.Write(ctx, w), "Ping": tb.Ping(ctx),
		} {
			if !errors.Is(err, c.want) {
				tb.t.Errorf("%s returned %v, want %v", name, err, c.want)
			}
		}
		if u.Calls.Load() != 0 {
			tb.t.Errorf("calls whose context had ended cost %d calls", u.Calls.Load())
		}
	}
	tb.wantStored(it)
}

// testEndsMidway ends contexts while their Writes wait or are applied. nil means written, a conflict means not written, and the
// context's error means either. In every case both items are written or none.
func testEndsMidway(tb table) {
	var ended, applied atomic.Int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 25 {
				a := listed(fmt.Sprintf("%d-%d-a", g, n), 1, "L", "x")
				b := listed(fmt.Sprintf("%d-%d-b", g, n), 1, "L", "x")
				ctx, cancel := context.WithTimeout(tb.t.Context(), time.Duration(n)*40*time.Microsecond)
				err := tb.Write(ctx, store.Create(a), store.Create(b))
				cancel()
				there, wrong := tb.settled(a.Key, b.Key)
				if wrong != nil {
					tb.t.Errorf("%v; the Write returned %v", wrong, err)
					return
				}
				switch {
				case err == nil:
					applied.Add(1)
					if !there {
						tb.t.Error("a Write returned nil and is not there")
					}
				case errors.Is(err, context.DeadlineExceeded):
					ended.Add(1)
				default:
					tb.t.Errorf("a Write whose context ended returned %v", err)
				}
			}
		})
	}
	wg.Wait()
	tb.t.Logf("%d applied, %d ended", applied.Load(), ended.Load())
}

// partialTime is how long part of an interrupted Write can be visible before the rest. Every Write is faster.
const partialTime = 3 * time.Minute

// settled returns whether the items that one Write creates under both keys exist. A Write whose caller gave up may still be in
// progress. Reads of two keys are no snapshot, so they may see a part of the Write, but not for long.
func (tb table) settled(a, b store.Key) (bool, error) {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		got, err := tb.Get(tb.t.Context(), store.Strong, a, b)
		if err != nil {
			return false, err
		}
		if got[0].Exists() == got[1].Exists() {
			return got[0].Exists(), nil
		}
		if time.Since(start) > partialTime {
			return false, errors.New("a part of a Write is there")
		}
	}
}

func testUsage(tb table) {
	items := tb.fill(1, "L", sorts)
	tb.wantList(store.Query{Index: 1, Partition: "L"}, items...)
	a := listed("a", 1, "A", "x")
	a.Indexes[1] = a.Indexes[0]
	moved := a
	moved.Indexes[2], moved.Indexes[0] = moved.Indexes[0], store.Key{}
	plain := item("b")
	page := func(q store.Query) func(context.Context) error {
		return func(ctx context.Context) error { _, err := tb.Query(ctx, q); return err }
	}
	get := func(keys ...store.Key) func(context.Context) error {
		return func(ctx context.Context) error { _, err := tb.Get(ctx, store.Strong, keys...); return err }
	}
	write := func(writes ...store.Write) func(context.Context) error {
		return func(ctx context.Context) error { return tb.Write(ctx, writes...) }
	}
	for _, step := range []struct {
		name        string
		call        func(context.Context) error
		calls, read int64
	}{
		{"Get of one", get(items[0].Key), 1, 1},
		{"Get of four, one twice, one missing", get(items[0].Key, items[1].Key, items[0].Key, key("none")), 1, 4},
		{"Get of none", get(), 0, 0},
		{"Query of a page", page(store.Query{Index: 1, Partition: "L", Limit: 7}), 1, 7},
		{"Query of more than there is", page(store.Query{Index: 1, Partition: "L", Limit: 700}), 1, int64(len(items))},
		{"Query of nothing", page(store.Query{Index: 1, Partition: "none", Limit: 7}), 1, 0},
		{"Write of nothing", write(), 0, 0},
		{"Create with two entries, and without", write(store.Create(a), store.Create(plain)), 1, 0},
		{"Create that conflicts", write(store.Create(a)), 1, 0},
		{"Replace with two entries, a check", write(store.Replace(moved), store.Check(plain), store.CheckAbsent(key("none"))), 1, 0},
		{"Delete", write(store.Delete(a.Key), store.DeleteIf(plain)), 1, 0},
		{"Invalid Get", get(store.Key{}), 0, 0},
		{"Invalid Query", page(store.Query{}), 0, 0},
		{"Invalid Write", write(store.Write{}), 0, 0},
		{"Ping", tb.Ping, 0, 0},
	} {
		calls, read := tb.counted(func(ctx context.Context) { _ = step.call(ctx) })
		if calls != step.calls || read != step.read {
			tb.t.Errorf("%s cost %d calls, %d read; want %d, %d", step.name, calls, read, step.calls, step.read)
		}
	}
	for _, it := range items[:5] {
		it.Expires = past()
		tb.write(store.Replace(it))
	}
	tb.wantList(store.Query{Index: 1, Partition: "L"}, items[5:]...)
	_, read := tb.counted(func(ctx context.Context) { _ = page(store.Query{Index: 1, Partition: "L", Limit: 3})(ctx) })
	if read > 3+5 {
		tb.t.Errorf("a page of 3 behind 5 that expired read %d items", read)
	}
}

// Budget fills an empty store with n items in one partition of an index. It checks that a page of 51 costs one call and 51 items at the
// beginning, in the middle and at the end. So the cost of a page does not depend on the number of items.
func Budget(t *testing.T, s store.Store, n int) {
	t.Helper()
	tb := table{t, s}
	const limit = 51
	var items []store.Item
	for start := 0; start < n; start += store.MaxWrites {
		var writes []store.Write
		for i := start; i < min(n, start+store.MaxWrites); i++ {
			it := listed(fmt.Sprintf("%08d", i), 1, "L", fmt.Sprintf("%08d", i))
			items, writes = append(items, it), append(writes, store.Create(it))
		}
		tb.write(writes...)
	}
	for _, descending := range []bool{false, true} {
		order := items
		if descending {
			order = reversed(items)
		}
		for _, from := range []int{0, 1, n / 2, n - limit - 1, n - limit, n - 7} {
			q := store.Query{Index: 1, Partition: "L", Descending: descending, Limit: limit}
			if from > 0 {
				q.After = &order[from-1]
			}
			want := order[from:min(n, from+limit)]
			tb.wantList(q, want...)
			calls, read := tb.counted(func(ctx context.Context) { _, _ = tb.Query(ctx, q) })
			if calls != 1 || read != int64(len(want)) {
				t.Errorf("a page of %d of %d, descending=%v, after %d cost %d calls, %d read", limit, n, descending, from, calls, read)
			}
		}
	}
}
