package propagation_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/propagation"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"
)

func TestTask_GivesItsVisibilityToEverythingInIt(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}))
	for _, v := range []record.Visibility{record.Private, record.Public} {
		f.show(v)
		f.must(propagator(f.Store).Task(t.Context(), f.task.Key()))
		f.checkVisibility()
		if work := get(f, f.task.TaskItem).PendingWork; work != nil {
			t.Fatalf("in a store that does not lag, %+v is left", work)
		}
	}
	if s := get(f, f.unrelated.Submission); s.Stored() != 1 {
		t.Error("a submission to another task was written")
	}
	if s := get(f, f.runs[0].Submission); s.Stored() == 1 || s.Version != 1 {
		t.Errorf("a submission, in which nothing changed that is shown, was stored %d times and has version %d", s.Stored(), s.Version)
	}
}

// The lists lack a submission, whose team did not know yet that the task is private, until the lag of the store has passed.
func TestTask_ConfirmingPassFindsWhatListsLacked(t *testing.T) {
	now := time.Now()
	s := lagging(recordtest.OpenStore(t, embedded.Options{}))
	s.Now = func() time.Time { return now }
	p := propagation.Propagator{Store: s, Now: s.Now}
	f := newFixture(t, s)
	now = now.Add(s.Lag())
	f.submit("ann")
	f.show(record.Private)
	for range 2 { // the other pass comes too early to confirm anything
		f.must(p.Task(t.Context(), f.task.Key()))
		if work := get(f, f.task.TaskItem).PendingWork; work == nil || !work.NotBefore.Equal(record.At(now.Add(s.Lag())).Time) {
			t.Fatalf("the pending work is %+v, and should be a pass after the lag", work)
		}
	}
	if len(f.wrongVisibility()) == 0 {
		t.Fatal("the lists have everything, so that nothing is tested")
	}
	now = now.Add(s.Lag())
	f.must(p.Task(t.Context(), f.task.Key()))
	f.checkVisibility()
	if work := get(f, f.task.TaskItem).PendingWork; work != nil {
		t.Fatalf("after the confirming pass, %+v is left", work)
	}
}

// A submission is published while the task becomes private, and so moves from a list that has not been read to one that has.
func TestTask_FindsWhatMovesBetweenLists(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}))
	publish := func(public bool) {
		s := get(f, f.runs[0].Submission)
		s.Access.Public = public
		f.Replace(s)
	}
	publish(false)
	f.show(record.Private)
	_, unread := record.List(record.KindTask, f.task.ID, record.KindSubmission, access.Owners)
	moved := false
	moving := &storetest.Hooked{Store: f.Store, Before: func(c storetest.Call) error {
		if c.Query != nil && c.Query.Partition == unread && !moved {
			moved = true
			publish(true)
		}
		return nil
	}}
	f.must(propagator(moving).Task(t.Context(), f.task.Key()))
	f.checkVisibility()
	if work := get(f, f.task.TaskItem).PendingWork; !moved || work != nil {
		t.Fatalf("moved: %t; %+v is left", moved, work)
	}
}

func TestRegistration_GivesTeamAndAnonymityToItsSubmissions(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}))
	f.rename("Grey Heron")
	version := get(f, f.registration).Version
	f.must(propagator(f.Store).Registration(t.Context(), f.registration.Key()))
	f.checkTeams("Grey Heron")
	if r := get(f, f.registration); r.PendingWork != nil || r.Version != version {
		t.Fatalf("%+v is left, version %d", r.PendingWork, r.Version)
	}
	if s := get(f, f.unrelated.Submission); s.Team != recordtest.Team("ann") || s.Access.Anonymous {
		t.Errorf("a submission to another task has the team: %+v", s)
	}
}

func TestSubmission_GivesItsAttributesToItsRuns(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}))
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
			filled := recordtest.OpenStore(t, embedded.Options{})
			s := lagging(filled)
			for _, die := range []func(store.Store, int64, func()) *storetest.Hooked{storetest.BeforeCall, storetest.AfterCall} {
				storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
					f := newFixture(t, filled)
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
	filled := recordtest.OpenStore(t, embedded.Options{})
	s := lagging(filled)
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newFixture(t, filled)
		f.show(record.Private)
		slow := storetest.BeforeCall(s, n, func() {
			f.show(record.Public)
			f.must(propagator(s).Task(t.Context(), f.task.Key()))
		})
		f.must(propagator(slow).Task(t.Context(), f.task.Key()))
		f.checkVisibility()
		// A pass that began before the change may have missed records.
		if work := get(f, f.task.TaskItem).PendingWork; n > 1 && (work == nil || work.State != record.ConfirmingPass) {
			t.Fatalf("overtaken at call %d: the pass counts: %+v", n, work)
		}
		return slow
	})
}

// The task changes during the confirming pass, and the request that changed it dies.
func TestTask_ChangeDuringConfirmingPassStaysPending(t *testing.T) {
	filled := recordtest.OpenStore(t, embedded.Options{})
	s := lagging(filled)
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newFixture(t, filled)
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

// The task changes during a pass, in the same millisecond as before, so that the pending work of both changes has equal members.
func TestTask_ChangeInTheSameMillisecondIsPropagated(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newFixture(t, s)
		f.show(record.Private)
		slow := storetest.BeforeCall(s, n, func() { f.show(record.Public) })
		f.must(propagator(slow).Task(t.Context(), f.task.Key()))
		f.must(propagator(s).Task(t.Context(), f.task.Key()))
		f.checkVisibility()
		return slow
	})
}

func TestTask_PropagatesInSeveralProcessesAtOnce(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}))
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
