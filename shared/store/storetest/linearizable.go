package storetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"assay/shared/store"

	"github.com/anishathalye/porcupine"
)

// register is the state of one key: version 0 is absent.
type register struct {
	version int64
	data    string
}

// asked is one call, of one key; op 0 is a read.
type asked struct {
	op      store.Op
	key     string
	version int64
	data    string
}

// answered is what it returned: of a read the register, of a write whether its condition held or that nobody knows.
type answered struct {
	register
	conflict, unknown bool
}

// registers judges a history of calls, each key for itself.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			k := op.Input.(asked).key
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
		was, in, out := state.(register), input.(asked), output.(answered)
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
		case store.OpCheck, store.OpCheckAbsent: // no client asks for these alone
		}
		if !holds {
			return out.conflict || out.unknown, was
		}
		return !out.conflict, next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// testLinearizable records what many clients ask and are answered about a few keys, and looks for an order of the calls
// that explains all answers and in which none comes before one that had ended when it began.
func testLinearizable(tb table) {
	const clients, calls = 6, 50
	begin := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(client))) //nolint:gosec // nothing is secret, and the calls are to be the same each time
			seen := map[string]int64{}                         // the version last read of each key
			for n := range calls {
				in := asked{key: fmt.Sprint(random.IntN(3)), data: fmt.Sprint(client, " ", n)}
				in.op = []store.Op{0, 0, store.OpCreate, store.OpReplace, store.OpReplace, store.OpReplace, store.OpDelete,
					store.OpDeleteIf}[random.IntN(8)]
				in.version = max(1, seen[in.key])
				call := time.Since(begin)
				out := tb.ask(in)
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
	if result := porcupine.CheckOperationsTimeout(registers, history, 20*time.Second); result != porcupine.Ok {
		for _, op := range history {
			tb.t.Logf("%v to %v, client %d: %s", time.Duration(op.Call), time.Duration(op.Return), op.ClientId,
				registers.DescribeOperation(op.Input, op.Output))
		}
		tb.t.Fatalf("the history is not linearizable: %v", result)
	}
}

// ask makes the call.
func (tb table) ask(in asked) answered {
	k := key(in.key)
	if in.op == 0 {
		got, err := tb.Get(tb.t.Context(), store.Strong, k)
		if err != nil {
			tb.t.Errorf("Get: %v", err)
			return answered{}
		}
		return answered{register: register{got[0].Version, string(got[0].Data)}}
	}
	err := tb.Write(tb.t.Context(), store.Write{Op: in.op, Item: store.Item{Key: k, Version: in.version, Data: []byte(in.data)}})
	return answered{conflict: store.IsConflict(err), unknown: err != nil && !store.IsConflict(err)}
}
