package registrations_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/functions/registrations"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
)

// fixture serves the registrations for a task. The user olga organizes it.
type fixture struct {
	*servertest.Server
	task *recordtest.Task
	path string // path of the task's registrations
}

func serve(t *testing.T, options ...func(*record.TaskItem)) *fixture {
	t.Helper()
	f := &fixture{Server: servertest.New(t, registrations.Operations...)}
	f.task = f.Records().Task(options...)
	f.path = f.task.Path() + "/registrations"
	return f
}

func (f *fixture) register(user, team string) string {
	return f.Create(user, f.path, map[string]any{"team": team})
}

// closed makes a task private and closes its registration, so that users need an invitation.
func closed(t *record.TaskItem) {
	t.Visibility, t.Registration.Mode = record.Private, record.Closed
}

func TestList_HasVisibleResources(t *testing.T) {
	f := serve(t)
	tom, uma := f.register("tom", "=T"), f.register("uma", "U")
	for user, want := range map[string]int{"tom": 1, "uma": 1, "olga": 2, "root": 2, "vic": 0} {
		if got := f.IDs(user, f.path); len(got) != want {
			t.Errorf("%s sees %d registrations, want %d", user, len(got), want)
		}
	}
	for _, path := range []string{tom, uma} {
		f.Want(http.StatusOK, nil, "root", http.MethodGet, path, nil)
	}
	table := string(f.Want(http.StatusOK, nil, "olga", http.MethodGet, f.path, nil, "Accept", "text/csv").Body)
	if !strings.HasPrefix(table, "id,team,") || strings.Count(table, "\n") != 3 || !strings.Contains(table, ",'=T,") {
		t.Errorf("%s", table)
	}
}

func TestList_SelectsMembersAndPages(t *testing.T) {
	f := serve(t)
	f.Create("tom", f.path, map[string]any{"team": "T", "contact": "tom@example.org"})
	f.register("uma", "U")
	a := f.Want(http.StatusOK, nil, "olga", http.MethodGet, f.path+"?fields=team,contact&limit=1", nil)
	if !strings.Contains(string(a.Body), `"data":[{"team":"U"}]`) {
		t.Errorf("%s", a.Body)
	}
	next := strings.TrimSuffix(strings.TrimPrefix(a.Header.Get("Link"), "<"), `>; rel="next"`)
	a = f.Want(http.StatusOK, nil, "olga", http.MethodGet, next, nil)
	if !strings.Contains(string(a.Body), `"data":[{"team":"T","contact":"tom@example.org"}]`) || a.Header.Get("Link") != "" {
		t.Errorf("%s", a.Body)
	}
	f.Want(http.StatusOK, nil, "tom", http.MethodGet, next, nil)
	f.Want(http.StatusBadRequest, nil, "uma", http.MethodGet, next, nil) // The cursor is tom's registration, and uma does not see it.
	f.Want(http.StatusBadRequest, nil, "olga", http.MethodGet, f.path+"?fields=secret", nil)
}

func TestShow_OfAnotherTaskIsMissing(t *testing.T) {
	f := serve(t)
	made := f.register("tom", "T")
	other := strings.Replace(made, f.task.ID, f.Records().Task().ID, 1)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, other, nil)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, strings.Replace(made, f.task.ID, record.NewID(time.Now()), 1), nil)
}

func TestCreate_FollowsModeAndWindow(t *testing.T) {
	past := record.At(time.Now().Add(-time.Hour))
	future := record.At(time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		rules  record.RegistrationRules
		status int
		state  record.RegistrationState
	}{
		"open":        {record.RegistrationRules{Mode: record.Open}, http.StatusCreated, record.Accepted},
		"approval":    {record.RegistrationRules{Mode: record.Approval}, http.StatusCreated, record.Pending},
		"closed":      {record.RegistrationRules{Mode: record.Closed}, http.StatusForbidden, ""},
		"not yet":     {record.RegistrationRules{OpensAt: &future}, http.StatusForbidden, ""},
		"no more":     {record.RegistrationRules{ClosesAt: &past}, http.StatusForbidden, ""},
		"in a window": {record.RegistrationRules{OpensAt: &past, ClosesAt: &future}, http.StatusCreated, record.Accepted},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(t *record.TaskItem) { t.Registration = c.rules })
			var r record.Registration
			f.Want(c.status, &r, "tom", http.MethodPost, f.path, map[string]any{"team": "T"})
			if r.State != c.state {
				t.Errorf("state %q, want %q", r.State, c.state)
			}
			for _, user := range []string{"olga", "root"} {
				f.Want(http.StatusCreated, &r, user, http.MethodPost, f.path, map[string]any{"team": user, "userId": recordtest.UserID(user)})
				if r.State != record.Accepted || r.UserID != recordtest.UserID(user) {
					t.Errorf("the registration of %s is %+v", user, r)
				}
			}
		})
	}
}

// Nobody registers another user.
func TestCreate_OfAnotherUserTakesAnInvitation(t *testing.T) {
	f := serve(t, closed)
	f.Records().User("tom")
	for _, by := range []string{"olga", "root"} {
		a := f.Want(http.StatusUnprocessableEntity, nil, by, http.MethodPost, f.path,
			map[string]any{"team": "T", "userId": recordtest.UserID("tom")})
		if got := string(a.Body); !strings.Contains(got, `"pointer":"/userId"`) || !strings.Contains(got, "POST "+f.task.Path()+"/invitations") {
			t.Errorf("%s", got)
		}
	}
}

// The number of registrations of a user is bounded.
func TestCreate_RegistrationsOfAUserAreBounded(t *testing.T) {
	f := serve(t)
	b := f.Records()
	b.Batch(func() {
		for range record.RegistrationGrants.Max {
			b.Put(&record.Registered{Meta: record.NewMeta(f.Now()), UserID: recordtest.UserID("tom"), TaskID: record.NewID(f.Now()),
				State: record.Accepted})
		}
	})
	a := f.Want(http.StatusConflict, nil, "tom", http.MethodPost, f.path, map[string]any{"team": "T"})
	if !strings.Contains(string(a.Body), "registrations for tasks") {
		t.Errorf("%s", a.Body)
	}
}

func TestCreate_NamesFaults(t *testing.T) {
	f := serve(t)
	var p problem.Document
	f.Want(http.StatusUnprocessableEntity, &p, "olga", http.MethodPost, f.path, map[string]any{
		"team": " ", "userId": recordtest.UserID("tom"), "country": "a\nb"})
	if got := lists.Map(p.Errors, func(f problem.Field) string { return f.Pointer }); !slices.Equal(got, []string{"/team", "/country"}) {
		t.Errorf("faults at %s", got)
	}
	for name, want := range map[string]int{
		strings.Repeat("ﷺ", 100): http.StatusUnprocessableEntity, // Normalization writes out eighteen letters for each.
		strings.Repeat("𝕬", 100): http.StatusCreated,
		strings.Repeat("x", 101): http.StatusUnprocessableEntity,
		"\u00a0\u2003":           http.StatusUnprocessableEntity,
		"two\nlines":             http.StatusUnprocessableEntity,
		"BaseLine":               http.StatusUnprocessableEntity,
	} {
		f.Want(want, nil, "tom", http.MethodPost, f.path, map[string]any{"team": name})
	}
}

func TestCreate_OncePerUserAndTeam(t *testing.T) {
	f := serve(t)
	path := f.register("tom", "One")
	for _, team := range []string{"One", "Two"} { // the same request and another one
		a := f.Want(http.StatusConflict, nil, "tom", http.MethodPost, f.path, map[string]any{"team": team})
		if !strings.Contains(string(a.Body), "in a team of this task already") {
			t.Errorf("the team %s: %s", team, a.Body)
		}
	}
	f.Want(http.StatusConflict, nil, "uma", http.MethodPost, f.path, map[string]any{"team": " ONE "})
	f.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, path, nil)
	f.register("uma", "one")
	f.register("tom", "Two")
}

func TestCreate_OneOfConcurrentRequestsSucceeds(t *testing.T) {
	const n = 50
	for name, request := range map[string]func(i int) (user, team string){
		"of a user": func(i int) (string, string) { return "tom", fmt.Sprint("Team ", i) },
		"of a team": func(i int) (string, string) { return fmt.Sprint("user", i), "The Name" },
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t)
			statuses := servertest.Concurrently(n, func(i int) servertest.Answer {
				user, team := request(i)
				return f.Do(user, http.MethodPost, f.path, map[string]any{"team": team})
			})
			if statuses[http.StatusCreated] != 1 || statuses[http.StatusConflict] != n-1 {
				t.Errorf("answers by status: %v", statuses)
			}
			made := servertest.List[record.Registration](f.Server, "olga", f.path)
			if len(made) != 1 {
				t.Fatalf("%d registrations", len(made))
			}
			for i := range n { // The names of refused teams are free.
				if team := fmt.Sprint("Team ", i); team != made[0].Team {
					f.register(fmt.Sprint("other", i), team)
				}
			}
		})
	}
}

// An anonymous team reserves no name, so that no conflict reveals that it takes part. When the team stops being anonymous, its name may be
// taken.
func TestCreate_KeepsShownTeamNamesUnique(t *testing.T) {
	f := serve(t)
	hidden := f.Create("tom", f.path, map[string]any{"team": "Heron", "anonymous": true})
	shown := f.register("uma", "heron")
	f.Want(http.StatusConflict, nil, "vic", http.MethodPost, f.path, map[string]any{"team": "Heron"})
	f.Want(http.StatusConflict, nil, "tom", http.MethodPatch, hidden, map[string]any{"anonymous": false})
	f.Want(http.StatusOK, nil, "tom", http.MethodPatch, hidden, map[string]any{"team": "Egret", "anonymous": false})
	f.Want(http.StatusConflict, nil, "vic", http.MethodPost, f.path, map[string]any{"team": "Egret"})
	f.Want(http.StatusOK, nil, "tom", http.MethodPatch, hidden, map[string]any{"anonymous": true})
	egret := f.register("vic", "Egret")
	f.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, hidden, nil)
	f.Want(http.StatusConflict, nil, "tom", http.MethodPost, f.path, map[string]any{"team": "Egret"})
	f.Want(http.StatusOK, nil, "vic", http.MethodPatch, egret, map[string]any{"team": "EGRET"})
	f.Want(http.StatusNoContent, nil, "uma", http.MethodDelete, shown, nil)
	f.register("tom", "Heron")
}

// Submitting checks the grant, so the grant always agrees with the registration.
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

// Organizers cannot change the name of a team or its anonymity.
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

// The used quota stays used when a user withdraws and registers again.
func TestRemove_KeepsTheUsedQuota(t *testing.T) {
	f := serve(t)
	made := f.register("tom", "Heron")
	used := &record.Allowance{Meta: record.MetaOf(recordtest.UserID("tom"), f.Now()), TaskID: f.task.ID, Used: record.Used{Total: 7}}
	f.Records().Put(used)
	f.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, made, nil)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, made, nil)
	f.register("tom", "Heron")
	if a := recordtest.Get[record.Allowance](t, f.Store, used.Key()); a == nil || a.Total != 7 {
		t.Errorf("%+v", a)
	}
}

func TestRemove_IsRefusedWithSubmissions(t *testing.T) {
	f := serve(t)
	path := f.register("tom", "T")
	f.Records().Put(&record.Allowance{Meta: record.MetaOf(recordtest.UserID("tom"), f.Now()), TaskID: f.task.ID, Submissions: 1})
	f.Want(http.StatusConflict, nil, "tom", http.MethodDelete, path, nil)
	f.Want(http.StatusConflict, nil, "olga", http.MethodDelete, path, nil)
}

// The details of a rejected team stay those that the organizers decided about. Its owner still changes whether it is anonymous.
func TestChange_OfRejectedTeams(t *testing.T) {
	f := serve(t)
	r := f.task.Register("tom", recordtest.With("uma"), func(r *record.RegistrationItem) { r.State = record.Rejected })
	path := f.path + "/" + r.ID
	for _, user := range []string{"tom", "uma"} {
		for _, member := range []string{"team", "affiliation", "country", "contact"} {
			var p problem.Document
			f.Want(http.StatusConflict, &p, user, http.MethodPatch, path, map[string]any{member: "Other"})
			if p.Detail != "The organizers rejected this team's registration, so its details no longer change. Ask them about it." {
				t.Errorf("%s changes %s: %s", user, member, p.Detail)
			}
		}
	}
	f.Want(http.StatusOK, nil, "tom", http.MethodPatch, path, map[string]any{"anonymous": true})
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"state": "accepted"})
	f.Want(http.StatusOK, nil, "tom", http.MethodPatch, path, map[string]any{"team": "Other"})
}

func TestRemove_OfRejectedIsForOrganizers(t *testing.T) {
	f := serve(t)
	path := f.register("tom", "T")
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"state": "rejected"})
	f.Want(http.StatusForbidden, nil, "tom", http.MethodDelete, path, nil)
	f.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, map[string]any{"state": "pending"})
	f.Want(http.StatusConflict, nil, "tom", http.MethodPost, f.path, map[string]any{"team": "U"})
	f.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
}

// TestRegister_FollowsTheVisibilityOfTheTask makes the task private before each store call of a registration. The caller must be refused,
// or the grant must say that the task is private.
func TestRegister_FollowsTheVisibilityOfTheTask(t *testing.T) {
	for n, called := int64(1), int64(1); n <= called; n++ {
		f := serve(t)
		s := f.Store
		task := func() *record.TaskItem { return recordtest.Get[record.TaskItem](t, s, f.task.Key()) }
		hooked := storetest.BeforeCall(s, n, func() {
			private := task()
			private.Visibility = record.Private
			f.Records().Replace(private)
		})
		f.Store = hooked
		answer := f.Do("mallory", http.MethodPost, f.path, map[string]any{"team": "Magpies"})
		f.Store = s
		called = hooked.Calls()
		grant := recordtest.Get[record.Registered](t, s, record.RegisteredKey(recordtest.UserID("mallory"), f.task.ID))
		if answer.Status == http.StatusCreated && grant.PrivateTask != (task().Visibility == record.Private) {
			t.Errorf("changed at call %d of %d: %d, with the grant %+v", n, called, answer.Status, grant)
		}
	}
}
