package compute

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/language/problem"
)

func user(name string) Caller { return Caller{Name: name, LoggedIn: true} }

// TestPool_SharesAreKept makes twenty addresses without a login compute at once, one of them with several requests. Together they get
// half of the slots, the one address gets a quarter, and users get the other half.
func TestPool_SharesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(Halved(8, 4, maxWait))
		refused := make(chan error, 30)
		computing := 0
		ask := func(c Caller) {
			go func() {
				s, err := p.Acquire(t.Context(), c, Amount{Slots: 1})
				if err != nil {
					refused <- err
					return
				}
				computing++
				<-t.Context().Done()
				s.Release()
			}()
			synctest.Wait()
		}
		for range 5 {
			ask(Caller{Name: "192.0.2.1"})
		}
		if computing != 2 {
			t.Errorf("one address has %d of 8 slots, want 2", computing)
		}
		for i := range 15 {
			ask(Caller{Name: fmt.Sprint("198.51.100.", i)})
		}
		if computing != 4 {
			t.Errorf("callers without a login have %d of 8 slots, want 4", computing)
		}
		for range 4 {
			ask(user("ada"))
		}
		if computing != 8 {
			t.Errorf("users find %d slots, want the other 4", computing-4)
		}
		ask(user("otto"))
		ask(user("ada"))
		time.Sleep(maxWait)
		synctest.Wait()
		kinds := map[*problem.Kind]int{}
		for range len(refused) {
			err := <-refused
			for _, k := range []*problem.Kind{problem.TooManyRequests, problem.Unavailable} {
				if k.Is(err) {
					kinds[k]++
				}
			}
		}
		// Three requests of the one address and one of ada lack their own share. 13 addresses and otto lack a common share.
		if kinds[problem.TooManyRequests] != 4 || kinds[problem.Unavailable] != 14 || computing != 8 {
			t.Errorf("%d refused for their own share and %d for that of all, want 4 and 14; %d compute", kinds[problem.TooManyRequests],
				kinds[problem.Unavailable], computing)
		}
	})
}

// TestPool_CallersTakeTurns makes one user wait for three slots before two others ask for one each. The others are served before the
// user's second request.
func TestPool_CallersTakeTurns(t *testing.T) {
	p := NewPool(Shares{All: Amount{Slots: 1}, User: Amount{Slots: 1}, Wait: maxWait})
	now := p.ask(user("ada"), Amount{Slots: 1})
	var order []*Slot
	for _, name := range []string{"ada", "ada", "ada", "otto", "eve"} {
		order = append(order, p.ask(user(name), Amount{Slots: 1}))
	}
	for _, next := range []int{0, 3, 4, 1, 2} {
		now.Release()
		now = order[next]
		if now.state != taken {
			t.Fatalf("request %d is not served in its turn", next)
		}
	}
}

// TestPool_SetsAsideForTheFirstInTurn keeps sending small requests. A request for all memory is served as soon as the earlier ones have
// ended.
func TestPool_SetsAsideForTheFirstInTurn(t *testing.T) {
	all := Amount{Slots: 4, Bytes: 100}
	p := NewPool(Shares{All: all, User: all, Wait: maxWait})
	first := p.ask(user("ada"), Amount{Slots: 1, Bytes: 60})
	large := p.ask(user("otto"), Amount{Slots: 1, Bytes: 100})
	small := p.ask(user("eve"), Amount{Slots: 1, Bytes: 10})
	if small.state != waiting {
		t.Error("a request behind the first in turn takes what is set aside for it")
	}
	first.Release()
	if large.state != taken || small.state != waiting {
		t.Fatal("the first in turn is not served although all others have ended")
	}
	large.Release()
	if small.state != taken {
		t.Error("what was set aside is lost")
	}
}

func TestPool_ForgetsWhoHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := Amount{Slots: 2, Bytes: 100}
		p := NewPool(Shares{All: most, User: most, Anonymous: Amount{1, 50}, Address: Amount{1, 50}, Wait: maxWait})
		other := Caller{Name: "192.0.2.1"}
		for _, c := range []struct {
			Caller
			bytes int64
			kind  *problem.Kind
		}{{user("ada"), 100, nil}, {user("ada"), 101, problem.TooLarge}, {other, 50, nil}, {other, 51, problem.Unauthorized},
			{other, 101, problem.TooLarge}} {
			s, err := p.Acquire(t.Context(), c.Caller, Amount{1, c.bytes})
			if (err == nil) != (c.kind == nil) || err != nil && !c.kind.Is(err) {
				t.Errorf("%+v: %v", c, err)
			}
			s.Release()
			s.Release()
		}
		ctx, cancel := context.WithCancel(t.Context())
		s, err := p.Acquire(ctx, user("ada"), most)
		if err != nil {
			t.Fatal(err)
		}
		go func() { time.Sleep(time.Second); cancel() }()
		for _, c := range []Caller{user("ada"), other} {
			if _, err := p.Acquire(ctx, c, Amount{1, 1}); err == nil || ctx.Err() == nil {
				t.Errorf("%v: a request that was given up ends with %v", c, err)
			}
		}
		s.Release()
		if len(p.accounts) != 0 || len(p.turns) != 0 || p.all != (Amount{}) || p.anonymous != (Amount{}) {
			t.Errorf("something is kept: %+v", p)
		}
	})
}
