package storetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"assay/shared/storage/store"
	"assay/shared/testing/nightlytest"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

// model is the table of the contract in its simplest form. It has no expired items.
type model map[store.Key]store.Item

// write applies the writes and returns the positions whose condition does not hold.
func (m model) write(writes []store.Write) []int {
	var failed []int
	for i, w := range writes {
		version := m[w.Item.Key].Version
		holds := true
		switch w.Op {
		case store.OpCreate, store.OpCheckAbsent:
			holds = version == 0
		case store.OpReplace, store.OpDeleteIf, store.OpCheck:
			holds = version == w.Item.Version
		case store.OpDelete: // has no condition
		}
		if !holds {
			failed = append(failed, i)
		}
	}
	if failed != nil {
		return failed
	}
	for _, w := range writes {
		it := w.Item
		switch w.Op {
		case store.OpCreate:
			it.Version = 1
			m[it.Key] = it
		case store.OpReplace:
			it.Version++
			m[it.Key] = it
		case store.OpDelete, store.OpDeleteIf:
			delete(m, it.Key)
		case store.OpCheck, store.OpCheckAbsent: // change nothing
		}
		if now := m[it.Key]; !now.Expires.IsZero() && now.Expires.Before(time.Now()) {
			delete(m, it.Key)
		}
	}
	return nil
}

// list returns the items of a Query of the whole partition, in no order.
func (m model) list(i store.Index, partition string) []store.Item {
	var items []store.Item
	for _, it := range m {
		if it.Entry(i).Partition == partition {
			items = append(items, it)
		}
	}
	return entries(i, items)
}

// stateMachine is a store and its model, in separate partitions.
type stateMachine struct {
	tb     table
	prefix string
	model  model
}

var stateMachines atomic.Int64

// testModel applies random calls to the store and to the model, and compares them.
func testModel(tb table) {
	nightlytest.Check(tb.t, func(t *rapid.T) {
		m := &stateMachine{tb, fmt.Sprintf("%d ", stateMachines.Add(1)), model{}}
		t.Repeat(map[string]func(*rapid.T){"write": m.write, "get": m.get, "query": m.query})
	})
}

func (m *stateMachine) partition(t *rapid.T, names ...string) string {
	return m.prefix + rapid.SampledFrom(names).Draw(t, "partition")
}

func (m *stateMachine) key(t *rapid.T) store.Key {
	return store.Key{Partition: m.partition(t, "P", "Q"), Sort: rapid.SampledFrom([]string{"a", "aa", "b", "é"}).Draw(t, "sort")}
}

// entry draws an index entry from a few, so that entries are often equal.
func (m *stateMachine) entry(t *rapid.T) store.Key {
	if rapid.Bool().Draw(t, "sparse") {
		return store.Key{}
	}
	return store.Key{Partition: m.partition(t, "L", "M"), Sort: rapid.SampledFrom([]string{"1", "2", "22"}).Draw(t, "entry")}
}

func (m *stateMachine) write(t *rapid.T) {
	var writes []store.Write
	for _, k := range rapid.SliceOfNDistinct(rapid.Custom(m.key), 1, 4, rapid.ID).Draw(t, "keys") {
		it := store.Item{Key: k, Version: m.model[k].Version, Data: rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "data")}
		if it.Version == 0 || rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
			it.Version++
		}
		it.Indexes[0], it.Indexes[store.NumIndexes-1] = m.entry(t), m.entry(t)
		switch rapid.IntRange(0, 9).Draw(t, "expires") {
		case 0:
			it.Expires = past()
		case 1:
			it.Expires = future()
		}
		op := rapid.SampledFrom([]store.Op{store.OpCreate, store.OpCreate, store.OpReplace, store.OpReplace, store.OpDelete, store.OpDeleteIf,
			store.OpCheck, store.OpCheckAbsent}).Draw(t, "operation")
		writes = append(writes, store.Write{Op: op, Item: it})
	}
	want := m.model.write(writes)
	err := m.tb.Write(t.Context(), writes...)
	var failed []int
	conflict, ok := errors.AsType[*store.ConflictError](err)
	if ok {
		failed = slices.Sorted(slices.Values(conflict.Failed))
	}
	if ok != (err != nil) || !slices.Equal(failed, want) {
		t.Fatalf("Write(%s) returned %v, want conflicts at %v", describe(writes), err, want)
	}
}

func (m *stateMachine) get(t *rapid.T) {
	names := rapid.SliceOfN(rapid.Custom(m.key), 1, 5).Draw(t, "keys")
	got, err := m.tb.Get(t.Context(), store.Strong, names...)
	if err != nil {
		t.Fatal(err)
	}
	var want []store.Item
	for _, k := range names {
		it := m.model[k]
		it.Key = k
		want = append(want, it)
	}
	if wrong := Diff(got, want); wrong != "" {
		t.Fatal(wrong)
	}
}

// query reads a whole partition, which must have the model's items in the order of their entries. Then it reads a part with bounds,
// After and a limit.
func (m *stateMachine) query(t *rapid.T) {
	q := store.Query{Index: rapid.SampledFrom(testedIndexes).Draw(t, "index"), Descending: rapid.Bool().Draw(t, "descending"), Limit: 100,
		Consistency: store.Strong}
	q.Partition = m.partition(t, "L", "M")
	if q.Index == store.Table {
		q.Partition = m.partition(t, "P", "Q")
	}
	var whole []store.Item
	m.tb.eventually(func() string {
		whole = m.list(t, q)
		return Diff(sorted(whole), sorted(m.model.list(q.Index, q.Partition)))
	})
	for i := 1; i < len(whole); i++ {
		if a, b := whole[i-1].Entry(q.Index).Sort, whole[i].Entry(q.Index).Sort; q.Descending && a < b || !q.Descending && a > b {
			t.Fatalf("Query(%+v): %q stands before %q", q, a, b)
		}
	}

	bounds := []string{"", "1", "2", "22", "3", "a", "aa", "b", "é"}
	q.From = rapid.SampledFrom(bounds).Draw(t, "from")
	q.To = rapid.SampledFrom(bounds).Draw(t, "to")
	if q.To != "" && q.To < q.From {
		q.From, q.To = q.To, q.From
	}
	q.Limit = rapid.IntRange(1, 9).Draw(t, "limit")
	part := whole
	if len(whole) > 0 && rapid.Bool().Draw(t, "continues") {
		n := rapid.IntRange(0, len(whole)-1).Draw(t, "after")
		q.After, part = &whole[n], whole[n+1:]
	}
	want := within(q, part)
	if wrong := Diff(m.list(t, q), want[:min(q.Limit, len(want))]); wrong != "" {
		t.Fatalf("Query(%+v): %s", q, wrong)
	}
}

func (m *stateMachine) list(t *rapid.T, q store.Query) []store.Item {
	items, err := m.tb.Query(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// register is the state of one key. Version 0 means absent.
type register struct {
	version int64
	data    string
}

// callInput is a call for one key. op 0 is a read.
type callInput struct {
	op      store.Op
	key     string
	version int64
	data    string
}

// callOutput is the result of a call: the register for a read; for a write, whether it conflicted or its result is unknown.
type callOutput struct {
	register
	conflict, unknown bool
}

// registers is the model of a history of calls, partitioned by key.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			k := op.Input.(callInput).key
			byKey[k] = append(byKey[k], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		was := state.(register)
		in := input.(callInput)
		out := output.(callOutput)
		if in.op == 0 {
			return out.register == was, was
		}
		holds, next := was.version == in.version, was
		switch in.op {
		case store.OpCreate:
			holds, next = was.version == 0, register{1, in.data}
		case store.OpReplace:
			next = register{in.version + 1, in.data}
		case store.OpDelete:
			holds, next = true, register{}
		case store.OpDeleteIf:
			next = register{}
		case store.OpCheck, store.OpCheckAbsent: // no client sends only these
		}
		if !holds {
			return out.conflict || out.unknown, was
		}
		return !out.conflict, next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// testLinearizable records the concurrent calls of many clients on a few keys, and checks that the history is linearizable.
func testLinearizable(tb table) {
	const clients, calls = 6, 50
	begin := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(client))) //nolint:gosec // not secret; the calls must be the same each time
			seen := map[string]int64{}                         // by key: the version that was read last
			for n := range calls {
				in := callInput{key: fmt.Sprint(random.IntN(3)), data: fmt.Sprint(client, " ", n)}
				in.op = []store.Op{0, 0, store.OpCreate, store.OpReplace, store.OpReplace, store.OpReplace, store.OpDelete,
					store.OpDeleteIf}[random.IntN(8)]
				in.version = max(1, seen[in.key])
				call := time.Since(begin)
				out := tb.call(in)
				end := int64(time.Since(begin))
				if out.unknown {
					end = math.MaxInt64 // it may take effect at any time, or never
				}
				switch {
				case in.op == 0:
					seen[in.key] = out.version
				case in.op == store.OpReplace && !out.conflict:
					seen[in.key] = in.version + 1
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(call), Output: out, Return: end})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if result := porcupine.CheckOperationsTimeout(registers, history, checkTime); result != porcupine.Ok {
		for _, op := range history {
			tb.t.Logf("%v to %v, client %d: %s", time.Duration(op.Call), time.Duration(op.Return), op.ClientId,
				registers.DescribeOperation(op.Input, op.Output))
		}
		tb.t.Fatalf("the history is not linearizable: %v", result)
	}
}

// call makes the call.
func (tb table) call(in callInput) callOutput {
	k := key(in.key)
	if in.op == 0 {
		got, err := tb.Get(tb.t.Context(), store.Strong, k)
		if err != nil {
			tb.t.Errorf("Get: %v", err)
			return callOutput{}
		}
		return callOutput{register: register{got[0].Version, string(got[0].Data)}}
	}
	err := tb.Write(tb.t.Context(), store.Write{Op: in.op, Item: store.Item{Key: k, Version: in.version, Data: []byte(in.data)}})
	return callOutput{conflict: store.IsConflict(err), unknown: err != nil && !store.IsConflict(err)}
}
