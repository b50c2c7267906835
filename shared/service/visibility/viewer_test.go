package visibility_test

import (
	"errors"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// privateTask makes a private task that reg is registered for.
func privateTask(s *servertest.Server) *recordtest.Task {
	task := s.Records().Task(recordtest.Private)
	task.Register("reg")
	return task
}

func caller(name string) access.Caller {
	if name == "" {
		return access.Caller{}
	}
	return access.Caller{ID: recordtest.UserID(name), Admin: name == "root"}
}

func TestGet_HiddenIsAnsweredAsMissing(t *testing.T) {
	s := servertest.New(t)
	task := privateTask(s)
	for name, want := range map[string]access.Role{
		"": 0, "unrelated": 0,
		"reg": access.Anyone | access.User | access.Registrant, recordtest.OrganizerUser: access.Anyone | access.User | access.Organizer |
			access.OrganizerOwner,
		"root": access.Anyone | access.User | access.Admin,
	} {
		get := func(id string) (*record.TaskItem, access.Role, int64, error) {
			var cost store.Usage
			v := &visibility.Viewer{Store: s.Store, Caller: caller(name)}
			found, roles, err := visibility.Get[record.TaskItem](store.WithUsage(t.Context(), &cost), v, id, record.TaskKey)
			return found, roles, cost.Calls.Load(), err
		}
		found, roles, reads, err := get(task.ID)
		if seen := want != 0; roles != want || seen != (err == nil) || seen != (found != nil) || !seen && !errors.Is(err, visibility.Missing) {
			t.Errorf("as %q: %v, %v, %v; want the roles %v", name, found, roles, err, want)
		}
		if _, _, none, err := get(record.NewID(s.Now())); !errors.Is(err, visibility.Missing) || none != reads {
			t.Errorf("as %q: %d reads for what is there, %d for what is not (%v)", name, reads, none, err)
		}
		if _, _, _, err := get("no id"); !errors.Is(err, visibility.Missing) {
			t.Errorf("as %q: %v", name, err)
		}
	}
}

func TestViewer_ReadsGrantsOnce(t *testing.T) {
	s := servertest.New(t)
	task := privateTask(s)
	var cost store.Usage
	ctx := store.WithUsage(t.Context(), &cost)
	v := &visibility.Viewer{Store: s.Store, Caller: caller("reg"), Consistency: store.Strong}
	sees := func(want bool, reads int64) {
		t.Helper()
		got, err := v.Sees(ctx, task.Scope())
		if err != nil || got != want || cost.Calls.Load() != reads {
			t.Errorf("sees the task: %v after %d reads, %v; want %v after %d", got, cost.Calls.Load(), err, want, reads)
		}
	}
	sees(true, 1)
	if err := new(records.Tx).DeleteKeys(record.RegisteredKey(v.Caller.ID, task.ID)).Commit(t.Context(), s.Store); err != nil {
		t.Fatal(err)
	}
	sees(true, 1)
	v.Forget()
	sees(false, 2)
}

// A caller whose token lacks a scope for a change learns the scope, not that the change is for organizers, which the caller may be.
func TestRequire_NamesTheScopeThatATokenLacks(t *testing.T) {
	s := servertest.New(t)
	task := privateTask(s)
	c := caller(recordtest.OrganizerUser)
	c.Token = &access.Token{Scopes: access.ScopeRead}
	v := &visibility.Viewer{Store: s.Store, Caller: c.Changing()}
	err := v.Require(t.Context(), access.Owner|access.Organizer, task.Scope())
	want := "insufficient-scope: The scopes of this access token (read) do not allow this. " +
		"It takes a login, or an access token with the scope organize."
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
