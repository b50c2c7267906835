package organizers_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/organizers"
	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// fixture serves an organizer of alice's.
type fixture struct {
	*servertest.Server
	path string
}

func serve(t *testing.T) *fixture {
	s := servertest.New(t, organizers.Operations...)
	return &fixture{s, s.Create("alice", "/v1/organizers", map[string]any{"name": "Lake Lab"})}
}

// set has the caller make the named users the members.
func (f *fixture) set(caller string, names ...string) servertest.Answer {
	return f.Do(caller, http.MethodPatch, f.path, map[string]any{"members": ids(names...)})
}

func ids(names ...string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = recordtest.UserID(name)
	}
	return all
}

func (f *fixture) members() []string {
	return servertest.Get[record.Organizer](f.Server, "", f.path).Members
}

func TestMembers_UnknownUsersAreNamed(t *testing.T) {
	l := serve(t)
	l.Records().User("bob")
	body := map[string]any{"name": "Other", "members": ids("bob", "nobody", "bob2")}
	for _, request := range []struct {
		method, path string
		pointers     []string
	}{
		{http.MethodPost, "/v1/organizers", []string{"/members/1", "/members/2"}},
		{http.MethodPatch, l.path, []string{"/members/1", "/members/2"}},
	} {
		var p problem.Document
		a := l.Want(http.StatusUnprocessableEntity, &p, "alice", request.method, request.path, body)
		if strings.Count(string(a.Body), "PATCH /v1/user") != 1 || !strings.Contains(p.Detail, "PATCH /v1/user") {
			t.Errorf("the advice is not given once: %s", a.Body)
		}
		var pointers []string
		for i, f := range p.Errors {
			pointers = append(pointers, f.Pointer)
			if !strings.Contains(p.Detail, "GET /v1/user,") {
				t.Errorf("it does not say where ids are: %s", p.Detail)
			}
			if f.Detail != ids("nobody", "bob2")[i]+" is not the id of a known user" {
				t.Errorf("%+v", f)
			}
		}
		if !slices.Equal(pointers, request.pointers) {
			t.Errorf("%s names %v", request.method, pointers)
		}
	}
	if got := l.members(); !slices.Equal(got, ids("alice")) {
		t.Errorf("members %v", got)
	}
	many := make([]string, record.MaxMemberChanges)
	for i := range many {
		many[i] = fmt.Sprintf("member%d", i)
	}
	l.Records().User(many...)
	if a := l.set("alice", append([]string{"alice", "bob"}, many...)...); a.Status != http.StatusUnprocessableEntity ||
		!strings.Contains(string(a.Body), `"pointer":"/members"`) {
		t.Errorf("%d members at once: %d %s", len(many)+1, a.Status, a.Body)
	}
	if a := l.set("alice", append([]string{"alice"}, many...)...); a.Status != http.StatusOK {
		t.Errorf("%d members at once: %d %s", len(many), a.Status, a.Body)
	}
}

// An organizer without a known member is one that nobody can change.
func TestMembers_LastKnownMemberCannotLeave(t *testing.T) {
	l := serve(t)
	o := l.Records().Organizer("alice", "ghost", "nobody") // older data, with members that nobody knows
	l.path = "/v1/organizers/" + o.ID
	for _, left := range [][]string{{}, o.Members[1:]} {
		l.Want(http.StatusUnprocessableEntity, nil, "alice", http.MethodPatch, l.path, map[string]any{"members": left})
		l.Want(http.StatusUnprocessableEntity, nil, "root", http.MethodPatch, l.path, map[string]any{"members": left})
	}
	alice := l.path + "/members/" + recordtest.UserID("alice")
	a := l.Want(http.StatusConflict, nil, "alice", http.MethodDelete, alice, nil)
	if !strings.Contains(string(a.Body), "last known member") {
		t.Errorf("%s", a.Body)
	}
	// who was there stays
	l.Want(http.StatusOK, nil, "alice", http.MethodPatch, l.path, map[string]any{"name": "Renamed", "members": o.Members})
	l.Want(http.StatusOK, nil, "ghost", http.MethodPatch, l.path, map[string]any{"website": "https://example.org"}) // which makes known
	l.Want(http.StatusNoContent, nil, "alice", http.MethodDelete, alice, nil)
	l.Want(http.StatusConflict, nil, "root", http.MethodDelete, l.path+"/members/"+recordtest.UserID("ghost"), nil)
}

func TestMembers_CanLeave(t *testing.T) {
	l := serve(t)
	l.Records().User("bob", "carl")
	if a := l.set("alice", "alice", "bob", "carl"); a.Status != http.StatusOK {
		t.Fatalf("%s", a.Body)
	}
	_, next := servertest.Page[organizers.Member](l.Server, "", l.path+"/members?limit=2")
	if list := servertest.List[organizers.Member](l.Server, "", next); len(list) != 1 || list[0].OrganizerID == "" {
		t.Errorf("%+v", list)
	}
	bob := l.path + "/members/" + recordtest.UserID("bob")
	tag := l.Want(http.StatusOK, nil, "", http.MethodGet, bob, nil).Header.Get("ETag")
	l.Want(http.StatusPreconditionFailed, nil, "bob", http.MethodDelete, bob, nil, "If-Match", `"0-0"`)
	l.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, bob, nil, "If-Match", tag)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		l.Want(http.StatusNotFound, nil, "bob", method, bob, nil)
	}
	l.Want(http.StatusForbidden, nil, "bob", http.MethodPatch, l.path, map[string]any{"name": "Bob's"})
	l.Want(http.StatusNoContent, nil, "carl", http.MethodDelete, l.path+"/members/"+recordtest.UserID("alice"), nil)
	if got := l.members(); !slices.Equal(got, ids("carl")) {
		t.Errorf("members %v", got)
	}
}

// Others fill no user's memberships, however many of them try at the same time; the user's own decisions are not bounded
// by what others did.
func TestMembers_OthersAddAUserToFewOrganizers(t *testing.T) {
	l := serve(t)
	l.Records().User("bob")
	for range record.MembershipGrants.MaxAdded - 1 {
		l.Records().Put(&record.Reservation{
			Meta: record.NewMeta(l.Now()), At: record.MembershipKey(recordtest.UserID("bob"), record.NewID(l.Now()))})
	}
	const n = 6
	var paths [n]string
	for i := range paths {
		paths[i] = l.Create("alice", "/v1/organizers", map[string]any{"name": "Lab"})
	}
	statuses := servertest.Concurrently(n, func(i int) servertest.Answer {
		return l.Do("alice", http.MethodPatch, paths[i], map[string]any{"members": ids("alice", "bob")})
	})
	if statuses[http.StatusOK] != 1 || statuses[http.StatusUnprocessableEntity] != n-1 {
		t.Errorf("at one below the bound: %v", statuses)
	}
	a := l.set("alice", "alice", "bob")
	if a.Status != http.StatusUnprocessableEntity ||
		!strings.Contains(string(a.Body), "DELETE /v1/organizers/{organizerId}/members/{userId}") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for range record.MembershipGrants.Max - record.MembershipGrants.MaxAdded {
		l.Create("bob", "/v1/organizers", map[string]any{"name": "Bob's"})
	}
	l.Want(http.StatusConflict, nil, "bob", http.MethodPost, "/v1/organizers", map[string]any{"name": "One more"})
}
