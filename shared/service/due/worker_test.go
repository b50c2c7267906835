package due_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/due"
	"assay/shared/storage/store"
	"assay/shared/testing/waittest"
)

// TestRunDue_PayersTakeTurns has one place, and a payer with far more work than others, which was due before.
func TestRunDue_PayersTakeTurns(t *testing.T) {
	f := newFixture(t, byPayer())
	began := time.Now()
	f.add("A", began.Add(-time.Hour), 120)
	f.add("B", began, 3)
	f.add("C", began, 3)
	if err := f.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	payers := f.payers()
	if len(payers) != 126 {
		t.Fatalf("%d works were done", len(payers))
	}
	if got := strings.Join(payers[:9], ""); got != "ABCABCABC" {
		t.Errorf("the payers were served in the order %s", got)
	}
	if next := f.nextDue(); !next.IsZero() {
		t.Errorf("more is due at %v", next)
	}
}

// TestRunDue_ReadsLittleForEachWork has one place and much work, so a pass must not read a page for each work.
func TestRunDue_ReadsLittleForEachWork(t *testing.T) {
	inBothOrders(t, func(t *testing.T, f *fixture) {
		const works = 200
		f.add("A", time.Now(), works)
		counting := &countingStore{Store: f.Store}
		f.Store = counting
		if err := f.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if done, read := len(f.payers()), counting.items.Load(); done != works || read > 5*works {
			t.Errorf("%d works were done, and %d items were read", done, read)
		}
	})
}

// TestRunDue_WorksAfterTheClockWasSetBack stops a pass at an entry that is then due later.
func TestRunDue_WorksAfterTheClockWasSetBack(t *testing.T) {
	inBothOrders(t, func(t *testing.T, f *fixture) {
		f.add("A", time.Now(), 2)
		ctx, stop := context.WithCancel(t.Context())
		f.before = func(string) error {
			stop()
			return ctx.Err()
		}
		if err := f.RunDue(ctx); err == nil {
			t.Fatal("the call was not stopped")
		}
		f.before = nil
		early := f.add("A", time.Now().Add(-2*time.Hour), 1)[0]
		f.ahead.Store(-int64(time.Hour))
		if err := f.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last := f.done[len(f.done)-1]; last != early.Partition {
			t.Errorf("the last work was %s, want %s", last, early.Partition)
		}
	})
}

// TestRunDue_TakesWhatBecomesDueMeanwhile has work that waits for other work, which becomes due later, in a line with two places.
func TestRunDue_TakesWhatBecomesDueMeanwhile(t *testing.T) {
	inBothOrders(t, func(t *testing.T, f *fixture) {
		f.line.Places = 2
		second := make(chan struct{})
		f.before = func(key string) error {
			if strings.HasPrefix(key, "B#") {
				close(second)
				return nil
			}
			f.add("B", time.Now(), 1)
			waittest.Receive(t, "the second work begins", second)
			return nil
		}
		f.add("A", time.Now(), 1)
		if err := f.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRunDue_GoesOnBehindWorkThatFails: it fails only if nothing was done, and tries everything once.
func TestRunDue_GoesOnBehindWorkThatFails(t *testing.T) {
	inBothOrders(t, func(t *testing.T, f *fixture) {
		const failing = 120 // more than a page
		f.before = func(key string) error {
			if strings.HasPrefix(key, "A#") {
				panic("a bug")
			}
			return nil
		}
		f.add("A", time.Now().Add(-time.Hour), failing)
		f.add("B", time.Now(), 1)
		if err := f.RunDue(t.Context()); err != nil {
			t.Errorf("something was done: %v", err)
		}
		if n := len(f.payers()); n != failing+1 || !slices.Contains(f.payers(), "B") {
			t.Errorf("%d works were tried, B's: %v", n, slices.Contains(f.payers(), "B"))
		}
		if err := f.RunDue(t.Context()); err == nil || !strings.Contains(err.Error(), "a bug") {
			t.Errorf("nothing was done: %v", err)
		}
		if n := len(f.payers()); n != 2*failing+1 {
			t.Errorf("after a second call %d works were tried", n)
		}
	})
}

// TestRun_TriesAgain has work fail once, which is done a second later, and meanwhile no more than other work.
func TestRun_TriesAgain(t *testing.T) {
	inBothOrders(t, func(t *testing.T, f *fixture) {
		var tries atomic.Int32
		f.before = func(key string) error {
			if strings.HasPrefix(key, "A#") && tries.Add(1) == 1 {
				return errors.New("not now")
			}
			return nil
		}
		f.start()
		f.add("A", time.Now(), 1)
		f.add("B", time.Now(), 50)
		waittest.Until(t, "everything is done", func() bool { return f.nextDue().IsZero() })
		if n := tries.Load(); n != 2 {
			t.Errorf("the work was tried %d times", n)
		}
	})
}

// TestRun_ReachesWorkBehindSlowFailures has more work that fails slowly than fits into the time for which it rests. Work of the same payer
// that is due later is done too.
func TestRun_ReachesWorkBehindSlowFailures(t *testing.T) {
	for _, line := range []func() *due.Line{byTime, byPayer} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, line())
			done := make(chan struct{})
			last := f.add("A", time.Now(), 1)[0].Partition
			f.before = func(key string) error {
				if key == last {
					close(done)
					return nil
				}
				time.Sleep(2 * time.Second)
				return errors.New("it is down")
			}
			f.add("A", time.Now().Add(-time.Hour), 3)
			f.start()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Errorf("%s: the work behind does not begin", f.line.Name)
			}
		})
	}
}

// TestRun_ReachesWorkBehindWorkWithoutAPlace has more work of a payer wait for a place than one pass reads.
func TestRun_ReachesWorkBehindWorkWithoutAPlace(t *testing.T) {
	f := newFixture(t, byTime())
	f.line.Places = 2
	f.line.Shares = func(_ context.Context, items []store.Item) ([]due.Share, error) {
		shares := make([]due.Share, len(items))
		for i, it := range items {
			payer, _, _ := strings.Cut(it.Key.Partition, "#")
			shares[i].Limits = []due.Limit{{Group: payer, Most: 1}}
		}
		return shares, nil
	}
	f.add("A", time.Now().Add(-time.Hour), 1010)
	f.add("B", time.Now(), 1)
	done := make(chan struct{})
	hold := make(chan struct{})
	f.before = func(key string) error {
		if strings.HasPrefix(key, "A#") {
			<-hold
			return nil
		}
		close(done)
		return nil
	}
	f.start()
	t.Cleanup(func() { close(hold) })
	waittest.Receive(t, "the work of another payer begins", done)
	if got := len(f.payers()); got > 2 {
		t.Errorf("%d works began, of which the limits allow one of each payer", got)
	}
}

// TestRun_DoesWorkOnceItIsDue: a change wakes the line at the instant, and not only when it looks by itself.
func TestRun_DoesWorkOnceItIsDue(t *testing.T) {
	for _, line := range []func() *due.Line{byTime, byPayer} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, line())
			began := make(chan time.Time, 1)
			f.before = func(string) error {
				began <- time.Now()
				return nil
			}
			f.start()
			synctest.Wait()
			at := record.At(time.Now().Add(300 * time.Millisecond)).Time
			f.add("A", at, 1)
			if late := (<-began).Sub(at); late < 0 || late > 100*time.Millisecond {
				t.Errorf("%s: it began %v after it was due", f.line.Name, late)
			}
		})
	}
}

// TestRun_EndsWithItsWork: the process may exit once Run returns.
func TestRun_EndsWithItsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, byTime())
		hold := make(chan struct{})
		f.before = func(string) error {
			<-hold
			return nil
		}
		f.add("A", time.Now(), 1)
		ctx, stop := context.WithCancel(t.Context())
		var returned atomic.Bool
		go func() {
			f.Run(ctx)
			returned.Store(true)
		}()
		synctest.Wait()
		stop()
		synctest.Wait()
		if returned.Load() || len(f.payers()) != 1 {
			t.Errorf("Run returned before the work had ended: %v", f.payers())
		}
		close(hold)
		synctest.Wait()
		if !returned.Load() {
			t.Error("Run does not return")
		}
	})
}

// TestRun_LinesDelayNoOther has the work of one line hang, and the work of another line go on.
func TestRun_LinesDelayNoOther(t *testing.T) {
	f := newFixture(t, byTime())
	hold := make(chan struct{})
	hangs := byPayer()
	hangs.Do = func(context.Context, store.Item) error {
		<-hold
		return nil
	}
	other := f.line
	f.Lines = []*due.Line{hangs, other}
	f.start()
	t.Cleanup(func() { close(hold) })
	f.line = hangs
	f.add("A", time.Now().Add(-time.Hour), 120)
	f.line = other
	f.add("B", time.Now(), 1)
	waittest.Until(t, "the work of the other line is done", func() bool { return len(f.payers()) > 0 })
	if got := f.payers(); !slices.Equal(got, []string{"B"}) {
		t.Errorf("the other line did the work of %v", got)
	}
}

// TestRun_ReadsOnePageOfEachPayer has work that hangs, in a group of which one is done at a time, hide other work of its payer. A pass
// reads one page of each payer, however much is due, and a later pass the next page.
func TestRun_ReadsOnePageOfEachPayer(t *testing.T) {
	f := newFixture(t, &due.Line{Partition: record.DeliveriesPartition, Places: 32, PerPayer: 16})
	f.line.Shares = func(_ context.Context, items []store.Item) ([]due.Share, error) {
		shares := make([]due.Share, len(items))
		for i, it := range items {
			group := "hangs"
			if it.Indexes[record.ByWork-1].Sort > "A#"+record.DueBy(time.Now().Add(-30*time.Minute)) {
				group = "other"
			}
			shares[i].Limits = []due.Limit{{Group: group, Most: 1}}
		}
		return shares, nil
	}
	hanging := map[string]bool{}
	for _, k := range f.add("A", time.Now().Add(-time.Hour), 250) {
		hanging[k.Partition] = true
	}
	f.add("A", time.Now(), 1)
	f.add("B", time.Now(), 1)
	hold := make(chan struct{})
	others := make(chan string, 10)
	f.before = func(key string) error {
		if hanging[key] {
			<-hold
			return nil
		}
		others <- key
		return nil
	}
	counting := &countingStore{Store: f.Store}
	f.Store = counting
	f.start()
	t.Cleanup(func() { close(hold) })
	for i := range 2 {
		payer, _, _ := strings.Cut(waittest.Receive(t, "work of another group begins", others), "#")
		if want := []string{"B", "A"}[i]; payer != want {
			t.Errorf("%s's work began, want %s's", payer, want)
		}
	}
	if read := counting.perPayer.Load(); read > 32+100 { // as many as there are places, and a page
		t.Errorf("a pass read %d items of one payer", read)
	}
}

// TestHandleChange_LeavesWorkThatMayTakeLong: a change waits for work that has a place and is not slow.
func TestHandleChange_LeavesWorkThatMayTakeLong(t *testing.T) {
	f := newFixture(t, byPayer())
	slow := true
	f.line.Shares = func(_ context.Context, items []store.Item) ([]due.Share, error) {
		return slices.Repeat([]due.Share{{Slow: slow}}, len(items)), nil
	}
	handle := func(key store.Key) time.Time {
		t.Helper()
		items, err := f.Store.Get(t.Context(), store.Strong, key)
		if err != nil {
			t.Fatal(err)
		}
		next, err := f.HandleChange(t.Context(), items[0])
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	later := time.Now().Add(time.Hour)
	if next := handle(f.add("A", later, 1)[0]); next.Sub(later).Abs() > time.Second || len(f.payers()) > 0 {
		t.Errorf("work that is not due: next at %v, done %v", next, f.payers())
	}
	keys := f.add("A", time.Now(), 3)
	if next := handle(keys[0]); next.IsZero() || len(f.payers()) > 0 {
		t.Errorf("slow work: next at %v, done %v", next, f.payers())
	}
	slow = false
	if next := handle(keys[0]); !next.IsZero() || len(f.payers()) != 1 {
		t.Errorf("other work: next at %v, done %v", next, f.payers())
	}
	f.before = func(string) error {
		if next := handle(keys[2]); next.IsZero() {
			return fmt.Errorf("another work of the payer was done at the same time")
		}
		return nil
	}
	if next := handle(keys[1]); !next.IsZero() {
		t.Errorf("other work: next at %v", next)
	}
}

// TestHandleChange_TriesFailedWorkAgain: work rests only between passes, and not for the stream, which repeats a change that failed.
func TestHandleChange_TriesFailedWorkAgain(t *testing.T) {
	f := newFixture(t, byTime())
	var once sync.Once
	f.before = func(string) (err error) {
		once.Do(func() { err = errors.New("not now") })
		return err
	}
	items, err := f.Store.Get(t.Context(), store.Strong, f.add("A", time.Now(), 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, wantFailure := range []bool{true, false} {
		if next, err := f.HandleChange(t.Context(), items[0]); err != nil != wantFailure || !next.IsZero() {
			t.Errorf("call %d: next at %v, %v", i, next, err)
		}
	}
}
