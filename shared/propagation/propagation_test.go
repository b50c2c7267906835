package propagation_test

import (
	"context"
	"sync"
	"testing"

	"assay/shared/propagation"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
	"assay/shared/store/embedded"
	"assay/shared/store/storetest"
)

func openStore(t *testing.T) store.Store {
	t.Helper()
	return recordtest.OpenStore(t, embedded.Options{})
}

func TestTask_GivesItsVisibilityToEverythingInIt(t *testing.T) {
	f := newFixture(t, openStore(t))
	for _, v := range []record.Visibility{record.Private, record.Public} {
		f.show(v)
		for pass := 1; pass <= 2; pass++ {
			p := f.nextPass(f.Store)
			f.must(p.Task(t.Context(), f.task.Key()))
			f.checkVisibility()
			work := get(f, f.task.TaskItem).PendingWork
			if pass == 1 && (work == nil || work.State != record.ConfirmingPass || !work.NotBefore.After(p.Now())) || pass == 2 && work != nil {
				t.Fatalf("after pass %d: %+v", pass, work)
			}
		}
	}
	if s := get(f, f.unrelated.Submission); s.Stored() != 1 {
		t.Error("a submission to another task was written")
	}
	if s := get(f, f.runs[0].Submission); s.Stored() == 1 || s.Version != 1 {
		t.Errorf("a submission, in which nothing changed that is shown, was stored %d times and has version %d", s.Stored(), s.Version)
	}
}

// A lagging index lacked a submission in the first pass, and has it some seconds later.
func TestTask_ConfirmingPassFindsWhatWasMissing(t *testing.T) {
	f := newFixture(t, openStore(t))
	f.show(record.Private)
	f.must(f.nextPass(f.Store).Task(t.Context(), f.task.Key()))
	f.submit("ann") // still as in a public task
	f.must(propagator(f.Store).Task(t.Context(), f.task.Key()))
	if work := get(f, f.task.TaskItem).PendingWork; work == nil || len(f.wrongVisibility()) == 0 {
		t.Fatal("a pass that comes before the index can have caught up confirms the first")
	}
	f.must(f.nextPass(f.Store).Task(t.Context(), f.task.Key()))
	f.checkVisibility()
}

func TestRegistration_GivesTeamAndAnonymityToItsSubmissions(t *testing.T) {
	f := newFixture(t, openStore(t))
	f.rename("Grey Heron")
	version := get(f, f.registration).Version
	for pass := 1; pass <= 2; pass++ {
		f.must(f.nextPass(f.Store).Registration(t.Context(), f.registration.Key()))
		f.checkTeams("Grey Heron")
		if r := get(f, f.registration); (r.PendingWork == nil) != (pass == 2) || r.Version != version {
			t.Fatalf("after pass %d: %+v, version %d", pass, r.PendingWork, r.Version)
		}
	}
	if s := get(f, f.unrelated.Submission); s.Team != recordtest.Team("ann") || s.Access.Anonymous {
		t.Errorf("a submission to another task has the team: %+v", s)
	}
}

func TestSubmission_GivesItsAttributesToItsRuns(t *testing.T) {
	f := newFixture(t, openStore(t))
	s := get(f, f.runs[0].Submission)
	s.Access.Public, s.Access.Baseline = false, true
	f.Replace(s)
	f.must(propagator(f.Store).Submission(t.Context(), s.ID))
	for i, r := range f.runs {
		for _, id := range get(f, r.RunItem).Evaluations {
			if e := recordtest.Get[record.EvaluationItem](t, f.Store, record.EvaluationKey(id)); e.Baseline != (i == 0) {
				t.Errorf("evaluation of run %d: baseline %t", i, e.Baseline)
			}
		}
	}
	for _, a := range f.copies() {
		if changed := a.user == s.UserID; a.Public == changed || a.Baseline != changed {
			t.Errorf("%+v", a)
		}
	}
}

// The process dies before a call of the store, or after the call and before its answer.
func TestPropagation_IsResumed(t *testing.T) {
	for name, tt := range map[string]struct {
		change      func(*fixture)
		propagate   func(*fixture, propagation.Propagator, context.Context) error
		pendingWork func(*fixture) *record.PendingWork
		check       func(*fixture)
	}{
		"task": {
			func(f *fixture) { f.show(record.Private) },
			func(f *fixture, p propagation.Propagator, ctx context.Context) error {
				return p.Task(ctx, f.task.Key())
			},
			func(f *fixture) *record.PendingWork { return get(f, f.task.TaskItem).PendingWork },
			(*fixture).checkVisibility,
		},
		"registration": {
			func(f *fixture) { f.rename("Grey Heron") },
			func(f *fixture, p propagation.Propagator, ctx context.Context) error {
				return p.Registration(ctx, f.registration.Key())
			},
			func(f *fixture) *record.PendingWork { return get(f, f.registration).PendingWork },
			func(f *fixture) { f.checkTeams("Grey Heron") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			for _, die := range []func(store.Store, int64, func()) *storetest.Hooked{storetest.BeforeCall, storetest.AfterCall} {
				storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
					f := newFixture(t, s)
					tt.change(f)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					dying := die(s, n, cancel)
					err := tt.propagate(f, f.nextPass(dying), ctx)
					if work := tt.pendingWork(f); work == nil || err == nil && work.State != record.ConfirmingPass {
						t.Fatalf("stopped at call %d: %v, %+v", n, err, work)
					}
					for range 2 {
						f.must(tt.propagate(f, f.nextPass(s), t.Context()))
					}
					tt.check(f)
					if work := tt.pendingWork(f); work != nil {
						t.Fatalf("stopped at call %d: the work does not end: %+v", n, work)
					}
					return dying
				})
			}
		})
	}
}

// During a pass the task changes back, and another process propagates that.
func TestTask_OvertakenPassUndoesNothing(t *testing.T) {
	s := openStore(t)
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newFixture(t, s)
		f.show(record.Private)
		slow := storetest.BeforeCall(s, n, func() {
			f.show(record.Public)
			f.must(propagator(s).Task(t.Context(), f.task.Key()))
		})
		f.must(propagator(slow).Task(t.Context(), f.task.Key()))
		f.checkVisibility()
		// What began before the change has not gone through everything for it.
		if work := get(f, f.task.TaskItem).PendingWork; n > 1 && (work == nil || work.State != record.ConfirmingPass) {
			t.Fatalf("overtaken at call %d: the pass counts: %+v", n, work)
		}
		return slow
	})
}

// The task changes during the confirming pass, and the request that changed it dies.
func TestTask_ChangeDuringConfirmingPassStaysPending(t *testing.T) {
	s := openStore(t)
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newFixture(t, s)
		f.show(record.Private)
		f.must(propagator(s).Task(t.Context(), f.task.Key()))
		confirming := storetest.BeforeCall(s, n, func() { f.show(record.Public) })
		f.must(f.nextPass(confirming).Task(t.Context(), f.task.Key()))
		task := get(f, f.task.TaskItem)
		if work := task.PendingWork; task.Visibility == record.Public && (work == nil || n > 1 && work.State == record.ConfirmingPass) {
			t.Fatalf("changed at call %d: %+v", n, work)
		}
		return confirming
	})
}

func TestTask_PropagatesInSeveralProcessesAtOnce(t *testing.T) {
	f := newFixture(t, openStore(t))
	for _, v := range []record.Visibility{record.Private, record.Public, record.Private} {
		f.show(v)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := propagator(f.Store).Task(t.Context(), f.task.Key()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		f.checkVisibility()
	}
}
