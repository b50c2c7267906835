package follow_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"assay/shared/follow"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

func TestWhatStandsBelowATaskTakesItsVisibility(t *testing.T) {
	sc := newScene(t, open(t))
	for _, v := range []record.Visibility{record.Private, record.Public} {
		sc.show(v)
		for pass := 1; pass <= 2; pass++ {
			now := sc.later()
			sc.must(follow.Task(t.Context(), sc, now, sc.task.Key()))
			if wrong := sc.wrong(); len(wrong) > 0 {
				t.Fatalf("the task is %s, and other are: %v", v, wrong)
			}
			f := get[record.TaskItem](sc, sc.task.Key()).PendingWork
			if pass == 1 && (f == nil || f.State != record.ConfirmingPass || !f.NotBefore.After(now)) || pass == 2 && f != nil {
				t.Fatalf("after pass %d: %+v", pass, f)
			}
		}
	}
	if s := get[record.SubmissionItem](sc, record.SubmissionKey(sc.elsewhere)); s.Stored() != 1 {
		t.Error("what is in another task was written")
	}
	if s := get[record.SubmissionItem](sc, record.SubmissionKey(sc.submissions[0])); s.Stored() == 1 || s.Version != 1 {
		t.Errorf("a submission, in which nothing changed that is shown, was stored %d times and has version %d", s.Stored(), s.Version)
	}
}

// What a lagging index lacked in the first pass is found in the second.
func TestTheSecondPassFindsWhatWasMissing(t *testing.T) {
	sc := newScene(t, open(t))
	sc.show(record.Private)
	sc.must(follow.Task(t.Context(), sc, sc.later(), sc.task.Key()))
	tx := new(records.Tx)
	sc.submissions = append(sc.submissions, sc.submit(tx, ada)) // made while the task was public, seen only now
	sc.commit(tx)
	sc.must(follow.Task(t.Context(), sc, time.Now(), sc.task.Key()))
	if f := get[record.TaskItem](sc, sc.task.Key()).PendingWork; f == nil || len(sc.wrong()) == 0 {
		t.Fatal("a pass that comes before the index can have caught up counts as the second")
	}
	sc.must(follow.Task(t.Context(), sc, sc.later(), sc.task.Key()))
	if wrong := sc.wrong(); len(wrong) > 0 {
		t.Fatal(wrong)
	}
}

func TestWhatWasSubmittedTakesTeamAndAlias(t *testing.T) {
	sc := newScene(t, open(t))
	sc.rename("Grey Heron")
	version := get[record.RegistrationItem](sc, sc.registrations[0].Key()).Version
	for pass := 1; pass <= 2; pass++ {
		sc.must(follow.Registration(t.Context(), sc, sc.later(), sc.registrations[0].Key()))
		sc.checkTeams("Grey Heron")
		if r := get[record.RegistrationItem](sc, sc.registrations[0].Key()); (r.PendingWork == nil) != (pass == 2) || r.Version != version {
			t.Fatalf("after pass %d: %+v, version %d", pass, r.PendingWork, r.Version)
		}
	}
	if s := get[record.SubmissionItem](sc, record.SubmissionKey(sc.elsewhere)); s.Team != "Grebe" || s.Access.Anonymous {
		t.Errorf("what is in another task follows too: %+v", s)
	}
}

// checkTeams holds that ada's team has the name, under an alias, and bob's is as it was.
func (sc *scene) checkTeams(name string) {
	sc.t.Helper()
	for _, f := range sc.standings() {
		if f.user == ada && (f.team != name || !f.Anonymous) || f.user == bob && (f.team != team[bob] || f.Anonymous) {
			sc.t.Fatalf("%+v", f)
		}
	}
}

func TestRunsTakeWhatTheirSubmissionSays(t *testing.T) {
	sc := newScene(t, open(t))
	s := get[record.SubmissionItem](sc, record.SubmissionKey(sc.submissions[0]))
	s.Access.Public, s.Access.Baseline = false, true
	sc.commit(new(records.Tx).Replace(s))
	sc.must(follow.Submission(t.Context(), sc, time.Now(), s.ID))
	for _, f := range sc.standings() {
		if f.Public != (f.user == bob) || f.Baseline != (f.user == ada) {
			t.Errorf("%+v", f)
		}
	}
	for i, id := range sc.evaluations {
		if e := get[record.EvaluationItem](sc, record.EvaluationKey(id)); e.Baseline != (i < 2) {
			t.Errorf("evaluation %d: baseline %t", i, e.Baseline)
		}
	}
}

// The process dies before some call of the store, or after it has been made but before its answer came. Nobody forgets the
// work, and whoever takes it up brings it to its end.
func TestWorkThatStopsAnywhereIsTakenUpAgain(t *testing.T) {
	for name, work := range map[string]struct {
		begin  func(*scene)
		do     func(ctx context.Context, sc *scene, s store.Store) error
		follow func(*scene) *record.PendingWork
		check  func(*scene)
	}{
		"task": {
			func(sc *scene) { sc.show(record.Private) },
			func(ctx context.Context, sc *scene, s store.Store) error {
				return follow.Task(ctx, s, sc.later(), sc.task.Key())
			},
			func(sc *scene) *record.PendingWork { return get[record.TaskItem](sc, sc.task.Key()).PendingWork },
			func(sc *scene) {
				if wrong := sc.wrong(); len(wrong) > 0 {
					t.Fatal(wrong)
				}
			},
		},
		"registration": {
			func(sc *scene) { sc.rename("Grey Heron") },
			func(ctx context.Context, sc *scene, s store.Store) error {
				return follow.Registration(ctx, s, sc.later(), sc.registrations[0].Key())
			},
			func(sc *scene) *record.PendingWork {
				return get[record.RegistrationItem](sc, sc.registrations[0].Key()).PendingWork
			},
			func(sc *scene) { sc.checkTeams("Grey Heron") },
		},
	} {
		for _, answered := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				everywhere(t, func(sc *scene, n int64) *interrupted {
					work.begin(sc)
					ctx, die := context.WithCancel(t.Context())
					s := &interrupted{Store: sc.Store, n: n, before: die}
					if answered {
						s.before, s.after = nil, die
					}
					err := work.do(ctx, sc, s)
					if f := work.follow(sc); f == nil || err == nil && f.State != record.ConfirmingPass {
						t.Fatalf("stopped at call %d: %v, %+v", n, err, f)
					}
					for range 2 {
						sc.must(work.do(t.Context(), sc, sc.Store))
					}
					work.check(sc)
					if f := work.follow(sc); f != nil {
						t.Fatalf("stopped at call %d: it does not come to its end: %+v", n, f)
					}
					return s
				})
			})
		}
	}
}

// While one is at it, at whatever point, the task changes back, and another one brings everything after it.
func TestOvertakenWorkUndoesNothing(t *testing.T) {
	everywhere(t, func(sc *scene, n int64) *interrupted {
		sc.show(record.Private)
		slow := &interrupted{Store: sc.Store, n: n, before: func() {
			sc.show(record.Public)
			sc.must(follow.Task(t.Context(), sc.Store, time.Now(), sc.task.Key()))
		}}
		sc.must(follow.Task(t.Context(), slow, time.Now(), sc.task.Key()))
		if wrong := sc.wrong(); len(wrong) > 0 {
			t.Fatalf("overtaken at call %d: the task is public, and private are %v", n, wrong)
		}
		// What began before the change has not gone through everything for it.
		if f := get[record.TaskItem](sc, sc.task.Key()).PendingWork; n > 1 && (f == nil || f.State != record.ConfirmingPass) {
			t.Fatalf("overtaken at call %d: the pass counts: %+v", n, f)
		}
		return slow
	})
}

// The task changes during what would be the last pass, and the request that changed it dies.
func TestAChangeDuringTheLastPassIsFollowed(t *testing.T) {
	everywhere(t, func(sc *scene, n int64) *interrupted {
		sc.show(record.Private)
		sc.must(follow.Task(t.Context(), sc.Store, time.Now(), sc.task.Key()))
		last := &interrupted{Store: sc.Store, n: n, before: func() { sc.show(record.Public) }}
		sc.must(follow.Task(t.Context(), last, sc.later(), sc.task.Key()))
		task := get[record.TaskItem](sc, sc.task.Key())
		if f := task.PendingWork; task.Visibility == record.Public && (f == nil || n > 1 && f.State == record.ConfirmingPass) {
			t.Fatalf("changed at call %d: %+v", n, f)
		}
		return last
	})
}

func TestSeveralCanBeAtIt(t *testing.T) {
	sc := newScene(t, open(t))
	for _, v := range []record.Visibility{record.Private, record.Public, record.Private} {
		sc.show(v)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := follow.Task(t.Context(), sc.Store, time.Now(), sc.task.Key()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if wrong := sc.wrong(); len(wrong) > 0 {
			t.Fatalf("the task is %s, and other are: %v", v, wrong)
		}
	}
}
