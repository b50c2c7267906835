package registrations_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

// The grant is what submitting looks at, so it is never another than the registration.
func TestChange_ChangesTheGrant(t *testing.T) {
	f := serve(t)
	made := f.register("tom", "Heron")
	for _, c := range []struct {
		user  string
		patch map[string]any
	}{
		{"tom", map[string]any{"team": "Grey Heron"}},
		{"tom", map[string]any{"anonymous": true}},
		{"olga", map[string]any{"state": "rejected"}},
		{"olga", map[string]any{"state": "accepted"}},
		{"tom", map[string]any{"team": "Heron", "anonymous": false}},
	} {
		var r record.Registration
		f.Want(http.StatusOK, &r, c.user, http.MethodPatch, made, c.patch)
		g := recordtest.Get[record.Registered](t, f.Store, record.RegisteredKey(recordtest.UserID("tom"), f.task.ID))
		if g.ID != r.ID || g.Team != r.Team || g.Anonymous != r.Anonymous || g.State != r.State || g.Alias != r.Alias {
			t.Errorf("after %v the registration is %+v, the grant %+v", c.patch, r, g)
		}
	}
	f.Want(http.StatusUnprocessableEntity, nil, "uma", http.MethodPost, f.path, map[string]any{"team": "\u200bAnonymous-0123456789abcdef"})
	f.Want(http.StatusConflict, nil, "uma", http.MethodPost, f.path, map[string]any{"team": "heron"})
	f.register("uma", "Grey Heron")
	f.Want(http.StatusConflict, nil, "tom", http.MethodPatch, made, map[string]any{"team": "GREY  HERON"})
}

// What the team calls itself, and whether it stays behind its alias, is not the organizers' to change.
func TestChange_OrganizersDecideAndOwnersEdit(t *testing.T) {
	f := serve(t, func(t *record.TaskItem) { t.Registration.Mode = record.Approval })
	path := f.Create("tom", f.path, map[string]any{"team": "T", "contact": "tom@example.org"})
	f.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, map[string]any{"state": "accepted"})
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"state": "accepted"})
	f.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, map[string]any{"userId": recordtest.UserID("uma")})
	for _, owners := range []map[string]any{{"team": "Other"}, {"anonymous": true}, {"contact": "x"}, {"state": "rejected", "country": "y"}} {
		f.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, owners)
	}
	newest := recordtest.AuditEntries(t, f.Store, f.task.OrganizerID)[0]
	if newest.Action != record.RegistrationDecided || !strings.Contains(string(newest.After), "accepted") {
		t.Errorf("%+v", newest)
	}
}

func TestChange_KeepsTeamNamesUniqueInARace(t *testing.T) {
	f := serve(t)
	paths := map[string]string{"tom": f.register("tom", "tom"), "uma": f.register("uma", "uma")}
	var all sync.WaitGroup
	for i := range 20 {
		for user, path := range paths {
			all.Go(func() {
				a := f.Do(user, http.MethodPatch, path, map[string]any{"team": fmt.Sprint("Name ", i%3)})
				if a.Status != http.StatusOK && a.Status != http.StatusConflict {
					t.Errorf("status %d: %s", a.Status, a.Body)
				}
			})
		}
	}
	all.Wait()
	teams := map[string]bool{}
	for user, path := range paths {
		teams[servertest.Get[record.Registration](f.Server, user, path).Team] = true
	}
	items, err := f.Store.Query(t.Context(), store.Query{Partition: f.task.Key().Partition, From: "TEAM#", To: "TEAM$", Limit: 10,
		Consistency: store.Strong})
	if err != nil || len(items) != 2 || len(teams) != 2 {
		t.Errorf("teams %v, and %d names reserved: %v", teams, len(items), err)
	}
}
