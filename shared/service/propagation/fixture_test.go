package propagation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
)

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
	if t.PendingWork != nil {
		at = t.PendingWork.NotBefore.Time // two requests within one millisecond
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

// checkTeams fails unless all records of ann have the team, anonymously, and all records of bob are unchanged.
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
