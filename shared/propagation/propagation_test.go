package propagation_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/propagation"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
	"assay/shared/store/storetest"
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
		// What began before the change has not gone through everything for it.
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

// fixture is a public task with two datasets, two registrations, and a public submission under each, whose run was evaluated
// twice.
type fixture struct {
	*recordtest.Builder
	t            *testing.T
	task         *recordtest.Task
	datasets     []*recordtest.Dataset
	registration *record.RegistrationItem // of ann
	runs         []*recordtest.Run        // of ann and bob
	unrelated    *recordtest.Run          // of ann, in another task
	passes       int
}

func newFixture(t *testing.T, s store.Store) *fixture {
	t.Helper()
	f := &fixture{Builder: recordtest.New(t, s), t: t}
	f.Batch(func() {
		f.unrelated = f.Task().Dataset().Run("ann")
		f.task = f.Task()
		f.datasets = []*recordtest.Dataset{f.task.Dataset(), f.task.Dataset()}
		f.registration = f.task.Register("ann")
		f.task.Register("bob")
	})
	f.submit("ann", "bob")
	return f
}

// submit makes a submission of each user, whose run was evaluated twice.
func (f *fixture) submit(users ...string) {
	f.t.Helper()
	f.Batch(func() {
		for _, user := range users {
			r := f.datasets[0].Run(user, recordtest.Public, recordtest.Published)
			superseded := *r.Evaluation
			superseded.Meta, superseded.Unlisted = record.NewMeta(time.Now()), true
			r.Evaluations = slices.Insert(r.Evaluations, 0, superseded.ID)
			f.Put(&superseded)
			f.runs = append(f.runs, r)
		}
	})
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func get[R any, P records.Pointer[R]](f *fixture, r P) P {
	f.t.Helper()
	return recordtest.Get[R, P](f.t, f.Store, r.Key())
}

// lagging returns s as one that lags. Its lists have what is in s already.
func lagging(s store.Store) *storetest.Lagging {
	return &storetest.Lagging{Store: s, Delay: 5 * time.Second, Now: time.Now}
}

// propagator propagates in s.
func propagator(s store.Store) propagation.Propagator {
	return propagation.Propagator{Store: s, Now: time.Now}
}

// nextPass propagates in s, a minute after the pass before, so that it is not too early to confirm that one.
func (f *fixture) nextPass(s store.Store) propagation.Propagator {
	f.passes++
	at := time.Now().Add(time.Duration(f.passes) * time.Minute)
	return propagation.Propagator{Store: s, Now: func() time.Time { return at }}
}

// show gives the task a visibility, as a request does.
func (f *fixture) show(v record.Visibility) {
	f.t.Helper()
	t := get(f, f.task.TaskItem)
	at := time.Now().Add(time.Minute)
	if t.PendingWork != nil && !at.After(t.PendingWork.NotBefore.Time) {
		at = t.PendingWork.NotBefore.Add(time.Millisecond) // a request takes longer than the test
	}
	t.Visibility, t.PendingWork = v, record.NewPendingWork(record.PropagateTask, at)
	f.Replace(t)
}

// rename gives ann's team another name and anonymity, as a request does.
func (f *fixture) rename(name string) {
	f.t.Helper()
	r := get(f, f.registration)
	r.Team = name
	r.Anonymous = true
	r.PendingWork = record.NewPendingWork(record.PropagateRegistration, time.Now().Add(time.Minute))
	f.Replace(r)
}

// attributes are the copies of access attributes that a record has.
type attributes struct {
	kind, user, team string
	record.AccessAttributes
}

// copies returns the access attributes of every submission, run and evaluation of the task.
func (f *fixture) copies() (all []attributes) {
	f.t.Helper()
	for _, run := range f.runs {
		s, r := get(f, run.Submission), get(f, run.RunItem)
		all = append(all,
			attributes{kind: "submission", user: s.UserID, team: s.Team, AccessAttributes: s.Access},
			attributes{kind: "run", user: r.UserID, team: r.Team, AccessAttributes: r.Access})
		for _, id := range r.Evaluations {
			e := recordtest.Get[record.EvaluationItem](f.t, f.Store, record.EvaluationKey(id))
			all = append(all, attributes{kind: "evaluation", user: e.UserID, team: e.Team, AccessAttributes: e.Access})
		}
	}
	return all
}

// checkVisibility fails unless everything in the task is private or public as the task is.
func (f *fixture) checkVisibility() {
	f.t.Helper()
	if wrong := f.wrongVisibility(); len(wrong) > 0 {
		f.t.Fatalf("the task is %s, and these are not: %v", get(f, f.task.TaskItem).Visibility, wrong)
	}
}

func (f *fixture) wrongVisibility() (wrong []string) {
	f.t.Helper()
	private := map[string]bool{}
	for i, a := range f.copies() {
		private[fmt.Sprint(a.kind, " ", i)] = a.PrivateTask
	}
	for _, d := range f.datasets {
		private["dataset "+d.ID] = get(f, d.DatasetItem).PrivateTask
	}
	for _, user := range []string{"ann", "bob"} {
		grant := recordtest.Get[record.Registered](f.t, f.Store, record.RegisteredKey(recordtest.UserID(user), f.task.ID))
		private["grant of "+user] = grant.PrivateTask
	}
	want := get(f, f.task.TaskItem).Visibility == record.Private
	for what, is := range private {
		if is != want {
			wrong = append(wrong, what)
		}
	}
	return wrong
}

// checkTeams fails unless everything of ann's has the team, anonymously, and everything of bob's is as it was.
func (f *fixture) checkTeams(name string) {
	f.t.Helper()
	for _, a := range f.copies() {
		want := attributes{team: recordtest.Team("bob")}
		if a.user == recordtest.UserID("ann") {
			want.team, want.Anonymous = name, true
		}
		if a.team != want.team || a.Anonymous != want.Anonymous {
			f.t.Fatalf("%+v", a)
		}
	}
}
