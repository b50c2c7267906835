//go:build !race

package functions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"assay/functions/evaluator"
	"assay/shared/api/servertest"
	"assay/shared/nightlytest"
	"assay/shared/record"
	"assay/shared/record/recordtest"

	"pgregory.net/rapid"
)

// TestAPI_FollowsTheModel has random users register, invite, join, leave, submit, review, change, delete and restore, also where they may
// not: the status of each answer is that of the model, and so is what each of them then sees.
func TestAPI_FollowsTheModel(t *testing.T) {
	s := newServer(t)
	answered := map[string]int{}
	nightlytest.Check(t, func(rt *rapid.T) {
		m := newAPIMachine(rt, s, answered)
		steps := []func(*rapid.T){m.register, m.decide, m.rename, m.invite, m.leave, m.submit, m.submit, m.evaluate, m.review, m.review,
			m.changeEntry, m.delete, m.restore, m.restore, m.changeTask}
		for range rapid.IntRange(5, 25).Draw(rt, "requests") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "request")](rt)
			m.check(rt)
		}
	})
	t.Log(answered)
	if !nightlytest.Enabled { // 20 sequences of requests may miss some of the answers below
		return
	}
	for _, must := range []string{"register 201", "register 404", "submit 201", "submit 403", "review 200", "review 404", "delete 204",
		"restore 204", "join 201", "join 409", "see an evaluation 404"} {
		if answered[must] == 0 {
			t.Errorf("nothing was answered with %s", must)
		}
	}
}

// apiMachine is a model, and the server that must follow it.
type apiMachine struct {
	apiModel
	*servertest.Server
	t         *rapid.T
	organizer string // path
	answered  map[string]int
	serial    int
}

func newAPIMachine(t *rapid.T, s *servertest.Server, answered map[string]int) *apiMachine {
	m := &apiMachine{Server: s, t: t, answered: answered}
	m.private = rapid.Bool().Draw(t, "private")
	m.approval = rapid.Bool().Draw(t, "approval")
	m.blinds = rapid.Bool().Draw(t, "blinds")
	m.total = rapid.IntRange(0, 2).Draw(t, "total")
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
	for _, user := range []string{"ada", "bob"} { // each with an entry
		secret := m.Invite("olga", m.task, nil)
		path := m.Join(user, secret, map[string]any{"team": user})
		r := servertest.Get[record.Registration](m.Server, user, path)
		m.teams = append(m.teams, &apiTeam{path: path, name: user, alias: r.Alias, members: []string{user}, state: r.State})
		m.submitAs(user, rapid.Bool().Draw(t, "public"))
	}
	return m
}

func (m *apiMachine) visibility() record.Visibility {
	return map[bool]record.Visibility{true: record.Private, false: record.Public}[m.private]
}

// ask sends a request, which must have the status, and reports whether it was done.
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

// participant is a caller who is of no organizer.
func participant(t *rapid.T) string { return rapid.SampledFrom(apiCallers[:5]).Draw(t, "participant") }

// one draws one of those for which which holds; there may be none.
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

func (m *apiMachine) register(t *rapid.T) {
	user := participant(t)
	team := &apiTeam{name: m.name("Team"), anonymous: rapid.Bool().Draw(t, "anonymous")}
	var made record.Registration
	if m.ask("register", m.registerStatus(user), &made, user, http.MethodPost, m.task+"/registrations",
		map[string]any{"team": team.name, "anonymous": team.anonymous}) {
		team.path = m.task + "/registrations/" + made.ID
		team.alias = made.Alias
		team.members = []string{user}
		team.state = made.State
		m.teams = append(m.teams, team)
		if want := map[bool]record.RegistrationState{true: record.Pending, false: record.Accepted}[m.approval]; made.State != want {
			m.t.Fatalf("a new team is %s, want %s", made.State, want)
		}
	}
}

// teamStatus is that of what organizers may do to a team.
func (m *apiMachine) teamStatus(user string, team *apiTeam, owner bool) int {
	switch {
	case organizes(user), owner && team.members[0] == user:
		return http.StatusOK
	case slices.Contains(team.members, user):
		return http.StatusForbidden
	default:
		return http.StatusNotFound
	}
}

func (m *apiMachine) decide(t *rapid.T) {
	user, team := caller(t), m.aTeam(t)
	if slices.Contains(team.members, user) { // a team does not decide about itself
		return
	}
	state := rapid.SampledFrom([]record.RegistrationState{record.Accepted, record.Rejected, record.Accepted}).Draw(t, "state")
	if m.ask("decide", m.teamStatus(user, team, false), nil, user, http.MethodPatch, team.path, map[string]any{"state": state}) {
		team.state = state
	}
}

// rename changes the name of a team, and whether others see it.
func (m *apiMachine) rename(t *rapid.T) {
	user, team := participant(t), m.aTeam(t)
	name, anonymous := m.name("Renamed"), rapid.Bool().Draw(t, "anonymous")
	status := m.teamStatus(user, team, true)
	if status == http.StatusForbidden { // a member may change something else
		status = http.StatusUnprocessableEntity
	}
	if m.ask("rename", status, nil, user, http.MethodPatch, team.path,
		map[string]any{"team": name, "anonymous": anonymous}) {
		team.name, team.anonymous = name, anonymous
	}
}

// invite has a team invite, and somebody join by that.
func (m *apiMachine) invite(t *rapid.T) {
	team, user := m.aTeam(t), rapid.SampledFrom(apiCallers[1:5]).Draw(t, "joins")
	var made struct{ Secret string }
	m.ask("invite", http.StatusCreated, &made, team.members[0], http.MethodPost, team.path+"/invitations", map[string]any{})
	status := http.StatusCreated
	if m.of(user) != nil || team.state == record.Rejected {
		status = http.StatusConflict
	}
	if m.ask("join", status, nil, user, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": made.Secret}) {
		team.members = append(team.members, user)
	}
}

// leave has a member who is not the owner leave, by somebody who may do that or not.
func (m *apiMachine) leave(t *rapid.T) {
	user := caller(t)
	team := one(t, m.teams, func(team *apiTeam) bool { return len(team.members) > 1 }) // the owner does not leave
	if team == nil {
		return
	}
	leaves := team.members[1]
	status := m.teamStatus(user, team, true)
	switch {
	case status != http.StatusOK && user != leaves:
	case team.state == record.Rejected && !organizes(user): // only organizers change who is in it
		status = http.StatusForbidden
	default:
		status = http.StatusNoContent
	}
	if m.ask("leave", status, nil, user, http.MethodDelete, team.path+"/members/"+recordtest.UserID(leaves), nil) {
		team.members = slices.DeleteFunc(team.members, func(member string) bool { return member == leaves })
	}
}

func (m *apiMachine) submit(t *rapid.T) {
	m.submitAs(caller(t), rapid.Bool().Draw(t, "public"))
}

func (m *apiMachine) submitAs(user string, public bool) {
	e := &apiEntry{team: m.of(user), public: public, blinded: m.blinds}
	body := servertest.Upload(servertest.ID(m.dataset), servertest.Inline("run.csv", "id,label\n1,a\n"))
	body["visibility"] = map[bool]record.Visibility{true: record.Public, false: record.Private}[e.public]
	var made record.Submission
	if m.ask("submit", m.submitStatus(user), &made, user, http.MethodPost, m.task+"/submissions", body) {
		e.path, e.run = m.task+"/submissions/"+made.ID, made.RunIDs[0]
		m.entries = append(m.entries, e)
	}
}

// evaluate has the evaluator do all that it finds.
func (m *apiMachine) evaluate(t *rapid.T) {
	w := &evaluator.Worker{Store: m.Store, Files: m.Files, Now: m.Now, Log: m.Log, Holder: "test"}
	for _, e := range m.entries {
		if e.evaluated || e.deletion != "" {
			continue
		}
		r := new(record.RunItem)
		r.ID = e.run
		if err := w.Evaluate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		var shown record.Run
		m.ask("evaluated", http.StatusOK, &shown, "olga", http.MethodGet, "/v1/runs/"+e.run, nil)
		if e.evaluated, e.evaluation = true, shown.EvaluationID; e.evaluation == "" {
			t.Fatalf("the run is %s: %v", shown.State, shown.Diagnostics)
		}
	}
}

func (m *apiMachine) review(t *rapid.T) {
	user, e := caller(t), m.anEntry(t)
	published := rapid.Bool().Draw(t, "published")
	blinded := rapid.Bool().Draw(t, "blinded")
	status := m.changeStatus(user, e, false, http.StatusOK)
	if status != http.StatusOK && !e.owned(user) { // a review is for the team and the organizers
		status = http.StatusNotFound
	}
	if m.ask("review", status, nil, user, http.MethodPatch, "/v1/runs/"+e.run+"/review",
		map[string]any{"published": published, "blinded": blinded}) {
		e.published, e.blinded = published, blinded
	}
}

func (m *apiMachine) changeEntry(t *rapid.T) {
	user := caller(t)
	e := m.anEntry(t)
	public := rapid.Bool().Draw(t, "public")
	visibility := map[bool]record.Visibility{true: record.Public, false: record.Private}[public]
	done := http.StatusOK
	if public && !e.public && !e.owned(user) { // what it says to all is the team's to decide
		done = http.StatusUnprocessableEntity
	}
	if m.ask("change the entry", m.changeStatus(user, e, true, done), nil, user, http.MethodPatch, e.path,
		map[string]any{"visibility": visibility}) {
		e.public = public
	}
}

func (m *apiMachine) delete(t *rapid.T) {
	user, e := caller(t), m.anEntry(t)
	done := http.StatusNoContent
	if e.published && !organizes(user) { // its results are public, and the organizers decide
		done = http.StatusConflict
	}
	if !m.ask("delete", m.changeStatus(user, e, true, done), nil, user, http.MethodDelete, e.path, nil) {
		return
	}
	e.byTeam = !organizes(user)
	for _, d := range servertest.List[record.Deletion](m.Server, "olga", "/v1/deletions?filter[taskId]="+servertest.ID(m.task)) {
		if d.Subject == e.path {
			e.deletion = "/v1/deletions/" + d.ID
		}
	}
	if e.deletion == "" {
		t.Fatalf("%s was deleted, and is not in the trash", e.path)
	}
}

func (m *apiMachine) restore(t *rapid.T) {
	user := caller(t)
	e := one(t, m.entries, func(e *apiEntry) bool { return e.deletion != "" })
	if e == nil {
		return
	}
	status := http.StatusNotFound
	if organizes(user) || e.byTeam && e.owned(user) {
		status = http.StatusNoContent
	}
	if m.ask("restore", status, nil, user, http.MethodDelete, e.deletion, nil) {
		e.deletion = ""
	}
}

// changeTask changes who sees the task, if the caller may and knows it as it is.
func (m *apiMachine) changeTask(t *rapid.T) {
	user := caller(t)
	private := rapid.Bool().Draw(t, "private")
	stale := rapid.Bool().Draw(t, "stale")
	tag := m.Do("olga", http.MethodGet, m.task, nil).Header.Get("ETag")
	status := m.taskStatus(user)
	switch {
	case organizes(user) && stale:
		tag, status = `"stale"`, http.StatusPreconditionFailed
	case m.seesTask(user) && !organizes(user):
		status = refusal(user)
	}
	text := m.name("Description")
	if m.ask("change the task", status, nil, user, http.MethodPatch, m.task,
		map[string]any{"visibility": map[bool]string{true: "private", false: "public"}[private], "description": text}, "If-Match", tag) {
		m.private, m.description = private, text
	}
}

// check compares what somebody sees with the model.
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
		var paths, runs []string
		for _, sub := range servertest.List[record.Submission](m.Server, user, m.task+"/submissions") {
			paths = append(paths, m.task+"/submissions/"+sub.ID)
		}
		if want := m.entriesSeen(user); !slices.Equal(paths, want) {
			t.Fatalf("%q is listed the entries %v, want %v", user, paths, want)
		}
		for _, e := range servertest.List[record.Evaluation](m.Server, user, m.task+"/evaluations") {
			runs = append(runs, fmt.Sprint(e.RunID, " of ", e.Team))
		}
		slices.Sort(runs)
		if !slices.Equal(runs, m.evaluationsSeen(user)) {
			t.Fatalf("%q is listed the evaluations %v, want %v", user, runs, m.evaluationsSeen(user))
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
	if e.evaluated {
		m.ask("see an evaluation", status(m.seesEvaluation(user, e)), nil, user, http.MethodGet, "/v1/evaluations/"+e.evaluation, nil)
	}
}
