//go:build !race

package functions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// TestAPI_FollowsTheModel lets random users register, invite, join, leave, submit, review, change, delete and restore, with and
// without the right to. The status of each answer, and all that each user then sees, must equal those of the model.
func TestAPI_FollowsTheModel(t *testing.T) {
	var s *workers
	sequences, answered := 0, map[string]int{}
	nightlytest.Check(t, func(rt *rapid.T) {
		if sequences%100 == 0 { // a user can have 250 organizers, and each sequence makes one
			s = newWorkers(t, newServer(t))
		}
		sequences++
		m := newAPIMachine(rt, s, answered)
		steps := []func(*rapid.T){m.register, m.decide, m.rename, m.invite, m.leave, m.submit, m.submit, m.repeat,
			m.repeat, m.cancel, m.evaluate, m.evaluate, m.review, m.review, m.changeEntry, m.delete, m.restore, m.restore, m.changeTask,
			m.changeTruth, m.changeTruth}
		for range rapid.IntRange(5, 25).Draw(rt, "requests") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "request")](rt)
			m.check(rt)
		}
		m.evaluate(rt) // leaves no work to the next sequence
		m.check(rt)
	})
	t.Log(answered)
	musts := []string{"submit 201", "repeat 200", "review 200", "review 404"}
	if nightlytest.Enabled { // 20 sequences of requests may miss some statuses
		musts = append(musts, "register 201", "register 404", "submit 403", "repeat 201", "repeat 403", "cancel 200", "cancel 409", "delete 204",
			"restore 204", "join 201", "join 409", "see an evaluation 404", "change the truth 200", "change the truth 403")
	}
	for _, must := range musts {
		if answered[must] == 0 {
			t.Errorf("nothing was answered with %s", must)
		}
	}
}

// apiMachine is a model and the server that must follow it.
type apiMachine struct {
	apiModel
	*workers
	t         *rapid.T
	organizer string // path
	answered  map[string]int
	serial    int
}

func newAPIMachine(t *rapid.T, s *workers, answered map[string]int) *apiMachine {
	m := &apiMachine{workers: s, t: t, answered: answered}
	m.private = rapid.Bool().Draw(t, "private")
	m.approval = rapid.Bool().Draw(t, "approval")
	m.blinds = rapid.Bool().Draw(t, "blinds")
	m.total = rapid.IntRange(0, 2).Draw(t, "total")
	m.item = 1
	m.truth = 1
	m.board = 1
	m.organizer = m.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"})
	m.Join("eddy", m.Invite("olga", m.organizer, map[string]any{"role": "editor"}), nil)
	draft := map[string]any{"organizerId": servertest.ID(m.organizer), "name": "Lakes", "visibility": m.visibility()}
	draft["registration"] = map[string]any{"mode": map[bool]string{true: "approval", false: "open"}[m.approval]}
	if m.total > 0 {
		draft["submissions"] = map[string]any{"total": m.total}
	}
	m.task = m.Create("olga", "/v1/tasks", draft)
	body := newDatasetBody(servertest.ID(m.task))
	body["split"] = map[bool]string{true: "test", false: "training"}[m.blinds]
	m.dataset = m.Create("olga", "/v1/datasets", body)
	for _, user := range []string{"ada", "bob"} { // each user has an entry
		secret := m.Invite("olga", m.task, nil)
		path := m.Join(user, secret, map[string]any{"team": user})
		r := servertest.Get[record.Registration](m.Server, user, path)
		m.teams = append(m.teams, &apiTeam{path: path, name: user, alias: r.Alias, members: []string{user}, state: r.State})
		m.submitAs(user, apiDraft{public: rapid.Bool().Draw(t, "public"), item: 1}, true)
	}
	return m
}

func (m *apiMachine) visibility() record.Visibility {
	return map[bool]record.Visibility{true: record.Private, false: record.Public}[m.private]
}

// ask sends a request and requires the status. It reports whether the request succeeded.
func (m *apiMachine) ask(what string, status int, into any, user, method, path string, body any, header ...string) bool {
	a := m.Do(user, method, path, body, header...)
	m.answered[fmt.Sprint(what, " ", a.Status)]++
	if a.Status != status {
		m.t.Fatalf("%s: %s %s by %q is answered with status %d, want %d\n%s", what, method, path, user, a.Status, status, a.Body)
	}
	if status < http.StatusMultipleChoices && into != nil {
		if err := json.Unmarshal(a.Body, into); err != nil {
			m.t.Fatal(err)
		}
	}
	return status < http.StatusMultipleChoices
}

func caller(t *rapid.T) string { return rapid.SampledFrom(apiCallers).Draw(t, "caller") }

// participant draws a caller who belongs to no organizer.
func participant(t *rapid.T) string { return rapid.SampledFrom(apiCallers[:5]).Draw(t, "participant") }

// one draws an element for which which returns true. It returns nil if there is none.
func one[T any](t *rapid.T, of []*T, which func(*T) bool) *T {
	var all []*T
	for _, o := range of {
		if which(o) {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "one")]
}

func (m *apiMachine) aTeam(t *rapid.T) *apiTeam {
	return one(t, m.teams, func(*apiTeam) bool { return true })
}

func (m *apiMachine) anEntry(t *rapid.T) *apiEntry {
	return one(t, m.entries, func(*apiEntry) bool { return true })
}

func (m *apiMachine) name(prefix string) string {
	m.serial++
	return fmt.Sprint(prefix, " ", m.serial)
}

// check compares the view of a random caller with the model.
func (m *apiMachine) check(t *rapid.T) {
	user := caller(t)
	m.checkTask(t, user)
	m.checkEntries(t, user)
}

func (m *apiMachine) checkTask(t *rapid.T, user string) {
	var task record.Task
	if m.ask("see the task", m.taskStatus(user), &task, user, http.MethodGet, m.task, nil) && task.Description != m.description {
		t.Fatalf("the task has the description %q, want %q", task.Description, m.description)
	}
	listed := m.IDs(user, "/v1/tasks?filter[organizerId]="+servertest.ID(m.organizer))
	if (len(listed) == 1) != m.seesTask(user) {
		t.Fatalf("%q sees the task: %v, and it is listed: %v", user, m.seesTask(user), listed)
	}
	for _, team := range m.teams {
		status := http.StatusNotFound
		if organizes(user) || slices.Contains(team.members, user) {
			status = http.StatusOK
		}
		var shown record.Registration
		if m.ask("see the team", status, &shown, user, http.MethodGet, team.path, nil) && (shown.Team != team.name || shown.State != team.state) {
			t.Fatalf("%q sees %+v of %+v", user, shown, team)
		}
	}
}

func (m *apiMachine) checkEntries(t *rapid.T, user string) {
	if m.taskStatus(user) != http.StatusOK {
		m.ask("list entries", m.taskStatus(user), nil, user, http.MethodGet, m.task+"/submissions", nil)
		m.ask("list evaluations", m.taskStatus(user), nil, user, http.MethodGet, m.task+"/evaluations", nil)
	} else {
		var paths []string
		for _, sub := range servertest.List[record.Submission](m.Server, user, m.task+"/submissions") {
			paths = append(paths, m.task+"/submissions/"+sub.ID)
		}
		if want := m.entriesSeen(user); !slices.Equal(paths, want) {
			t.Fatalf("%q is listed the entries %v, want %v", user, paths, want)
		}
		for query, want := range map[string][]string{"": m.listed(user), "?sort=rank": m.ranked(user)} {
			var runs []string
			for _, e := range servertest.List[record.Evaluation](m.Server, user, m.task+"/evaluations"+query) {
				runs = append(runs, fmt.Sprint(e.RunID, " of ", e.Team))
			}
			slices.Sort(runs)
			if !slices.Equal(runs, want) {
				t.Fatalf("%q is listed the evaluations%s %v, want %v", user, query, runs, want)
			}
		}
	}
	e := m.anEntry(t)
	status := func(sees bool) int { return map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[sees] }
	var shown record.Submission
	if m.ask("see an entry", status(m.seesEntry(user, e)), &shown, user, http.MethodGet, e.path, nil) && shown.Team != e.team.shownTo(user) {
		t.Fatalf("%q sees the team %q, want %q", user, shown.Team, e.team.shownTo(user))
	}
	m.ask("see a run", status(m.seesEntry(user, e)), nil, user, http.MethodGet, "/v1/runs/"+e.run, nil)
	reviewed := e.deletion == "" && (organizes(user) || e.owned(user))
	m.ask("see a review", status(reviewed), nil, user, http.MethodGet, "/v1/runs/"+e.run+"/review", nil)
	if e.state == record.Completed {
		m.ask("see an evaluation", status(m.seesResults(user, e)), nil, user, http.MethodGet, "/v1/evaluations/"+e.evaluation, nil)
	}
}
