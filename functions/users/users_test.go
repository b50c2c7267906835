package users_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"assay/functions/users"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/records"
)

func TestShowCurrent_HasRolesAndMemberships(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	me := servertest.Get[users.Current](s, "root", "/v1/user")
	if me.ID != recordtest.UserID("root") || len(me.Roles) != 1 || me.Roles[0] != "admin" {
		t.Errorf("%+v", me)
	}
	organizer := s.Records().Organizer("alice")
	me = servertest.Get[users.Current](s, "alice", "/v1/user")
	if len(me.Memberships) != 1 || me.Memberships[0].OrganizerID != organizer.ID {
		t.Errorf("%+v", me)
	}
}

func TestShowCurrent_NamesOrganizersAndTasks(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	b := s.Records()
	named := func(name string) func(*record.TaskItem) { return func(t *record.TaskItem) { t.Name = name } }
	pending := func(r *record.RegistrationItem) { r.State = record.Pending }
	organizer := b.Organizer("alice")
	public, gone := b.Task(named("Open")), b.Task(named("Gone"))
	private := b.Task(named("Invited"), recordtest.Private)
	closed := b.Task(named("Secret"), recordtest.Private)
	want := map[string]string{public.ID: "Open", private.ID: "Invited", closed.ID: "", gone.ID: ""}
	for _, task := range []*recordtest.Task{public, gone, private} {
		task.Register("alice")
	}
	closed.Register("alice", pending)
	b.Commit(new(records.Tx).DeleteKeys(gone.Key()))

	var me users.Current
	a := s.Want(http.StatusOK, &me, "alice", http.MethodGet, "/v1/user", nil)
	if len(me.Memberships) != 1 || me.Memberships[0].OrganizerName != organizer.Name || len(me.Registrations) != len(want) {
		t.Errorf("%+v", me)
	}
	for _, r := range me.Registrations {
		if r.TaskName != want[r.TaskID] {
			t.Errorf("the task is called %q in %+v, want %q", r.TaskName, r, want[r.TaskID])
		}
	}
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, "/v1/user", `{}`, "If-Match", a.Header.Get("ETag"))
}

func TestShow_SaysWhenTheUserChangedAnything(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	alice := "/v1/users/" + recordtest.UserID("alice")
	s.Want(http.StatusNotFound, nil, "root", http.MethodGet, alice, nil)
	for _, changed := range []bool{false, true} {
		if changed {
			s.Records().User("alice")
		}
		var p map[string]any
		a := s.Want(http.StatusOK, &p, "alice", http.MethodGet, alice, nil)
		if _, told := p["createdAt"]; told != changed || p["email"] != "alice@example.org" || (p["version"] != 0.0) != changed {
			t.Errorf("when something was changed is %v: %s", changed, a.Body)
		}
		s.Want(http.StatusNotModified, nil, "alice", http.MethodGet, alice, nil, "If-None-Match", a.Header.Get("ETag"))
	}
	s.Want(http.StatusOK, nil, "root", http.MethodGet, alice, nil)
	s.Want(http.StatusForbidden, nil, "bob", http.MethodGet, alice, nil) // The answer is the same as before alice's profile was stored.
}

// An access token of Cognito has neither name nor e-mail, only the user name of the login.
func TestProfile_KeepsWhatATokenDoesNotSay(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	callers := map[string]access.Caller{
		"access": {Username: "6f1d-alice"}, "identity": {Name: "Alice", Email: "alice@example.org"},
		"renamed": {Name: "Alice B."}, "moved": {Email: "alice@example.com", Username: "6f1d-alice"},
	}
	s.Verify = func(_ context.Context, token string) (access.Caller, error) {
		c := callers[token]
		c.ID = recordtest.UserID("alice")
		return c, nil
	}
	for i, c := range []struct{ token, name, email string }{
		{"access", "6f1d-alice", ""},
		{"identity", "Alice", "alice@example.org"},
		{"access", "Alice", "alice@example.org"},
		{"renamed", "Alice B.", "alice@example.org"},
		{"moved", "Alice B.", "alice@example.com"},
	} {
		var changed users.Current
		s.Want(http.StatusOK, &changed, c.token, http.MethodPatch, "/v1/user", `{}`)
		known := servertest.Get[users.Current](s, "access", "/v1/user")
		stored := servertest.Get[users.Profile](s, "access", "/v1/users/"+changed.ID)
		if changed.Name != c.name || changed.Email != c.email || known.Name != c.name || known.Email != c.email || stored.Name != c.name ||
			stored.Email != c.email {
			t.Errorf("change %d with the token %s: %+v, then %+v and %+v", i, c.token, changed, known, stored)
		}
	}
}

// A token with an unconfirmed address gives no address, and the answer says so. Neither does a profile whose address was never confirmed.
func TestProfile_HasConfirmedAddressesOnly(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	id := recordtest.UserID("alice")
	callers := map[string]access.Caller{
		"access": {ID: id}, "confirmed": {ID: id, Email: "alice@example.org"}, "refused": {ID: id, EmailRefused: true},
	}
	s.Verify = func(_ context.Context, token string) (access.Caller, error) { return callers[token], nil }
	s.Records().Put(&record.User{Meta: record.MetaOf(id, s.Now()), Name: "Alice", Email: "unconfirmed@example.org"})
	for i, c := range []struct{ token, email string }{
		{"access", ""}, {"confirmed", "alice@example.org"}, {"access", "alice@example.org"}, {"refused", ""}, {"access", ""},
	} {
		for _, path := range []string{"/v1/user", "/v1/users/" + id} {
			if shown := servertest.Get[users.Current](s, "access", path).Email; i == 0 && shown != "" {
				t.Errorf("%s shows %q, which nobody confirmed", path, shown)
			}
		}
		var changed users.Current
		s.Want(http.StatusOK, &changed, c.token, http.MethodPatch, "/v1/user", `{}`)
		stored := recordtest.Get[record.User](t, s.Store, record.UserKey(id))
		if changed.Email != c.email || (changed.EmailNotice == "") != (c.email != "") || stored.ConfirmedAddress() != c.email {
			t.Errorf("change %d with the token %s: %+v, stored %+v", i, c.token, changed, stored)
		}
	}
}

func TestListSubmissions_HasThoseThatTheCallerMaySee(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	b := s.Records()
	public, private := b.Task().Dataset(), b.Task(recordtest.Private).Dataset()
	public.Run("alice", recordtest.Public)
	public.Run("alice")
	public.Run("alice", recordtest.Public, recordtest.Anonymous)
	private.Run("alice", recordtest.Public)
	for user, want := range map[string]int{"": 1, "bob": 1, "alice": 4, "root": 4} {
		if got := s.IDs(user, "/v1/users/"+recordtest.UserID("alice")+"/submissions"); len(got) != want {
			t.Errorf("%q sees %d submissions, want %d", user, len(got), want)
		}
	}
	s.Want(http.StatusNoContent, nil, "", http.MethodGet, "/v1/users/"+recordtest.UserID("nobody")+"/submissions", nil)
}

// An empty patch of either kind stores the profile of a user. Reading does not.
func TestUser_BecomesKnownByAPatch(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	const path, jsonPatch = "/v1/user", "application/json-patch+json"
	s.Want(http.StatusUnauthorized, nil, "", http.MethodPatch, path, map[string]any{})
	var me users.Current
	a := s.Want(http.StatusOK, &me, "alice", http.MethodGet, path, nil)
	for _, patch := range []string{`{"name":"Other"}`, `{"known":true}`, `{"memberships":null}`, `{"nickname":"x"}`} {
		s.Want(http.StatusUnprocessableEntity, nil, "alice", http.MethodPatch, path, patch)
	}
	s.Want(http.StatusPreconditionFailed, nil, "alice", http.MethodPatch, path, map[string]any{}, "If-Match", `"0-0"`)
	if me.Known {
		t.Error("a GET or a refused patch made a user known")
	}
	s.Want(http.StatusNoContent, nil, "root", http.MethodGet, "/v1/users", nil)
	changed := s.Want(http.StatusOK, &me, "alice", http.MethodPatch, path, map[string]any{}, "If-Match", a.Header.Get("ETag"))
	if !me.Known {
		t.Errorf("%s", changed.Body)
	}
	s.Want(http.StatusPreconditionFailed, nil, "alice", http.MethodPatch, path, map[string]any{}, "If-Match", a.Header.Get("ETag"))
	if again := s.Want(http.StatusOK, nil, "alice", http.MethodGet, path, nil); again.Header.Get("ETag") != changed.Header.Get("ETag") {
		t.Error("the answer to the patch has another entity tag than the resource")
	}
	s.Want(http.StatusOK, &me, "bob", http.MethodPatch, path, `[]`, "Content-Type", jsonPatch)
	s.Want(http.StatusOK, &me, "bob", http.MethodPatch, path, `[{"op":"test","path":"/known","value":true}]`, "Content-Type", jsonPatch)
	all := servertest.List[users.Profile](s, "root", "/v1/users")
	if len(all) != 2 || all[0].Version != 1 || all[1].Version != 1 {
		t.Errorf("%+v", all)
	}
}

// Users delete their own accounts only with their own id, and only with a token from sign-in.
func TestRemoveCurrent_NeedsTheOwnID(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	mine := "?id=" + recordtest.UserID("alice")
	token := makeToken(s, "alice", draft("read", "submit", "organize"))
	for _, c := range []struct {
		user, query string
		want        int
	}{
		{"alice", "", http.StatusBadRequest},
		{"alice", "?id=", http.StatusBadRequest},
		{"alice", "?id=me", http.StatusBadRequest},
		{"alice", "?id=" + recordtest.UserID("bob"), http.StatusBadRequest},
		{"root", mine, http.StatusBadRequest},
		{token.Secret, mine, http.StatusForbidden},
		{"", mine, http.StatusUnauthorized},
		{"nobody", "?id=" + recordtest.UserID("nobody"), http.StatusNoContent},
	} {
		s.Want(c.want, nil, c.user, http.MethodDelete, "/v1/user"+c.query, nil)
	}
	organizer := s.Records().Organizer("alice")
	a := s.Want(http.StatusConflict, nil, "alice", http.MethodDelete, "/v1/user"+mine, nil)
	if !strings.Contains(string(a.Body), organizer.ID) {
		t.Errorf("the refusal does not say what to do first: %s", a.Body)
	}
	if me := servertest.Get[users.Current](s, "alice", "/v1/user"); !me.Known {
		t.Errorf("a refused request began the deletion: %+v", me)
	}
	s.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, "/v1/user?id="+recordtest.UserID("bob"), nil)
	s.Records().User("carla")
	s.Want(http.StatusNoContent, nil, "carla", http.MethodDelete, "/v1/user?id="+recordtest.UserID("carla"), nil)
	s.Want(http.StatusUnauthorized, nil, "carla", http.MethodGet, "/v1/user", nil)
	u := recordtest.Get[record.User](t, s.Store, record.UserKey(recordtest.UserID("carla")))
	if !u.Deleting() || u.DeletedBy == u.ID {
		t.Errorf("%+v", u)
	}
}
