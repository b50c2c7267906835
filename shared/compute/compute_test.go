package compute

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/problem"
)

// TestPool_SharesAreKept has twenty callers without a login compute at once, of whom one calls from several programs: they have
// half of the slots together, that one a quarter, and users find the other half.
func TestPool_SharesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(8, 4, maxWait)
		refused := make(chan error, 30)
		computing := 0
		ask := func(c Caller) {
			go func() {
				s, err := p.Acquire(t.Context(), c)
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
			ask(Caller{Name: "ada", LoggedIn: true})
		}
		if computing != 8 {
			t.Errorf("users find %d slots, want the other 4", computing-4)
		}
		ask(Caller{Name: "otto", LoggedIn: true})
		ask(Caller{Name: "ada", LoggedIn: true})
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
		// Three of the one address and one of ada wait for their own share; 13 addresses and otto for that of all.
		if kinds[problem.TooManyRequests] != 4 || kinds[problem.Unavailable] != 14 || computing != 8 {
			t.Errorf("%d refused for their own share and %d for that of all, want 4 and 14; %d compute", kinds[problem.TooManyRequests],
				kinds[problem.Unavailable], computing)
		}
	})
}

func TestPool_ForgetsWhoHasLeft(t *testing.T) {
	p := New(4, 2, maxWait)
	user, other := Caller{Name: "ada", LoggedIn: true}, Caller{Name: "192.0.2.1"}
	for _, c := range []Caller{user, other} {
		s, err := p.Acquire(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Memory(t.Context(), MaxBytes); c.LoggedIn != (err == nil) || !c.LoggedIn && !problem.Unauthorized.Is(err) {
			t.Errorf("%+v asks for all memory: %v", c, err)
		}
		s.Release()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Acquire(ctx, user); err == nil {
		t.Error("a request that was given up has a slot")
	}
	if len(p.callers) != 0 || !p.all.TryAcquire(4) || !p.memory.TryAcquire(MaxBytes) || !p.anonymous.TryAcquire(2) ||
		!p.anonymousMemory.TryAcquire(MaxBytes/2) {
		t.Errorf("something is kept: %+v", p.callers)
	}
}
