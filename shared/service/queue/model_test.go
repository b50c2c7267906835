package queue_test

import (
	"errors"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// model is the expected state of a run.
type model struct {
	id          string
	state       record.RunState
	attempts    int
	counted     bool
	lease       queue.LeaseRef // the last
	leased      bool
	stale       queue.LeaseRef // the one before
	until       time.Time
	evaluations []int64 // truth versions
	listed      int     // position of the listed evaluation, from 1; 0 for none
	truth       int64
}

func (m *model) queued() { m.state, m.leased = record.Queued, false }

// failed refunds the run, also if it was evaluated before.
func (m *model) failed() {
	m.state = record.Failed
	m.leased = false
	m.counted = false
}

// TestQueue_FollowsTheModel sends random events, under valid and stale leases, to two runs. After each event it compares the store with
// the model.
func TestQueue_FollowsTheModel(t *testing.T) {
	st := openStore(t)
	nightlytest.Check(t, func(rt *rapid.T) {
		f := fixtureIn(rt, st)
		runs := make([]*model, 2)
		for i := range runs {
			runs[i] = &model{id: f.addCounted().ID, state: record.Queued, counted: true}
		}
		pick := func(rt *rapid.T) *model { return runs[rapid.IntRange(0, len(runs)-1).Draw(rt, "run")] }
		// under reports whether the run's last lease is valid, and fails if the event had another result.
		under := func(rt *rapid.T, m *model, err error) bool {
			if m.leased && err == nil || !m.leased && errors.Is(err, queue.ErrStaleLease) {
				return m.leased
			}
			rt.Fatalf("leased is %v, and the answer %v", m.leased, err)
			return false
		}
		rt.Repeat(map[string]func(*rapid.T){
			"lease": func(rt *rapid.T) {
				m := pick(rt)
				r, err := f.queue().LeaseRun(f.ctx, &f.order, m.id, record.Lease{Holder: "worker"}, leaseTime)
				if err != nil || (r != nil) != (m.state == record.Queued) {
					rt.Fatalf("%s run: %v, %v", m.state, r, err)
				}
				if r != nil {
					m.stale = m.lease
					m.state = record.Evaluating
					m.lease = queue.LeaseRefOf(r)
					m.leased = true
					m.until = f.now.Add(leaseTime)
					m.attempts++
				}
			},
			"extend": func(rt *rapid.T) {
				m := pick(rt)
				if under(rt, m, f.queue().Extend(f.ctx, m.lease, leaseTime)) {
					m.until = f.now.Add(leaseTime)
				}
			},
			"act under a stale lease": func(rt *rapid.T) {
				m := pick(rt)
				_, completed := f.queue().CompleteEvaluation(f.ctx, m.stale, f.outcome(f.truth))
				_, failed := f.queue().FailAgainst(f.ctx, m.stale, f.truth, reasons(measure.Error, "x"))
				_, attempted := f.queue().FailAttempt(f.ctx, m.stale, "of chance")
				_, released := f.queue().Release(f.ctx, m.stale)
				for _, err := range []error{completed, failed, attempted, released, f.queue().Extend(f.ctx, m.stale, leaseTime)} {
					if m.stale.RunID != "" && !errors.Is(err, queue.ErrStaleLease) {
						rt.Fatalf("under a stale lease: %v", err)
					}
				}
			},
			"release": func(rt *rapid.T) {
				m := pick(rt)
				if _, err := f.queue().Release(f.ctx, m.lease); under(rt, m, err) {
					m.attempts--
					m.queued()
				}
			},
			"complete": func(rt *rapid.T) {
				m := pick(rt)
				_, err := f.queue().CompleteEvaluation(f.ctx, m.lease, f.outcome(f.truth))
				if !under(rt, m, err) {
					return
				}
				m.state = record.Completed
				m.leased = false
				m.counted = true
				m.truth = f.truth.Number
				m.evaluations = append(m.evaluations, m.truth)
				if !f.truth.Held {
					m.listed = len(m.evaluations)
				}
			},
			"complete against an old truth": func(rt *rapid.T) {
				m := pick(rt)
				old := *f.truth
				old.Version--
				if old.Version == 0 {
					return
				}
				_, err := f.queue().CompleteEvaluation(f.ctx, m.lease, f.outcome(&old))
				if m.leased && !errors.Is(err, queue.ErrTruthChanged) || !m.leased && !errors.Is(err, queue.ErrStaleLease) {
					rt.Fatalf("leased is %v, and the answer %v", m.leased, err)
				}
			},
			"fail": func(rt *rapid.T) {
				m := pick(rt)
				_, err := f.queue().FailAgainst(f.ctx, m.lease, f.truth, reasons(measure.Error, "x"))
				if under(rt, m, err) {
					m.failed()
					m.truth = f.truth.Number
					if !f.truth.Held {
						m.listed = 0
					}
				}
			},
			"fail an attempt": func(rt *rapid.T) {
				m := pick(rt)
				_, err := f.queue().FailAttempt(f.ctx, m.lease, "of chance")
				if under(rt, m, err) {
					m.attemptFailed()
				}
			},
			"reclaim": func(rt *rapid.T) {
				m := pick(rt)
				if _, err := f.queue().ReclaimExpired(f.ctx, m.id); err != nil {
					rt.Fatal(err)
				}
				if m.leased && !m.until.After(f.now) {
					m.attemptFailed()
				}
			},
			"time passes": func(*rapid.T) { f.now = f.now.Add(leaseTime / 2) },
			"cancel": func(rt *rapid.T) {
				m := pick(rt)
				tx := new(records.Tx)
				_, err := f.queue().Cancel(f.ctx, f.run(m.id), tx)
				if m.state.Ended() || len(m.evaluations) > 0 {
					if !problem.Conflict.Is(err) {
						rt.Fatalf("%s run with %d evaluations cancelled: %v", m.state, len(m.evaluations), err)
					}
					return
				}
				if err != nil {
					rt.Fatal(err)
				}
				f.Commit(tx)
				m.state = record.Cancelled
				m.leased = false
				m.counted = false
			},
			"change the truth": func(rt *rapid.T) {
				f.truth.Held = rapid.Bool().Draw(rt, "held")
				f.changeTruth()
			},
			"update the listing": func(rt *rapid.T) {
				m := pick(rt)
				want := m.listed
				if !f.truth.Held {
					want = len(m.evaluations)
					if m.state == record.Failed && m.truth == f.truth.Number {
						want = 0
					}
				}
				changed, err := f.queue().UpdateListing(f.ctx, m.id, f.truth)
				if err != nil || changed != (m.listed != want) {
					rt.Fatalf("of %d evaluations, %d was in lists, and %d is to be: %v, %v", len(m.evaluations), m.listed, want, changed, err)
				}
				m.listed = want
			},
			"reevaluate": func(rt *rapid.T) {
				m := pick(rt)
				changed, err := f.queue().Reevaluate(f.ctx, m.id, f.truth)
				want := (m.state == record.Completed || m.state == record.Failed) && m.truth < f.truth.Number
				if err != nil || changed != want {
					rt.Fatalf("%s run, truth %d of %d: %v, %v", m.state, m.truth, f.truth.Number, changed, err)
				}
				if changed {
					m.queued()
					m.attempts, m.truth = 0, f.truth.Number
				}
			},
			"": func(rt *rapid.T) {
				counted := 0
				for _, m := range runs {
					r := f.run(m.id)
					if r.State != m.state || r.Attempts != m.attempts || r.Counted != m.counted || (r.Lease != nil) != m.leased ||
						len(r.Evaluations) != len(m.evaluations) || r.TruthVersion != m.truth {
						rt.Fatalf("the run is %+v, and should be %+v", r, m)
					}
					for i, id := range r.Evaluations {
						e := evaluationOf(f, id)
						if e == nil || e.Unlisted == (i+1 == m.listed) || (r.ListedID() == id) != (i+1 == m.listed) {
							rt.Fatalf("evaluation %d, of which %d is in lists: %+v", i+1, m.listed, e)
						}
					}
					if (r.FinishedAt != nil) != m.state.Ended() || m.state == record.Failed && len(r.Diagnostics) == 0 {
						rt.Fatalf("%s run finished at %v with %v", r.State, r.FinishedAt, r.Diagnostics)
					}
					if m.counted {
						counted++
					}
				}
				if a := recordtest.Get[record.Allowance](rt, st, f.allowance); a.Total != counted || len(a.Recent) != counted {
					rt.Fatalf("the quota counts %d and %v, and should count %d", a.Total, a.Recent, counted)
				}
			},
		})
	})
}

// attemptFailed queues the run again, or fails it after its last attempt.
func (m *model) attemptFailed() {
	if m.attempts < record.MaxAttempts {
		m.queued()
	} else {
		m.failed()
	}
}
