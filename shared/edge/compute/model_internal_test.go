package compute

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// poolModel records the requests to a Pool, to check the Pool against its contract.
type poolModel struct {
	pool   *Pool
	shares Shares
	slots  []*Slot // requests that were neither released nor given up
	// passed counts, for each waiting request, the requests of each other caller that were served while it was in turn.
	passed map[*Slot]map[Caller]int
}

// TestPool_AgreesWithItsContract requests, gives up and releases slots at random.
func TestPool_AgreesWithItsContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shares := Shares{All: Amount{4, 100}, Anonymous: Amount{2, 50}, User: Amount{2, 100}, Address: Amount{1, 50}}
		m := &poolModel{pool: NewPool(shares), shares: shares, passed: map[*Slot]map[Caller]int{}}
		// one calls do with one of the slots, if there are any.
		one := func(t *rapid.T, of []*Slot, do func(*Slot)) {
			if len(of) > 0 {
				s := rapid.SampledFrom(of).Draw(t, "slot")
				m.change(t, func() { do(s) })
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				c := Caller{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), LoggedIn: rapid.Bool().Draw(t, "login")}
				n := Amount{1, rapid.Int64Range(0, shares.of(c).Bytes).Draw(t, "bytes")}
				m.change(t, func() { m.slots = append(m.slots, m.pool.ask(c, n)) })
			},
			"release": func(t *rapid.T) { one(t, m.inState(taken), (*Slot).Release) },
			"give up": func(t *rapid.T) { one(t, m.inState(waiting), func(s *Slot) { m.pool.giveUp(s) }) },
			"":        m.check,
		})
		for len(m.slots) > 0 { // releasing slots serves every waiting request
			held := m.inState(taken)
			if len(held) == 0 {
				t.Fatalf("%d requests wait although nothing is taken", len(m.slots))
			}
			m.change(t, held[0].Release)
			m.check(t)
		}
		if len(m.pool.accounts)+len(m.pool.turns) > 0 {
			t.Fatal("accounts are kept")
		}
	})
}

// inState returns the slots in the state.
func (m *poolModel) inState(st slotState) []*Slot {
	return slices.DeleteFunc(slices.Clone(m.slots), func(s *Slot) bool { return s.state != st })
}

// inTurn reports whether the request is its caller's first one, waits, and fits into the caller's own share.
func (m *poolModel) inTurn(s *Slot) bool {
	return s.state == waiting && s.account.queue[0] == s && m.pool.lacks(s.account, s.amount) != ofCaller
}

// change calls do, and counts the served requests for each request in turn. Users may pass callers without a login.
func (m *poolModel) change(t *rapid.T, do func()) {
	had := m.inState(taken)
	kept := slices.DeleteFunc(m.inState(waiting), func(s *Slot) bool { return !m.inTurn(s) })
	do()
	served := slices.DeleteFunc(m.inState(taken), func(s *Slot) bool { return slices.Contains(had, s) })
	m.slots = slices.DeleteFunc(m.slots, func(s *Slot) bool { return s.state == released })
	for _, s := range m.inState(waiting) {
		if !slices.Contains(kept, s) || !m.inTurn(s) {
			m.passed[s] = map[Caller]int{}
			continue
		}
		for _, other := range served {
			c := other.account.caller
			if s.account.caller.LoggedIn || !c.LoggedIn {
				m.passed[s][c]++
			}
			if m.passed[s][c] > 1 {
				t.Fatalf("two requests of %v pass one of %v", c, s.account.caller)
			}
		}
	}
}

// check compares the slots that callers hold with the shares.
func (m *poolModel) check(t *rapid.T) {
	var all, anonymous Amount
	by := map[Caller]Amount{}
	for _, s := range m.slots {
		if s.state == taken {
			c := s.account.caller
			all, by[c] = all.plus(s.amount), by[c].plus(s.amount)
			if !c.LoggedIn {
				anonymous = anonymous.plus(s.amount)
			}
		}
	}
	if all != m.pool.all || anonymous != m.pool.anonymous || !all.within(m.shares.All) || !anonymous.within(m.shares.Anonymous) {
		t.Fatalf("%v is taken, %v by callers without a login; the pool counts %v and %v", all, anonymous, m.pool.all, m.pool.anonymous)
	}
	for c, n := range by {
		if !n.within(m.shares.of(c)) {
			t.Fatalf("%v has %v", c, n)
		}
	}
	if len(m.pool.turns) > 0 { // the first in turn waits only if there is no room for it
		first := m.pool.turns[0]
		if m.pool.lacks(first, first.queue[0].amount) == noShortage {
			t.Fatalf("the first in turn waits for %v, for which there is room", first.queue[0].amount)
		}
	}
}
