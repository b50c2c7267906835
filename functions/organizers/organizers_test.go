package organizers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/organizers"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/records"
)

// fixture serves an organizer. The user alice owns it.
type fixture struct {
	*servertest.Server
	path string
}

func serve(t *testing.T) *fixture {
	s := servertest.New(t, organizers.Operations...)
	return &fixture{s, s.Create("alice", "/v1/organizers", map[string]any{"name": "Lake Lab"})}
}

// join makes the users members of the organizer in the store.
func (f *fixture) join(t *testing.T, role string, names ...string) {
	b := f.Records()
	for _, name := range names {
		b.User(name)
		o := recordtest.Get[record.Organizer](t, f.Store, record.OrganizerKey(servertest.ID(f.path)))
		tx := new(records.Tx)
		o.Members = append(o.Members, recordtest.UserID(name))
		if role == "owner" {
			o.Owners = append(o.Owners, recordtest.UserID(name))
		}
		b.Commit(tx.Save(o, f.Now()).Create(o.Membership(recordtest.UserID(name), f.Now())))
	}
}

func ids(names ...string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = recordtest.UserID(name)
	}
	return all
}

// are requires the members and the owners.
func (f *fixture) are(t *testing.T, members, owners []string) {
	t.Helper()
	if o := servertest.Get[record.Organizer](f.Server, "", f.path); !slices.Equal(o.Members, members) || !slices.Equal(o.Owners, owners) {
		t.Errorf("members %v, owners %v; want %v and %v", o.Members, o.Owners, members, owners)
	}
}

func TestMembers_AreMadeByNobodyElse(t *testing.T) {
	l := serve(t)
	l.Records().User("bob")
	for _, by := range []string{"alice", "root"} {
		for _, body := range []map[string]any{
			{"name": "Other", "members": ids("alice", "bob"), "owners": ids("alice")},
			{"name": "Other", "members": ids("alice"), "owners": ids("alice", "bob")},
		} {
			for _, request := range [][2]string{{http.MethodPost, "/v1/organizers"}, {http.MethodPatch, l.path}} {
				if by == "root" && request[0] == http.MethodPost {
					continue // alice is no member of an organizer that root creates.
				}
				a := l.Want(http.StatusUnprocessableEntity, nil, by, request[0], request[1], body)
				at := map[string]string{http.MethodPost: "/v1/organizers/{organizerId}", http.MethodPatch: l.path}[request[0]]
				if !strings.Contains(string(a.Body), "s/1\"") || !strings.Contains(string(a.Body), "answer to POST "+at+"/invitations") {
					t.Errorf("%s", a.Body)
				}
			}
		}
	}
	l.are(t, ids("alice"), ids("alice"))
}

func TestOwners_AloneDecideOnMembers(t *testing.T) {
	l := serve(t)
	l.join(t, "editor", "bob", "eve")
	l.join(t, "owner", "olga")
	l.are(t, ids("alice", "bob", "eve", "olga"), ids("alice", "olga"))
	for _, c := range []struct {
		user, method, path string
		body               any
		want               int
	}{
		{"bob", http.MethodPatch, "", map[string]any{"website": "https://example.org"}, http.StatusOK},
		{"bob", http.MethodPatch, "", map[string]any{"members": ids("alice", "bob", "olga")}, http.StatusUnprocessableEntity},
		{"bob", http.MethodPatch, "", map[string]any{"owners": ids("alice", "bob", "olga")}, http.StatusUnprocessableEntity},
		{"bob", http.MethodDelete, "", nil, http.StatusForbidden},
		{"bob", http.MethodDelete, "/members/" + recordtest.UserID("eve"), nil, http.StatusForbidden},
		{"olga", http.MethodPatch, "", map[string]any{"owners": ids("alice", "olga", "eve")}, http.StatusOK},
		{"olga", http.MethodPatch, "", map[string]any{"owners": ids("olga", "eve")}, http.StatusOK},
		{"alice", http.MethodPatch, "", map[string]any{"name": "Lake Laboratory"}, http.StatusOK},
		{"eve", http.MethodDelete, "/members/" + recordtest.UserID("bob"), nil, http.StatusNoContent},
		{"eve", http.MethodPatch, "", map[string]any{"members": ids("alice", "eve")}, http.StatusOK}, // The patch also ends olga's ownership.
		{"eve", http.MethodPatch, "", map[string]any{"owners": []string{}}, http.StatusUnprocessableEntity},
		{"eve", http.MethodDelete, "/members/" + recordtest.UserID("eve"), nil, http.StatusConflict},
		{"root", http.MethodPatch, "", map[string]any{"members": ids("alice")}, http.StatusUnprocessableEntity},
		{"root", http.MethodPatch, "", map[string]any{"owners": ids("alice")}, http.StatusOK},
		{"eve", http.MethodDelete, "/members/" + recordtest.UserID("eve"), nil, http.StatusNoContent},
	} {
		l.Want(c.want, nil, c.user, c.method, l.path+c.path, c.body)
	}
	l.are(t, ids("alice"), ids("alice"))
	for _, name := range []string{"bob", "eve", "olga"} {
		l.Want(http.StatusForbidden, nil, name, http.MethodPatch, l.path, map[string]any{"name": "Other"})
	}
	l.Want(http.StatusNoContent, nil, "alice", http.MethodDelete, l.path, nil)
}

// TestOwners_OneStaysInARace makes owners leave, demote and remove each other at the same time. At least one owner must remain.
func TestOwners_OneStaysInARace(t *testing.T) {
	names := []string{"alice", "bob", "carl", "dora"}
	for range 10 {
		l := serve(t)
		l.join(t, "owner", names[1:]...)
		servertest.Concurrently(len(names)*2, func(i int) servertest.Answer {
			me, next := names[i/2], names[(i/2+1)%len(names)]
			if i%2 == 0 {
				return l.Do(me, http.MethodDelete, l.path+"/members/"+recordtest.UserID(me), nil)
			}
			return l.Do(me, http.MethodPatch, l.path, []map[string]any{
				{"op": "test", "path": "/owners/0", "value": recordtest.UserID(next)}, {"op": "remove", "path": "/owners/0"},
			}, "Content-Type", "application/json-patch+json")
		})
		o := servertest.Get[record.Organizer](l.Server, "", l.path)
		if len(o.Owners) == 0 || slices.ContainsFunc(o.Owners, func(id string) bool { return !slices.Contains(o.Members, id) }) {
			t.Fatalf("members %v, owners %v", o.Members, o.Owners)
		}
		for _, name := range names {
			grant := recordtest.Get[record.Reservation](t, l.Store, record.MembershipKey(recordtest.UserID(name), o.ID))
			if id := recordtest.UserID(name); (grant != nil) != slices.Contains(o.Members, id) ||
				grant != nil && grant.Editor == slices.Contains(o.Owners, id) {
				t.Errorf("%s has the grant %+v, members %v, owners %v", name, grant, o.Members, o.Owners)
			}
		}
	}
}

func TestMembers_CanLeave(t *testing.T) {
	l := serve(t)
	l.join(t, "editor", "bob")
	l.join(t, "owner", "carl")
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
	l.are(t, ids("carl"), ids("carl"))
}

func TestCreate_MembershipsAreBounded(t *testing.T) {
	l := serve(t)
	for range record.MembershipGrants.Max - 1 {
		l.Records().Put(&record.Reservation{
			Meta: record.NewMeta(l.Now()), At: record.MembershipKey(recordtest.UserID("bob"), record.NewID(l.Now()))})
	}
	l.Create("bob", "/v1/organizers", map[string]any{"name": "Bob's"})
	a := l.Want(http.StatusConflict, nil, "bob", http.MethodPost, "/v1/organizers", map[string]any{"name": "One more"})
	if !strings.Contains(string(a.Body), "DELETE /v1/organizers/{organizerId}/members/{userId}") {
		t.Errorf("%s", a.Body)
	}
}
