package follow_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

// scene is a public task with all that can stand below one.
type scene struct {
	store.Store
	t             *testing.T
	task          *record.TaskItem
	registrations []*record.RegistrationItem // of ada and bob
	datasets      []string
	submissions   []string // each of ada and of bob
	runs          []string // one of each submission
	evaluations   []string // two of each run, the first of them superseded
	elsewhere     string   // ada's submission to another task
	keys          []store.Key
	calls         int // of later
}

// later is some time after what it returned before, so that the next pass is not too early.
func (sc *scene) later() time.Time {
	sc.calls++
	return time.Now().Add(time.Duration(sc.calls) * time.Minute)
}

var team = map[string]string{ada: "Heron", bob: "Otter"}

// organized is how many tasks the organizer has, this one among them.
const organized = 3

// counted is how many tasks the organizer is counted to have.
func (sc *scene) counted() int {
	sc.t.Helper()
	return get[record.TaskCount](sc, record.TaskCountKey(sc.task.OrganizerID)).Tasks
}

const (
	ada = "01JZ3V7Q0D8T5RZ0S6R1W9C4XA"
	bob = "01JZ3V7Q0D8T5RZ0S6R1W9C4XB"
)

func open(t *testing.T) store.Store {
	t.Helper()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table.db"), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newScene(t *testing.T, s store.Store) *scene {
	t.Helper()
	sc := &scene{Store: s, t: t, task: &record.TaskItem{}}
	sc.task.Meta, sc.task.OrganizerID, sc.task.Visibility = meta(), record.NewID(time.Now()), record.Public
	tx := sc.create(new(records.Tx), sc.task)
	for range 2 {
		d := &record.DatasetItem{OrganizerID: sc.task.OrganizerID}
		d.Meta, d.TaskID = meta(), sc.task.ID
		sc.create(tx, d, &record.Truth{Meta: d.Meta, TaskID: sc.task.ID}, record.NewTruthSecret(d.ID, time.Now()))
		sc.datasets = append(sc.datasets, d.ID)
	}
	for _, user := range []string{ada, bob} {
		sc.registrations = append(sc.registrations, sc.register(tx, user, team[user]))
		sc.submissions = append(sc.submissions, sc.submit(tx, user))
	}
	sc.elsewhere = record.NewID(time.Now())
	other := &record.SubmissionItem{Submission: record.Submission{Meta: meta(), TaskID: record.NewID(time.Now()), UserID: ada, Team: "Grebe"}}
	other.ID = sc.elsewhere
	count := &record.TaskCount{Meta: meta(), Tasks: organized}
	count.ID = sc.task.OrganizerID
	tx.Create(count)
	sc.commit(tx.Create(other).Create(record.NewAudit(time.Now(), sc.task.Scope(), bob, "done", "/", nil, nil)))
	return sc
}

func meta() record.Meta { return record.NewMeta(time.Now()) }

// create adds records to tx, and remembers their keys.
func (sc *scene) create(tx *records.Tx, records ...record.Record) *records.Tx {
	for _, r := range records {
		tx.Create(r)
		sc.keys = append(sc.keys, r.Key())
	}
	return tx
}

func (sc *scene) register(tx *records.Tx, user, team string) *record.RegistrationItem {
	r := &record.RegistrationItem{OrganizerID: sc.task.OrganizerID}
	r.Meta, r.TaskID, r.UserID, r.Team, r.State = meta(), sc.task.ID, user, team, record.Accepted
	sc.create(tx, r, &record.Registered{Meta: r.Meta, UserID: user, TaskID: r.TaskID, Team: team, State: r.State},
		&record.Reservation{Meta: meta(), At: record.TeamKey(sc.task.ID, team)})
	return r
}

// submit adds a public submission with a run that was evaluated twice.
func (sc *scene) submit(tx *records.Tx, user string) string {
	standing := record.AccessAttributes{OrganizerID: sc.task.OrganizerID, Public: true, Published: true, Alias: "anonymous-" + user}
	s := &record.SubmissionItem{Access: standing}
	s.Meta, s.TaskID, s.UserID, s.Team, s.Visibility = meta(), sc.task.ID, user, team[user], record.Public
	r := &record.RunItem{Access: standing}
	r.Meta, r.SubmissionID, r.TaskID, r.DatasetID, r.UserID, r.Team, r.State = meta(), s.ID, s.TaskID, sc.datasets[0], user, s.Team, record.Completed
	for i := range 2 {
		e := &record.EvaluationItem{Access: standing, Unlisted: i == 0}
		e.Meta, e.RunID, e.SubmissionID, e.TaskID, e.DatasetID, e.UserID, e.Team = meta(), r.ID, s.ID, s.TaskID, r.DatasetID, user, s.Team
		e.TruthVersion = int64(i + 1)
		r.Evaluations = append(r.Evaluations, e.ID)
		tx.Create(e)
	}
	r.EvaluationID, s.RunIDs = r.Evaluations[1], []string{r.ID}
	tx.Create(s).Create(r)
	sc.runs, sc.evaluations = append(sc.runs, r.ID), append(sc.evaluations, r.Evaluations...)
	return s.ID
}

func (sc *scene) must(err error) {
	sc.t.Helper()
	if err != nil {
		sc.t.Fatal(err)
	}
}

func (sc *scene) commit(tx *records.Tx) {
	sc.t.Helper()
	sc.must(tx.Commit(sc.t.Context(), sc.Store))
}

// get reads a record as it is; nil when there is none.
func get[R any, P records.Pointer[R]](sc *scene, key store.Key) P {
	sc.t.Helper()
	r, err := records.Get[R, P](sc.t.Context(), sc.Store, store.Strong, key)
	sc.must(err)
	return r
}

// show gives the task a visibility, as a request does.
func (sc *scene) show(v record.Visibility) {
	sc.t.Helper()
	t := get[record.TaskItem](sc, sc.task.Key())
	at := time.Now().Add(time.Minute)
	if t.PendingWork != nil && !at.After(t.PendingWork.NotBefore.Time) {
		at = t.PendingWork.NotBefore.Add(time.Millisecond) // a request takes longer than the test
	}
	t.Visibility, t.PendingWork = v, record.NewPendingWork(record.PropagateTask, at)
	sc.commit(new(records.Tx).Replace(t))
}

// rename gives ada's team another name and the alias, as a request does.
func (sc *scene) rename(name string) {
	sc.t.Helper()
	r := get[record.RegistrationItem](sc, sc.registrations[0].Key())
	r.Team, r.Anonymous, r.PendingWork = name, true, record.NewPendingWork(record.PropagateRegistration, time.Now().Add(time.Minute))
	sc.commit(new(records.Tx).Replace(r))
}

// standings is every Standing below the task, with the team beside it and where it was found.
func (sc *scene) standings() (all []found) {
	sc.t.Helper()
	for _, id := range sc.submissions {
		s := get[record.SubmissionItem](sc, record.SubmissionKey(id))
		all = append(all, found{"submission", s.UserID, s.Team, s.Access})
	}
	for _, id := range sc.runs {
		r := get[record.RunItem](sc, record.RunKey(id))
		all = append(all, found{"run", r.UserID, r.Team, r.Access})
	}
	for _, id := range sc.evaluations {
		e := get[record.EvaluationItem](sc, record.EvaluationKey(id))
		all = append(all, found{"evaluation", e.UserID, e.Team, e.Access})
	}
	return all
}

type found struct {
	what, user, team string
	record.AccessAttributes
}

// wrong returns what below the task is not as private as the task is.
func (sc *scene) wrong() (what []string) {
	sc.t.Helper()
	want := get[record.TaskItem](sc, sc.task.Key()).Visibility == record.Private
	for _, f := range sc.standings() {
		if f.PrivateTask != want {
			what = append(what, f.what)
		}
	}
	for _, id := range sc.datasets {
		if get[record.DatasetItem](sc, record.DatasetKey(id)).PrivateTask != want {
			what = append(what, "dataset")
		}
	}
	for _, r := range sc.registrations {
		if get[record.Registered](sc, record.RegisteredKey(r.UserID, sc.task.ID)).PrivateTask != want {
			what = append(what, "grant")
		}
	}
	return what
}

// left returns the keys of the scene at which something stands.
func (sc *scene) left() (keys []store.Key) {
	sc.t.Helper()
	for _, key := range sc.keys {
		items, err := sc.Get(sc.t.Context(), store.Strong, key)
		sc.must(err)
		if items[0].Exists() {
			keys = append(keys, key)
		}
	}
	return keys
}

// interrupted is a store in which something happens before or after its n-th call.
type interrupted struct {
	store.Store
	n             int64
	before, after func()
	calls         atomic.Int64
}

func (i *interrupted) around(call func() error) error {
	n := i.calls.Add(1)
	if n == i.n && i.before != nil {
		i.before()
	}
	err := call()
	if n == i.n && i.after != nil {
		i.after()
	}
	return err
}

func (i *interrupted) Get(ctx context.Context, c store.Consistency, keys ...store.Key) (items []store.Item, err error) {
	err = i.around(func() (err error) { items, err = i.Store.Get(ctx, c, keys...); return err })
	return items, err
}

func (i *interrupted) Query(ctx context.Context, q store.Query) (items []store.Item, err error) {
	err = i.around(func() (err error) { items, err = i.Store.Query(ctx, q); return err })
	return items, err
}

func (i *interrupted) Write(ctx context.Context, w ...store.Write) error {
	return i.around(func() error { return i.Store.Write(ctx, w...) })
}

// everywhere calls try with work that is interrupted by meanwhile at its first call of the store, then at its second, and
// so on, until the work ends before it would be. Try makes a new scene each time.
func everywhere(t *testing.T, try func(sc *scene, n int64) *interrupted) {
	t.Helper()
	s := open(t)
	for n := int64(1); ; n++ {
		if try(newScene(t, s), n).calls.Load() < n {
			if n < 10 {
				t.Fatalf("the work was over after %d calls", n-1)
			}
			return
		}
		if n == 300 {
			t.Fatal("the work costs more than it can with so few things")
		}
	}
}
