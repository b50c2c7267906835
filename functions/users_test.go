package functions_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/users"
	"assay/shared/access"
	"assay/shared/api/servertest"
	"assay/shared/record"
)

func TestCurrentUser_HasRolesAndMemberships(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	var me users.Current
	s.Want(http.StatusOK, &me, "root", http.MethodGet, "/v1/user", nil)
	if me.ID != servertest.UserID("root") || len(me.Roles) != 1 || me.Roles[0] != "admin" {
		t.Errorf("%+v", me)
	}
	s.Want(http.StatusNoContent, nil, "root", http.MethodGet, "/v1/users", nil) // looking made nobody
	lab := s.Create("alice", "/v1/organizers", map[string]any{"name": "Lab"})
	s.Want(http.StatusOK, &me, "alice", http.MethodGet, "/v1/user", nil)
	if len(me.Memberships) != 1 || !strings.HasSuffix(lab, me.Memberships[0].OrganizerID) {
		t.Errorf("%+v", me)
	}
	var all struct{ Data []record.User }
	s.Want(http.StatusOK, &all, "root", http.MethodGet, "/v1/users", nil)
	if len(all.Data) != 1 || all.Data[0].Email != "alice@example.org" {
		t.Errorf("%+v", all.Data)
	}
}

func TestUser_IsShownToItselfAndAdministrators(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	alice := "/v1/users/" + servertest.UserID("alice")
	for user, status := range map[string]int{"": http.StatusUnauthorized, "bob": http.StatusForbidden, "alice": http.StatusOK, "root": http.StatusNotFound} {
		s.Want(status, nil, user, http.MethodGet, alice, nil)
	}
	for _, changed := range []bool{false, true} {
		var p map[string]any
		a := s.Want(http.StatusOK, &p, "alice", http.MethodGet, alice, nil)
		if _, told := p["createdAt"]; told != changed || p["email"] != "alice@example.org" || (p["version"] != 0.0) != changed {
			t.Errorf("when something was changed is %v: %s", changed, a.Body)
		}
		s.Want(http.StatusNotModified, nil, "alice", http.MethodGet, alice, nil, "If-None-Match", a.Header.Get("ETag"))
		if !changed {
			s.Create("alice", "/v1/organizers", map[string]any{"name": "Lab"})
		}
	}
	s.Want(http.StatusOK, nil, "root", http.MethodGet, alice, nil)
	s.Want(http.StatusForbidden, nil, "bob", http.MethodGet, alice, nil)
	s.Want(http.StatusUnauthorized, nil, "", http.MethodGet, "/v1/users", nil)
	s.Want(http.StatusForbidden, nil, "alice", http.MethodGet, "/v1/users", nil)
}

// An access token of Cognito has neither name nor e-mail, only the name to log in with.
func TestProfile_KeepsWhatATokenDoesNotSay(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	callers := map[string]access.Caller{
		"access": {Username: "6f1d-alice"}, "identity": {Name: "Alice", Email: "alice@example.org"},
		"renamed": {Name: "Alice B."}, "moved": {Email: "alice@example.com", Username: "6f1d-alice"},
	}
	s.Verify = func(_ context.Context, token string) (access.Caller, error) {
		c := callers[token]
		c.ID = servertest.UserID("alice")
		return c, nil
	}
	for i, c := range []struct{ token, name, email string }{
		{"access", "6f1d-alice", ""},
		{"identity", "Alice", "alice@example.org"},
		{"access", "Alice", "alice@example.org"},
		{"renamed", "Alice B.", "alice@example.org"},
		{"moved", "Alice B.", "alice@example.com"},
	} {
		var changed, known users.Current
		s.Want(http.StatusOK, &changed, c.token, http.MethodPatch, "/v1/user", `{}`)
		s.Want(http.StatusOK, &known, "access", http.MethodGet, "/v1/user", nil)
		var stored users.Profile
		s.Want(http.StatusOK, &stored, "access", http.MethodGet, "/v1/users/"+changed.ID, nil)
		if changed.Name != c.name || changed.Email != c.email || known.Name != c.name || known.Email != c.email || stored.Name != c.name || stored.Email != c.email {
			t.Errorf("change %d with the token %s: %+v, then %+v and %+v", i, c.token, changed, known, stored)
		}
	}
}

func TestListUserSubmissions_HasThoseThatTheCallerMaySee(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	id := servertest.UserID("alice")
	for _, attributes := range []record.AccessAttributes{
		{Public: true}, {}, {Public: true, PrivateTask: true}, {Public: true, Anonymous: true, Alias: "anonymous-1"},
	} {
		sub := &record.SubmissionItem{Access: attributes}
		sub.Meta, sub.TaskID, sub.UserID, sub.Team, sub.RunIDs, sub.DatasetIDs = record.NewMeta(time.Now()), record.NewID(time.Now()), id, "Lake", []string{}, []string{}
		s.Put(sub)
	}
	for user, want := range map[string]int{"": 1, "bob": 1, "alice": 4, "root": 4} {
		var list struct{ Data []record.Submission }
		a := s.Want(http.StatusOK, &list, user, http.MethodGet, "/v1/users/"+id+"/submissions", nil)
		if len(list.Data) != want {
			t.Errorf("%q sees %d submissions, want %d: %s", user, len(list.Data), want, a.Body)
		}
	}
	s.Want(http.StatusNoContent, nil, "", http.MethodGet, "/v1/users/"+servertest.UserID("nobody")+"/submissions", nil)
}

// A user becomes known by an empty patch, of either kind, and by nothing that only reads.
func TestUser_BecomesKnownByAPatch(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
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
	var all struct{ Data []users.Profile }
	s.Want(http.StatusOK, &all, "root", http.MethodGet, "/v1/users", nil)
	if len(all.Data) != 2 || all.Data[0].Version != 1 || all.Data[1].Version != 1 {
		t.Errorf("%+v", all.Data)
	}
}
