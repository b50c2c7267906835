package registrations_test

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/lists"
)

// ofThree serves the registration of a team of tom, uma and vic. Its owner is tom.
func ofThree(t *testing.T, options ...func(*record.RegistrationItem)) (f *fixture, path string) {
	t.Helper()
	f = serve(t)
	f.Records().User("tom", "uma", "vic")
	r := f.task.Register("tom", append(options, recordtest.With("uma", "vic"))...)
	return f, f.path + "/" + r.ID
}

func ids(names ...string) []string { return lists.Map(names, recordtest.UserID) }

// Members see the names of members. Organizers also see addresses.
func TestShow_NamesTheMembers(t *testing.T) {
	f, path := ofThree(t)
	for user, address := range map[string]string{"tom": "", "uma": "", "olga": "uma@example.org", "root": "uma@example.org"} {
		r := servertest.Get[record.Registration](f.Server, user, path)
		if !slices.Equal(r.Members, ids("tom", "uma", "vic")) || len(r.Named) != 3 || r.Named[1].Name != "uma" || r.Named[1].Email != address {
			t.Errorf("%s is shown %v, %+v", user, r.Members, r.Named)
		}
		table := f.Want(http.StatusOK, nil, user, http.MethodGet, f.path, nil, "Accept", "text/csv")
		rows, err := csv.NewReader(strings.NewReader(string(table.Body))).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%v\n%s", err, table.Body)
		}
		if got := rows[1][14:]; !slices.Equal(got, []string{strings.Join(r.Members, " "), "tom; uma; vic"}) {
			t.Errorf("%s is shown %q", user, got)
		}
	}
	f.Want(http.StatusNotFound, nil, "wim", http.MethodGet, path, nil)
}

func TestRemoveMember_IsForTheMemberTheOwnerAndOrganizers(t *testing.T) {
	for _, c := range []struct {
		user, member string
		status       int
	}{
		{"", "uma", http.StatusNotFound}, {"wim", "uma", http.StatusNotFound}, {"wim", "wim", http.StatusNotFound},
		{"olga", "wim", http.StatusNotFound}, {"vic", "uma", http.StatusForbidden}, {"uma", "tom", http.StatusForbidden},
		{"tom", "tom", http.StatusConflict}, {"olga", "tom", http.StatusConflict},
		{"uma", "uma", http.StatusNoContent}, {"tom", "uma", http.StatusNoContent}, {"olga", "uma", http.StatusNoContent},
		{"root", "uma", http.StatusNoContent},
	} {
		f, path := ofThree(t)
		f.Want(c.status, nil, c.user, http.MethodDelete, path+"/members/"+recordtest.UserID(c.member), nil)
		want := []string{"tom", "uma", "vic"}
		if c.status == http.StatusNoContent {
			want = []string{"tom", "vic"}
		}
		if got := servertest.Get[record.Registration](f.Server, "olga", path).Members; !slices.Equal(got, ids(want...)) {
			t.Errorf("after %s removed %s: %v", c.user, c.member, got)
		}
		if c.status != http.StatusNoContent {
			continue
		}
		f.Want(http.StatusNotFound, nil, c.member, http.MethodGet, path, nil)
		newest := recordtest.AuditEntries(t, f.Store, f.task.OrganizerID)[0]
		if newest.Action != record.MembersChanged || newest.Subject != path || newest.ActorID != recordtest.UserID(c.user) ||
			string(newest.Before) != `["`+recordtest.UserID(c.member)+`"]` || !slices.Equal(newest.UserIDs, ids("tom", c.member)) {
			t.Errorf("%+v", newest)
		}
	}
}

// The owner hands the team over before leaving, and the last member withdraws it.
func TestChange_HandsOver(t *testing.T) {
	f, path := ofThree(t)
	to := func(name string) map[string]any { return map[string]any{"userId": recordtest.UserID(name)} }
	a := f.Want(http.StatusConflict, nil, "tom", http.MethodDelete, path+"/members/"+recordtest.UserID("tom"), nil)
	if !strings.Contains(string(a.Body), "hand it over") {
		t.Errorf("%s", a.Body)
	}
	f.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, to("wim"))
	f.Want(http.StatusUnprocessableEntity, nil, "uma", http.MethodPatch, path, to("uma"))
	f.Want(http.StatusUnprocessableEntity, nil, "uma", http.MethodPatch, path, map[string]any{"team": "Ours"})
	f.Want(http.StatusForbidden, nil, "uma", http.MethodDelete, path, nil)
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, to("vic"))
	f.Want(http.StatusOK, nil, "vic", http.MethodPatch, path, to("uma"))
	if newest := recordtest.AuditEntries(t, f.Store, f.task.OrganizerID)[0]; newest.Action != record.RegistrationChanged ||
		!strings.Contains(string(newest.After), recordtest.UserID("uma")) {
		t.Errorf("%+v", newest)
	}
	for _, name := range []string{"tom", "vic"} {
		f.Want(http.StatusNoContent, nil, name, http.MethodDelete, path+"/members/"+recordtest.UserID(name), nil)
	}
	a = f.Want(http.StatusConflict, nil, "uma", http.MethodDelete, path+"/members/"+recordtest.UserID("uma"), nil)
	if !strings.Contains(string(a.Body), "withdraw") {
		t.Errorf("%s", a.Body)
	}
	f.Want(http.StatusNoContent, nil, "uma", http.MethodDelete, path, nil)
}

func TestRemove_EndsTheGrantsOfAllMembers(t *testing.T) {
	f, path := ofThree(t)
	f.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, path, nil)
	for i, name := range []string{"tom", "uma", "vic"} {
		g := recordtest.Get[record.Registered](t, f.Store, record.RegisteredKey(recordtest.UserID(name), f.task.ID))
		told := g != nil && g.Ended != nil
		if told != (name != "tom") || g != nil && !told {
			t.Errorf("%s has %+v", name, g)
		}
		f.register(name, []string{"One", "Two", "Three"}[i])
	}
	if newest := recordtest.AuditEntries(t, f.Store, f.task.OrganizerID)[3]; !slices.Equal(newest.UserIDs, ids("tom", "uma", "vic")) {
		t.Errorf("%+v", newest)
	}
}

// A change of the team changes every grant, because each member submits with an own grant.
func TestChange_ChangesEveryGrant(t *testing.T) {
	f, path := ofThree(t)
	f.Want(http.StatusOK, nil, "tom", http.MethodPatch, path, map[string]any{"team": "Grebe", "anonymous": true})
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"state": "rejected"})
	for _, name := range []string{"tom", "uma", "vic"} {
		g := recordtest.Get[record.Registered](t, f.Store, record.RegisteredKey(recordtest.UserID(name), f.task.ID))
		if g.Team != "Grebe" || !g.Anonymous || g.State != record.Rejected {
			t.Errorf("%s has %+v", name, g)
		}
	}
	// Leaving a rejected team is refused, because its members could register again.
	f.Want(http.StatusForbidden, nil, "uma", http.MethodDelete, path+"/members/"+recordtest.UserID("uma"), nil)
	f.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path+"/members/"+recordtest.UserID("uma"), nil)
}

// The quota that a team has used counts for a member who leaves, and for all members when the team is withdrawn. So another team gives no
// more quota.
func TestRemoveMember_KeepsTheUsedQuota(t *testing.T) {
	f := serve(t, func(t *record.TaskItem) { t.Submissions.Total = 10 })
	r := f.task.Register("tom", recordtest.With("uma"))
	path := f.path + "/" + r.ID
	f.Records().Put(&record.Allowance{Meta: record.MetaOf(r.ID, f.Now()), TaskID: f.task.ID, Used: record.Used{Total: 7}})
	for _, name := range []string{"tom", "uma"} {
		if q := servertest.Get[record.Registration](f.Server, name, path).Quota; *q.Remaining != 3 || q.CarriedOver {
			t.Errorf("%s has %d left, carried over: %t", name, *q.Remaining, q.CarriedOver)
		}
	}
	f.Want(http.StatusNoContent, nil, "uma", http.MethodDelete, path+"/members/"+recordtest.UserID("uma"), nil)
	f.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, path, nil)
	for _, name := range []string{"uma", "tom", "wim"} {
		want := map[string]int{"uma": 3, "tom": 3, "wim": 10}[name]
		q := servertest.Get[record.Registration](f.Server, name, f.register(name, name)).Quota
		if *q.Remaining != want || q.CarriedOver != (want < 10) {
			t.Errorf("%s has %d left, want %d, carried over: %t", name, *q.Remaining, want, q.CarriedOver)
		}
	}
}
