package queue_test

import (
	"errors"
	"testing"
	"time"

	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"

	"pgregory.net/rapid"
)

// model is what a run should be, kept by the plainest rules.
type model struct {
	id          string
	state       record.RunState
	attempts    int
	counted     bool
	hold        queue.LeaseRef // the last that was given
	held        bool
	stale       queue.LeaseRef // one before it
	until       time.Time
	evaluations []int64 // truth versions
	listed      int     // how many of them until the one in lists, 0 for none
	truth       int64
}

func (m *model) queued() { m.state, m.held = record.Queued, false }

// failed is refunded, unless it was evaluated before.
func (m *model) failed() {
	m.state, m.held, m.counted = record.Failed, false, m.counted && len(m.evaluations) > 0
}

// TestRunsGoTheirWayUnderAnyEvents sends random events, with holds that are good and stale, to a few runs, and holds the
// store against the model after each.
func TestRunsGoTheirWayUnderAnyEvents(t *testing.T) {
	st := openStore(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := &scene{t: rt, ctx: t.Context(), store: st}
		s.begin()
		runs := make([]*model, 2)
		for i := range runs {
			runs[i] = &model{id: s.add().ID, state: record.Queued, counted: true}
		}
		pick := func(rt *rapid.T) *model { return runs[rapid.IntRange(0, len(runs)-1).Draw(rt, "run")] }
		// under tells whether an event under the run's last hold went as the model says: refused when the hold is stale.
		under := func(rt *rapid.T, m *model, err error) bool {
			if m.held && err == nil || !m.held && errors.Is(err, queue.ErrStaleLease) {
				return m.held
			}
			rt.Fatalf("held is %v, and the answer %v", m.held, err)
			return false
		}
		rt.Repeat(map[string]func(*rapid.T){
			"lease": func(rt *rapid.T) {
				m := pick(rt)
				r, err := s.queue().LeaseRun(s.ctx, &s.order, m.id, record.Lease{Holder: "worker"}, leaseTime)
				if err != nil || (r != nil) != (m.state == record.Queued) {
					rt.Fatalf("%s run: %v, %v", m.state, r, err)
				}
				if r != nil {
					m.stale = m.hold
					m.state, m.hold, m.held, m.until = record.Evaluating, queue.LeaseRefOf(r), true, s.now.Add(leaseTime)
					m.attempts++
				}
			},
			"extend": func(rt *rapid.T) {
				m := pick(rt)
				if under(rt, m, s.queue().Extend(s.ctx, m.hold, leaseTime)) {
					m.until = s.now.Add(leaseTime)
				}
			},
			"act under an old hold": func(rt *rapid.T) {
				m := pick(rt)
				_, completed := s.queue().CompleteEvaluation(s.ctx, m.stale, s.outcome(s.truth))
				_, failed := s.queue().FailAgainst(s.ctx, m.stale, s.truth, wrong(measure.Error, "x"))
				_, abandoned := s.queue().FailAttempt(s.ctx, m.stale, "of chance")
				_, released := s.queue().Release(s.ctx, m.stale)
				for _, err := range []error{completed, failed, abandoned, released, s.queue().Extend(s.ctx, m.stale, leaseTime)} {
					if m.stale.RunID != "" && !errors.Is(err, queue.ErrStaleLease) {
						rt.Fatalf("under an old hold: %v", err)
					}
				}
			},
			"release": func(rt *rapid.T) {
				m := pick(rt)
				if _, err := s.queue().Release(s.ctx, m.hold); under(rt, m, err) {
					m.attempts--
					m.queued()
				}
			},
			"complete": func(rt *rapid.T) {
				m := pick(rt)
				_, err := s.queue().CompleteEvaluation(s.ctx, m.hold, s.outcome(s.truth))
				if !under(rt, m, err) {
					return
				}
				m.state, m.held, m.counted, m.truth = record.Completed, false, true, s.truth.Number
				m.evaluations = append(m.evaluations, m.truth)
				if !s.truth.Held {
					m.listed = len(m.evaluations)
				}
			},
			"complete against an old truth": func(rt *rapid.T) {
				m := pick(rt)
				old := *s.truth
				old.Version--
				if old.Version == 0 {
					return
				}
				_, err := s.queue().CompleteEvaluation(s.ctx, m.hold, s.outcome(&old))
				if m.held && !errors.Is(err, queue.ErrTruthChanged) || !m.held && !errors.Is(err, queue.ErrStaleLease) {
					rt.Fatalf("held is %v, and the answer %v", m.held, err)
				}
			},
			"fail": func(rt *rapid.T) {
				m := pick(rt)
				_, err := s.queue().FailAgainst(s.ctx, m.hold, s.truth, wrong(measure.Error, "x"))
				if under(rt, m, err) {
					m.failed()
					if m.truth = s.truth.Number; !s.truth.Held {
						m.listed = 0
					}
				}
			},
			"abandon": func(rt *rapid.T) {
				m := pick(rt)
				_, err := s.queue().FailAttempt(s.ctx, m.hold, "of chance")
				if under(rt, m, err) {
					m.lapse()
				}
			},
			"take back": func(rt *rapid.T) {
				m := pick(rt)
				if err := s.queue().ReclaimExpired(s.ctx, m.id); err != nil {
					rt.Fatal(err)
				}
				if m.held && !m.until.After(s.now) {
					m.lapse()
				}
			},
			"time passes": func(*rapid.T) { s.now = s.now.Add(leaseTime / 2) },
			"cancel": func(rt *rapid.T) {
				m := pick(rt)
				tx := new(records.Tx)
				_, err := s.queue().Cancel(s.ctx, s.run(m.id), tx)
				if m.state.Ended() || len(m.evaluations) > 0 {
					if !problem.Conflict.Is(err) {
						rt.Fatalf("%s run with %d evaluations cancelled: %v", m.state, len(m.evaluations), err)
					}
					return
				}
				if err != nil {
					rt.Fatal(err)
				}
				s.commit(tx)
				m.state, m.held, m.counted = record.Cancelled, false, false
			},
			"change the truth": func(rt *rapid.T) {
				s.truth.Held = rapid.Bool().Draw(rt, "held")
				s.change()
			},
			"list what stands": func(rt *rapid.T) {
				m := pick(rt)
				want := m.listed
				if !s.truth.Held {
					if want = len(m.evaluations); m.state == record.Failed && m.truth == s.truth.Number {
						want = 0
					}
				}
				changed, err := s.queue().UpdateListing(s.ctx, m.id, s.truth)
				if err != nil || changed != (m.listed != want) {
					rt.Fatalf("of %d evaluations, %d was in lists, and %d is to be: %v, %v", len(m.evaluations), m.listed, want, changed, err)
				}
				m.listed = want
			},
			"requeue": func(rt *rapid.T) {
				m := pick(rt)
				changed, err := s.queue().Reevaluate(s.ctx, m.id, s.truth)
				want := (m.state == record.Completed || m.state == record.Failed) && m.truth < s.truth.Number
				if err != nil || changed != want {
					rt.Fatalf("%s run, truth %d of %d: %v, %v", m.state, m.truth, s.truth.Number, changed, err)
				}
				if changed {
					m.queued()
					m.attempts, m.truth = 0, s.truth.Number
				}
			},
			"": func(rt *rapid.T) {
				counted := 0
				for _, m := range runs {
					r := s.run(m.id)
					if r.State != m.state || r.Attempts != m.attempts || r.Counted != m.counted || (r.Lease != nil) != m.held ||
						len(r.Evaluations) != len(m.evaluations) || r.TruthVersion != m.truth {
						rt.Fatalf("the run is %+v, and should be %+v", r, m)
					}
					for i, id := range r.Evaluations {
						e, err := records.Get[record.EvaluationItem](s.ctx, st, store.Strong, record.EvaluationKey(id))
						if err != nil || e == nil || e.Unlisted == (i+1 == m.listed) || (r.ListedID() == id) != (i+1 == m.listed) {
							rt.Fatalf("evaluation %d, of which %d is in lists: %+v, %v", i+1, m.listed, e, err)
						}
					}
					if (r.FinishedAt != nil) != m.state.Ended() || m.state == record.Failed && len(r.Diagnostics) == 0 {
						rt.Fatalf("%s run finished at %v with %v", r.State, r.FinishedAt, r.Diagnostics)
					}
					if m.counted {
						counted++
					}
				}
				if a := s.allowance(); a.Total != counted || len(a.Recent) != counted {
					rt.Fatalf("the quota counts %d and %v, and should count %d", a.Total, a.Recent, counted)
				}
			},
		})
	})
}

// lapse is what becomes of a run whose attempt broke off.
func (m *model) lapse() {
	if m.attempts < record.MaxAttempts {
		m.queued()
	} else {
		m.failed()
	}
}
