package compute_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/edge/compute"
)

// TestRun_OneCallerKeepsNoOtherWaiting fills the shares of two users with computations of each kind. Small computations and checks of
// other users still run at once, and so does a large one for which there is memory.
func TestRun_OneCallerKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := compute.New(2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		work := func(user string, check bool, bytes int64, do func(context.Context) error) compute.Work {
			return compute.Work{Caller: compute.Caller{Name: user, LoggedIn: true}, Check: check,
				Memory: func(context.Context) (int64, error) { return bytes, nil }, Do: do}
		}
		var computes atomic.Int64
		endless := func(ctx context.Context) error {
			computes.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		// Large computations come first, because small ones would take the slots in which large ones are counted.
		for _, bytes := range []int64{150 << 20, 0} {
			for _, user := range []string{"ada", "otto"} {
				for range 10 {
					go func() { _ = all.Run(ctx, work(user, false, bytes, endless)) }() // ends with the test, or is refused
				}
			}
			synctest.Wait()
		}
		if n := computes.Load(); n != 6 {
			t.Errorf("two users have %d computations under way, want two small ones and a large one each", n)
		}
		for name, w := range map[string]compute.Work{
			"a small computation": work("eve", false, compute.SmallBytes, nil), "a check": work("eve", true, 0, nil),
			"a check of one who has computations": work("ada", true, 0, nil),
			"a large one that fits":               work("eve", false, 80<<20, nil), "a large check": work("eve", true, 80<<20, nil),
		} {
			began := time.Now()
			done := false
			w.Do = func(context.Context) error { done = true; return nil }
			if err := all.Run(ctx, w); err != nil || !done || time.Since(began) > 0 {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		}
	})
}

// TestRun_LargeWorkWaitsWithoutASlot makes a computation that needs all memory for large ones wait for another one. It does not hold a
// small slot of its caller meanwhile.
func TestRun_LargeWorkWaitsWithoutASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := compute.New(2)
		var mu sync.Mutex
		var done []string
		run := func(user, name string, bytes int64, takes time.Duration) {
			go func() {
				err := all.Run(t.Context(), compute.Work{Caller: compute.Caller{Name: user, LoggedIn: true},
					Memory: func(context.Context) (int64, error) { return bytes, nil },
					Do: func(context.Context) error {
						time.Sleep(takes)
						mu.Lock()
						defer mu.Unlock()
						done = append(done, name)
						return nil
					}})
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}()
			synctest.Wait()
		}
		run("ada", "first", 200<<20, 5*time.Second)
		run("otto", "second", compute.LargeBytes, 0)
		run("otto", "third", 16<<20, 0)
		for range 4 {
			run("otto", "small", 0, time.Second)
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		want := []string{"small", "small", "small", "small", "first", "second", "third"}
		if !slices.Equal(done, want) {
			t.Errorf("done are %v, want %v", done, want)
		}
	})
}
