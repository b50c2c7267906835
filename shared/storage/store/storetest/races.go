package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"assay/shared/storage/store"
)

var races = map[string]func(table){
	"Race/OneCreateWins":     testOneCreateWins,
	"Race/NoLostUpdate":      testNoLostUpdate,
	"Race/NoTornRead":        testNoTornRead,
	"Race/SumIsConserved":    testSumIsConserved,
	"Race/NoWriteSkew":       testNoWriteSkew,
	"Race/PagesDuringWrites": testPagesDuringWrites,
}

// attempts is the greatest number of attempts of a Write that races others.
const attempts = 1000

// testOneCreateWins makes many creations of the same key race. Exactly one may succeed.
func testOneCreateWins(tb table) {
	for round := range 10 {
		var won atomic.Int64
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				it := item(fmt.Sprint(round))
				it.Data = fmt.Append(nil, g)
				switch err := tb.Write(tb.t.Context(), store.CheckAbsent(key("none")), store.Create(it)); {
				case err == nil:
					won.Add(1)
				case !Conflicts(err, 1) || Conflicts(err, 0):
					tb.t.Errorf("creating what exists: %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			tb.t.Fatalf("%d created the same item", won.Load())
		}
	}
}

// testNoLostUpdate increments a counter in an item from many goroutines.
func testNoLostUpdate(tb table) {
	const goroutines, each = 8, 12
	it := item("counter")
	it.Data = []byte("0")
	tb.write(store.Create(it))
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			done := 0
			for try := 0; done < each && try < attempts; try++ {
				got, err := tb.Get(tb.t.Context(), store.Strong, it.Key)
				if err != nil {
					tb.t.Error(err)
					return
				}
				n, _ := strconv.Atoi(string(got[0].Data))
				got[0].Data = fmt.Append(nil, n+1)
				switch err := tb.Write(tb.t.Context(), store.Replace(got[0])); {
				case err == nil:
					done++
				case !store.IsConflict(err):
					tb.t.Error(err)
					return
				}
			}
			if done < each {
				tb.t.Errorf("only %d updates went through in %d attempts", done, attempts)
			}
		})
	}
	wg.Wait()
	it.Version, it.Data = 1+goroutines*each, fmt.Append(nil, goroutines*each)
	tb.wantStored(it)
}

// testNoTornRead reads a large item while it is replaced. Data, entries and version must come from one Write.
func testNoTornRead(tb table) {
	const rounds = 40
	state := func(version int64) store.Item {
		it := listed("a", 1, "L", fmt.Sprint(version))
		it.Version, it.Data = version, bytes.Repeat([]byte{byte(version)}, 64<<10)
		return it
	}
	tb.write(store.Create(state(1)))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	for reader := range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				var got []store.Item
				var err error
				if reader == 0 {
					got, err = tb.Query(tb.t.Context(), store.Query{Index: 1, Partition: "L", Limit: 2})
				} else {
					got, err = tb.Get(tb.t.Context(), store.Consistency(reader == 1), key("a"))
				}
				if err != nil {
					tb.t.Error(err)
					return
				}
				for _, it := range got {
					if it.Exists() {
						if wrong := diff(it, state(it.Version)); wrong != "" {
							tb.t.Errorf("a torn read: %s", wrong)
							return
						}
					}
				}
			}
		})
	}
	for v := int64(1); v < rounds; v++ {
		next := state(v + 1)
		next.Version = v
		tb.write(store.Replace(next))
	}
	tb.wantList(store.Query{Index: 1, Partition: "L"}, state(rounds))
}

// testSumIsConserved moves amounts between accounts. Two reads that a Write of checks confirms come from one state, so their sum must
// equal the initial sum.
func testSumIsConserved(tb table) {
	const accounts, total = 4, 400
	var names []store.Key
	for i := range accounts {
		it := item(fmt.Sprint(i))
		it.Data = fmt.Append(nil, total/accounts)
		tb.write(store.Create(it))
		names = append(names, it.Key)
	}
	amount := func(it store.Item) int {
		n, _ := strconv.Atoi(string(it.Data))
		return n
	}
	var confirmed atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 20 {
				from, to := names[(g+n)%accounts], names[(g+n+1+n%2)%accounts]
				for range attempts {
					got, err := tb.Get(tb.t.Context(), store.Strong, from, to)
					if err != nil {
						tb.t.Error(err)
						return
					}
					got[0].Data = fmt.Append(nil, amount(got[0])-n)
					got[1].Data = fmt.Append(nil, amount(got[1])+n)
					if err = tb.Write(tb.t.Context(), store.Replace(got[0]), store.Replace(got[1])); err == nil {
						break
					} else if !again(err) {
						tb.t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Go(func() {
		for range 200 {
			var checks []store.Write
			got, err := tb.Get(tb.t.Context(), store.Strong, names...)
			if err != nil {
				tb.t.Error(err)
				return
			}
			sum := 0
			for _, it := range got {
				sum, checks = sum+amount(it), append(checks, store.Check(it))
			}
			if err := tb.Write(tb.t.Context(), checks...); err == nil {
				confirmed.Add(1)
				if sum != total {
					tb.t.Errorf("the accounts hold %d, not %d", sum, total)
				}
			} else if !again(err) {
				tb.t.Error(err)
			}
		}
	})
	wg.Wait()
	sum := 0
	for _, it := range tb.list(store.Query{Partition: "P"}) {
		sum += amount(it)
	}
	if sum != total {
		tb.t.Errorf("the accounts hold %d at last, not %d", sum, total)
	}
	tb.t.Logf("%d sums confirmed", confirmed.Load())
}

// testNoWriteSkew lets two members leave at once. Each may leave only while the other stays, and checks that in the Write with which it
// leaves.
func testNoWriteSkew(tb table) {
	for round := range 20 {
		a, b := item(fmt.Sprint(round, "a")), item(fmt.Sprint(round, "b"))
		tb.write(store.Create(a), store.Create(b))
		var left atomic.Int64
		var wg sync.WaitGroup
		for _, pair := range [][2]store.Item{{a, b}, {b, a}} {
			wg.Go(func() {
				w, _ := replaced(pair[0], "left")
				for range attempts {
					err := tb.Write(tb.t.Context(), w, store.Check(pair[1]))
					if err == nil {
						left.Add(1)
						return
					}
					if !errors.Is(err, store.ErrUnavailable) {
						if !store.IsConflict(err) {
							tb.t.Error(err)
						}
						return
					}
				}
			})
		}
		wg.Wait()
		if left.Load() > 1 {
			tb.t.Fatal("both left, although each had checked that the other stays")
		}
	}
}

// testPagesDuringWrites reads a partition in pages while other items are created and deleted between those that stay. Each item that
// stays must appear exactly once.
func testPagesDuringWrites(tb table) {
	var stay []store.Item
	for i := range 40 {
		stay = append(stay, listed(fmt.Sprintf("%02d", i), 1, "L", fmt.Sprintf("%02d", i)))
	}
	for _, it := range stay {
		tb.write(store.Create(it))
	}
	tb.wantList(store.Query{Index: 1, Partition: "L"}, stay...)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := fmt.Sprintf("%02d busy", i%40)
			it := listed(name, 1, "L", name)
			if err := errors.Join(tb.Write(tb.t.Context(), store.Create(it)), tb.Write(tb.t.Context(), store.DeleteIf(it))); err != nil {
				tb.t.Error(err)
				return
			}
		}
	})
	for n := range 60 {
		q := store.Query{Index: store.Index(n % 2), Partition: []string{"P", "L"}[n%2], Limit: 1 + n%7, Descending: n%3 == 0}
		var got []store.Item
		for _, it := range tb.pages(q) {
			if !strings.HasSuffix(it.Sort, "busy") {
				got = append(got, it)
			}
		}
		want := stay
		if q.Descending {
			want = reversed(stay)
		}
		if wrong := Diff(got, want); wrong != "" {
			tb.t.Errorf("pages of %+v: %s", q, wrong)
			break
		}
	}
}
