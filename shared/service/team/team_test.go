package team_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// A user who leaves a team and founds another takes the usage along. The other members do not.
func TestRemember_FollowsWhoLeaves(t *testing.T) {
	k := newTask(t, stores["embedded"](t))
	do := func(kind string, user, of int) {
		t.Helper()
		if got, err := k.do(t.Context(), request{kind, user, of}); !got.done || err != nil {
			t.Fatalf("%s by %d: %+v, %v", kind, user, got, err)
		}
	}
	do("use", 0, 0)
	do("join", 2, 0)
	do("use", 2, 0)
	do("leave", 2, 0)
	do("use", 0, 0)
	do("withdraw", 0, 0)
	for user, want := range []int{3, 0, 2} {
		a := recordtest.Get[record.Allowance](t, k, record.AllowanceKey(k.task.ID, recordtest.UserID(fmt.Sprint(user))))
		if a == nil && want > 0 || a != nil && (a.Total != want || len(a.Recent) != want || a.Submissions != 0) {
			t.Errorf("user %d: %+v, want %d", user, a, want)
		}
	}
	do("join", 2, 1) // which begins with what its new member has used, or a new team would be a way to more
	do("use", 2, 1)
	if a := recordtest.Get[record.Allowance](t, k, record.AllowanceKey(k.task.ID, k.teams[1])); a.Total != 2+1 || len(a.Recent) != 2+1 {
		t.Errorf("%+v", a)
	}
}

// A submission during a change of members counts: the change conflicts and is repeated.
func TestChange_MissesNothingUsedMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(team.Change, *task) error
		meanwhile request
	}{
		{"joins another team", func(c team.Change, k *task) error {
			r := recordtest.Get[record.RegistrationItem](t, k, record.RegistrationKey(k.task.ID, k.teams[1]))
			return c.Join(t.Context(), k.task, r, c.ActorID)
		}, request{"leave", 2, 0}},
		{"leaves", func(c team.Change, k *task) error {
			r := recordtest.Get[record.RegistrationItem](t, k, record.RegistrationKey(k.task.ID, k.teams[0]))
			return c.Leave(t.Context(), r, c.ActorID)
		}, request{"use", 0, 0}},
	} {
		k := newTask(t, stores["embedded"](t))
		for _, r := range []request{{"use", 0, 0}, {"use", 1, 1}, {"join", 2, 0}, {"use", 2, 0}} {
			if got, err := k.do(t.Context(), r); !got.done || err != nil {
				t.Fatalf("%+v: %+v, %v", r, got, err)
			}
		}
		change := team.Change{Store: k, Tx: new(records.Tx), Now: time.Now(), ActorID: recordtest.UserID("2")}
		err := c.change(change, k)
		if got, doErr := k.do(t.Context(), c.meanwhile); err != nil || doErr != nil || !got.done {
			t.Fatalf("%s: %v, %+v, %v", c.name, err, got, doErr)
		}
		if err := change.Tx.Commit(t.Context(), k); !store.IsConflict(err) {
			t.Errorf("%s: %v, want a conflict", c.name, err)
		}
	}
}

// A team is registered already: its members can change after the window for registration, and as long as an exception lets it submit.
func TestJoin_IsOpenWhileTheTeamCanSubmit(t *testing.T) {
	k := newTask(t, stores["embedded"](t))
	past := record.At(time.Now().Add(-time.Hour))
	later := record.At(time.Now().Add(time.Hour))
	k.task.Registration.ClosesAt = &past
	if got, err := k.do(t.Context(), request{"join", 2, 0}); !got.done || err != nil {
		t.Errorf("after the window for registration: %+v, %v", got, err)
	}
	k.task.Submissions.ClosesAt = &past
	if got, err := k.do(t.Context(), request{"join", 3, 0}); got.done || err != nil {
		t.Errorf("after the window for submissions: %+v, %v", got, err)
	}
	a := recordtest.Get[record.Allowance](t, k, record.AllowanceKey(k.task.ID, k.teams[0]))
	a.Exceptions = []record.Exception{{ExceptionDraft: record.ExceptionDraft{ClosesAt: &later}}}
	if err := new(records.Tx).Save(a, time.Now()).Commit(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if got, err := k.do(t.Context(), request{"join", 3, 0}); !got.done || err != nil {
		t.Errorf("with an exception: %+v, %v", got, err)
	}
}

func TestJoin_Refuses(t *testing.T) {
	k := newTask(t, stores["embedded"](t))
	past := record.At(time.Now().Add(-time.Hour))
	full := &record.RegistrationItem{}
	full.Members = slices.Repeat([]string{"x"}, record.MaxTeam)
	often := &record.RegistrationItem{}
	often.FormerIDs = slices.Repeat([]string{"x"}, 4*record.MaxTeam)
	rejected := &record.RegistrationItem{Registration: record.Registration{State: record.Rejected}}
	closed := *k.task
	closed.Submissions.ClosesAt = &past
	for name, c := range map[string]struct {
		task *record.TaskItem
		team *record.RegistrationItem
		kind *problem.Kind
	}{
		"full": {k.task, full, problem.Conflict}, "too many ever": {k.task, often, problem.Conflict},
		"rejected": {k.task, rejected, problem.Conflict}, "closed": {&closed, new(record.RegistrationItem), problem.OutsideWindow},
	} {
		change := team.Change{Store: k, Tx: new(records.Tx), Now: time.Now()}
		if err := change.Join(t.Context(), c.task, c.team, "u"); !c.kind.Is(err) || change.Tx.Len() > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
