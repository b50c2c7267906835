package queue_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/storetest"

	"github.com/anishathalye/porcupine"
)

// leaseCall is a call of a worker about the run, under its own or another worker's lease, or a reclaim of the lease.
type leaseCall struct{ kind, lease string }

// leasedRun is the state of the run.
type leasedRun struct {
	state    record.RunState
	lease    string // empty without a lease
	attempts int
}

func (r leasedRun) step(c leaseCall, leased string) (done bool, next leasedRun) {
	switch {
	case c.kind == "lease" && r.state == record.Queued:
		return true, leasedRun{record.Evaluating, leased, r.attempts + 1}
	case c.kind == "reclaim" && r.lease != "" && r.attempts == record.MaxAttempts:
		return true, leasedRun{record.Failed, "", r.attempts}
	case c.kind == "reclaim" && r.lease != "":
		return true, leasedRun{record.Queued, "", r.attempts}
	case c.kind == "lease", c.kind == "reclaim", r.lease == "" || r.lease != c.lease:
		return false, r
	case c.kind == "release":
		return true, leasedRun{record.Queued, "", r.attempts - 1}
	case c.kind == "complete":
		return true, leasedRun{record.Completed, "", r.attempts}
	default:
		return true, r // extended
	}
}

var leaseModel = porcupine.Model{
	Init: func() any { return leasedRun{state: record.Queued} },
	Step: func(state, input, output any) (bool, any) {
		answer := output.(string) // the lease that was given, another effect, or none
		done, next := state.(leasedRun).step(input.(leaseCall), answer)
		return done == (answer != ""), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %q", input, output) },
}

// TestLease_IsLinearizable lets workers lease a run, and extend, release and complete it under their own and other leases, while leases
// are reclaimed. Some sequential order of the calls must explain the answers.
func TestLease_IsLinearizable(t *testing.T) {
	for name, open := range map[string]func(*testing.T) store.Store{
		"embedded": openStore, "DynamoDB": func(t *testing.T) store.Store { return dynamotest.Open(t, dynamotest.Start(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			random := storetest.Random(t)
			s := open(t)
			answered := map[string]int{}
			for range 20 {
				f := fixtureIn(t, s)
				raceLeases(t, f, random, answered)
			}
			for _, must := range []string{"lease true", "lease false", "extend true", "extend false", "release true", "complete true",
				"reclaim true"} {
				if answered[must] == 0 {
					t.Errorf("no %s among %v", must, answered)
				}
			}
		})
	}
}

func raceLeases(t *testing.T, f *fixture, random *rand.Rand, answered map[string]int) {
	t.Helper()
	const workers, calls = 5, 6
	run := f.addCounted().ID
	slow := storetest.SlowWrites(f.Store)
	q, late := f.queue(), f.queueAfter(2*leaseTime)
	q.Store, late.Store = slow, slow
	h := storetest.NewHistory()
	var mu sync.Mutex
	var leases []string // leases that were given
	ask := func(c leaseCall) (answer string, err error) {
		l := queue.LeaseRef{RunID: run, LeaseID: c.lease}
		switch c.kind {
		case "lease":
			var leased *record.RunItem
			leased, err = q.LeaseRun(f.ctx, new(queue.FairOrder), run, record.Lease{Holder: "worker"}, leaseTime)
			if leased == nil {
				return "", err
			}
			mu.Lock()
			defer mu.Unlock()
			leases = append(leases, leased.Lease.ID)
			return leased.Lease.ID, err
		case "extend":
			err = q.Extend(f.ctx, l, leaseTime)
		case "release":
			_, err = q.Release(f.ctx, l)
		case "complete":
			_, err = q.CompleteEvaluation(f.ctx, l, f.outcome(f.truth))
		case "reclaim":
			reclaimed, err := late.ReclaimExpired(f.ctx, run)
			if !reclaimed {
				return "", err
			}
		}
		if errors.Is(err, queue.ErrStaleLease) {
			return "", nil
		}
		return "done", err
	}
	kinds := []string{"lease", "lease", "lease", "extend", "extend", "extend", "release", "release", "reclaim", "complete"}
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for range calls {
				c := leaseCall{kind: kinds[random.IntN(len(kinds))]}
				if !slices.Contains([]string{"lease", "reclaim"}, c.kind) {
					mu.Lock()
					if n := len(leases); n > 0 {
						c.lease = leases[max(0, n-1-random.IntN(2))]
					}
					mu.Unlock()
				}
				h.Call(worker, c, func() (any, bool) {
					answer, err := ask(c)
					if err != nil && !problem.Unavailable.Is(err) { // Unavailable means that nothing changed
						t.Errorf("%+v: %v", c, err)
					}
					mu.Lock()
					defer mu.Unlock()
					answered[fmt.Sprint(c.kind, " ", answer != "")]++
					return answer, err == nil
				})
			}
		})
	}
	all.Wait()
	h.CheckLinearizable(t, leaseModel)
	if a := f.counted(); a > 1 {
		t.Errorf("the quota counts the run %d times", a)
	}
}
