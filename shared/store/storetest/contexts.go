package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"assay/shared/store"
)

var contexts = map[string]func(table){
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

// testEndsMidway ends contexts while their Writes wait or are applied: nil means written, a conflict means not, the
// context's error means either, and always both items or none.
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

// settled returns whether what one Write creates under both keys is there. A Write that its caller gave up may still be
// under way, and reads of two keys are no snapshot, so half of it may show, but never for long.
func (tb table) settled(a, b store.Key) (bool, error) {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		got, err := tb.Get(tb.t.Context(), store.Strong, a, b)
		if err != nil {
			return false, err
		}
		if got[0].Exists() == got[1].Exists() {
			return got[0].Exists(), nil
		}
		if time.Since(start) > indexLag {
			return false, errors.New("half of a Write is there")
		}
	}
}
