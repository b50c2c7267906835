package functions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// join makes users members of the team, as if they had accepted an invitation.
func (p *platform) join(registration string, users ...string) {
	p.t.Helper()
	at := strings.Split(registration, "/")
	for _, name := range users {
		p.change(name, "/v1/user", map[string]any{})
		err := records.Retry(p.t.Context(), func() error {
			r := recordtest.Get[record.RegistrationItem](p.t, p.Store, record.RegistrationKey(at[3], at[5]))
			t := recordtest.Get[record.TaskItem](p.t, p.Store, record.TaskKey(at[3]))
			change := team.Change{Store: p.Store, Tx: new(records.Tx), Now: p.Now(), ActorID: recordtest.UserID(name)}
			if err := change.Join(p.t.Context(), t, r, recordtest.UserID(name)); err != nil {
				return err
			}
			return change.Tx.Commit(p.t.Context(), p.Store)
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.propagate(record.RegistrationKey(at[3], at[5]))
}

func (p *platform) propagate(registration store.Key) {
	p.t.Helper()
	if err := (propagation.Propagator{Store: p.Store, Now: p.Now}).Registration(p.t.Context(), registration); err != nil {
		p.t.Fatal(err)
	}
}

// ofTeam is a platform on which ada, bob and cyd are a team. ada and bob have each submitted a run, which is evaluated and not
// public.
type ofTeam struct {
	*platform
	registration string
	entries      []record.Submission
}

// twoLabels holds the members of a dataset, and twoRuns holds different runs on it.
var (
	twoLabels = map[string]any{"split": "validation", "truths": []any{servertest.Inline("truth.csv", "id,label\n1,a\n2,b\n")}}
	twoRuns   = []string{"id,label\n1,a\n2,b\n", "id,label\n1,b\n2,b\n"}
)

func newOfTeam(t *testing.T, registration map[string]any) *ofTeam {
	t.Helper()
	return newOfTeamOn(t, newServer(t), registration)
}

func newOfTeamOn(t *testing.T, s *servertest.Server, registration map[string]any) *ofTeam {
	t.Helper()
	p := &ofTeam{platform: newPlatformOf(t, s, map[string]any{"submissions": map[string]any{"total": 10}})}
	p.newDataset(twoLabels)
	p.registration = p.register("ada", registration)
	p.join(p.registration, "bob", "cyd")
	for i, user := range []string{"ada", "bob"} {
		body := servertest.Upload(servertest.ID(p.dataset), servertest.Inline("run.csv", twoRuns[i]))
		body["title"] = "Entry of " + user
		s := p.submit(user, body)
		p.evaluate(s.RunIDs[0])
		p.entries = append(p.entries, s)
	}
	return p
}

func (p *ofTeam) lists() []string {
	query := "?filter[datasetId]=" + servertest.ID(p.dataset)
	return []string{p.task + "/submissions", "/v1/runs", "/v1/runs" + query, "/v1/runs?filter[taskId]=" + servertest.ID(p.task),
		"/v1/evaluations", p.task + "/evaluations", p.task + "/evaluations" + query + "&sort=rank",
		p.task + "/evaluations" + query + "&sort=Accuracy"}
}

func (p *ofTeam) singles() (paths []string) {
	for _, s := range p.entries {
		run := "/v1/runs/" + s.RunIDs[0]
		paths = append(paths, p.task+"/submissions/"+s.ID, run, run+"/review", "/v1/evaluations/"+p.run("olga", s.RunIDs[0]).EvaluationID)
	}
	return paths
}

// Members share the submissions of every member while they are members.
func TestTeam_SharesWhatItSubmits(t *testing.T) {
	p := newOfTeam(t, nil)
	shows := func(users ...string) {
		t.Helper()
		for _, user := range []string{"", "ada", "bob", "cyd", "wim"} {
			want, status := 0, http.StatusNotFound
			if slices.Contains(users, user) {
				want, status = 2, http.StatusOK
			}
			for _, path := range p.lists() {
				if got := len(p.IDs(user, path)); got != want {
					t.Errorf("GET %s as %q: %d, want %d", path, user, got, want)
				}
			}
			for _, path := range p.singles() {
				p.Want(status, nil, user, http.MethodGet, path, nil)
			}
		}
	}
	shows("ada", "bob", "cyd")
	if best := p.IDs("cyd", p.lists()[6]+"&best=true"); len(best) != 1 {
		t.Errorf("%d entries are the best of one team", len(best))
	}
	run := "/v1/runs/" + p.entries[0].RunIDs[0]
	p.change("cyd", run, map[string]any{"label": "by cyd"})
	if newest := p.auditEntries("olga", p.task+"/audit-entries")[0]; newest.Action == record.RunChanged {
		t.Errorf("a label that the team gives its run is in the audit entry %+v", newest)
	}
	p.change("cyd", p.task+"/submissions/"+p.entries[0].ID, map[string]any{"visibility": "public"})
	p.change("cyd", p.task+"/submissions/"+p.entries[0].ID, map[string]any{"visibility": "private"})
	leave := p.registration + "/members/" + recordtest.UserID("bob")
	p.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, leave, nil)
	shows("ada", "cyd")
	p.Want(http.StatusForbidden, nil, "bob", http.MethodPost, p.task+"/submissions", servertest.Image(servertest.ID(p.dataset)))
	p.register("bob", nil)
	shows("ada", "cyd")
}

// A public list by user has the user's submissions, also those for a team that the user left. It reveals nothing else about
// teams.
func TestTeam_ListsByUserHaveWhatTheUserSubmitted(t *testing.T) {
	p := newOfTeam(t, nil)
	for _, s := range p.entries {
		p.change("ada", p.task+"/submissions/"+s.ID, map[string]any{"visibility": "public"})
	}
	p.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, p.registration+"/members/"+recordtest.UserID("bob"), nil)
	for i, user := range []string{"ada", "bob"} {
		for _, reader := range []string{"", "wim", "ada", "bob", "olga", "root"} {
			got := p.IDs(reader, "/v1/users/"+recordtest.UserID(user)+"/submissions")
			if !slices.Equal(got, []string{p.entries[i].ID}) {
				t.Errorf("%q sees %v of %s", reader, got, user)
			}
			if got := p.IDs(reader, "/v1/runs?filter[userId]="+recordtest.UserID(user)); !slices.Equal(got, p.entries[i].RunIDs) {
				t.Errorf("%q sees the runs %v of %s", reader, got, user)
			}
		}
	}
	// a new name of the team appears in all its submissions
	p.change("ada", p.registration, map[string]any{"team": "Grebe"})
	if got := p.run("", p.entries[1].RunIDs[0]).Team; got != "Grebe" {
		t.Errorf("the run of bob, who left, is of %q", got)
	}
	p.change("ada", p.registration, map[string]any{"anonymous": true})
	if got := p.IDs("", "/v1/users/"+recordtest.UserID("bob")+"/submissions"); len(got) > 0 {
		t.Errorf("bob's entry of an anonymous team is listed: %v", got)
	}
}

// The team has one quota of a task, even if several members submit at once.
func TestTeam_HasOneQuota(t *testing.T) {
	p := newOfTeam(t, nil)
	users := []string{"ada", "bob", "cyd"}
	statuses := servertest.Concurrently(24, func(i int) servertest.Answer {
		return p.Do(users[i%3], http.MethodPost, p.task+"/submissions", servertest.Image(servertest.ID(p.dataset)))
	})
	if statuses[http.StatusCreated] != 8 || statuses[http.StatusForbidden] != 16 {
		t.Errorf("answers by status: %v, with 8 left of 10", statuses)
	}
	for _, user := range append(users, "olga") {
		if q := servertest.Get[record.Registration](p.Server, user, p.registration).Quota; *q.Remaining != 0 {
			t.Errorf("%s sees %d left", user, *q.Remaining)
		}
	}
}

// No answer to others names a member of an anonymous team. Only the alias shows that several entries belong to the same team.
func TestTeam_StaysAnonymous(t *testing.T) {
	p := newOfTeam(t, map[string]any{"team": "Otters", "anonymous": true, "affiliation": "Lakeside"})
	p.register("reg", nil)
	for _, s := range p.entries {
		p.change("bob", p.task+"/submissions/"+s.ID, map[string]any{"visibility": "public"})
		p.change("olga", "/v1/runs/"+s.RunIDs[0]+"/review", map[string]any{"published": true})
	}
	paths := append(p.lists(), p.singles()...)
	paths = append(paths, p.task, p.registration, p.task+"/registrations", p.task+"/evaluations", p.lists()[6]+"&best=true")
	for _, user := range []string{"ada", "bob", "cyd"} {
		paths = append(paths, "/v1/users/"+recordtest.UserID(user)+"/submissions", "/v1/runs?filter[userId]="+recordtest.UserID(user),
			p.registration+"/members/"+recordtest.UserID(user))
	}
	seen := 0
	for _, path := range paths {
		for _, reader := range []string{"", "reg", "wim"} {
			for _, accept := range []string{"application/json", "text/html", "text/csv"} {
				body := string(p.Do(reader, http.MethodGet, path, nil, "Accept", accept).Body)
				seen += strings.Count(body, "anonymous-")
				body = strings.ReplaceAll(body, path, "") // links to the page itself
				for _, named := range []string{recordtest.UserID("ada"), recordtest.UserID("bob"), recordtest.UserID("cyd"), "Otters", "Lakeside",
					"Entry of", servertest.ID(p.registration)} {
					if strings.Contains(body, named) {
						t.Errorf("GET %s as %q (%s) has %q:\n%.500s", path, reader, accept, named, body)
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("nothing is shown under the alias")
	}
}

// A deleted user's submissions for a team stay with the team, even if the user had left it. They keep no data of the user.
func TestTeam_KeepsWhatADeletedUserSubmitted(t *testing.T) {
	s := newServer(t)
	table := &crashingStore{Store: s.Store, keys: map[store.Key]bool{}}
	s.Store = table
	p := newOfTeamOn(t, s, nil)
	p.change("ada", p.task+"/submissions/"+p.entries[0].ID, map[string]any{"visibility": "public"})
	p.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, p.registration+"/members/"+recordtest.UserID("bob"), nil)
	for _, user := range []string{"ada", "bob"} {
		path := "/v1/users/" + recordtest.UserID(user)
		p.Want(http.StatusNoContent, nil, "root", http.MethodDelete, path, nil)
		for passes := 0; p.Do("root", http.MethodGet, path, nil).Status == http.StatusOK; passes++ {
			if passes > 5 {
				t.Fatal("the deletion does not end")
			}
			p.runDue()
			p.advance(record.RequestTime)
		}
		for _, it := range table.items(t) {
			if strings.Contains(fmt.Sprint(it.Key, it.Indexes, string(it.Data)), recordtest.UserID(user)) {
				t.Errorf("%s %s has the id of %s: %v %s", it.Partition, it.Sort, user, it.Indexes, it.Data)
			}
		}
	}
	r := servertest.Get[record.Registration](p.Server, "cyd", p.registration)
	if r.UserID != recordtest.UserID("cyd") || len(r.Members) != 1 || r.Team != "Team of ada" || *r.Quota.Remaining != 8 {
		t.Errorf("%+v", r)
	}
	for _, path := range p.lists() {
		if got := p.IDs("cyd", path); len(got) != 2 {
			t.Errorf("cyd sees %d of 2 at %s", len(got), path)
		}
	}
	for _, path := range p.singles() {
		p.Want(http.StatusOK, nil, "cyd", http.MethodGet, path, nil)
	}
	p.change("cyd", p.registration, map[string]any{"team": "Grebe"})
	for _, s := range p.entries {
		if run := p.run("cyd", s.RunIDs[0]); run.Team != "Grebe" || len(run.Files) != 1 {
			t.Errorf("%+v", run)
		}
		p.Want(http.StatusNoContent, nil, "cyd", http.MethodDelete, p.task+"/submissions/"+s.ID, nil)
	}
	p.Want(http.StatusNoContent, nil, "cyd", http.MethodDelete, p.registration, nil)
}
