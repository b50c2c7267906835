//go:build !race

package functions_test

import (
	"fmt"
	"net/http"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"

	"pgregory.net/rapid"
)

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

// teamStatus returns the status of a change that organizers may make to a team.
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

// rename changes the name and the anonymity of a team.
func (m *apiMachine) rename(t *rapid.T) {
	user, team := participant(t), m.aTeam(t)
	name, anonymous := m.name("Renamed"), rapid.Bool().Draw(t, "anonymous")
	status := m.teamStatus(user, team, true)
	switch {
	case status == http.StatusNotFound:
	case team.state == record.Rejected: // the organizers have decided about its details
		status = http.StatusConflict
	case status == http.StatusForbidden: // a member may change other members of the registration
		status = http.StatusUnprocessableEntity
	}
	if m.ask("rename", status, nil, user, http.MethodPatch, team.path,
		map[string]any{"team": name, "anonymous": anonymous}) {
		team.name, team.anonymous = name, anonymous
	}
}

// invite makes an invitation of a team and lets a user join by it.
func (m *apiMachine) invite(t *rapid.T) {
	team, user := m.aTeam(t), rapid.SampledFrom(apiCallers[1:5]).Draw(t, "joins")
	status := http.StatusCreated
	if team.state == record.Rejected {
		status = http.StatusConflict
	}
	var made struct{ Secret string }
	if !m.ask("invite", status, &made, team.members[0], http.MethodPost, team.path+"/invitations", map[string]any{}) {
		return
	}
	if m.of(user) != nil {
		status = http.StatusConflict
	}
	if m.ask("join", status, nil, user, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": made.Secret}) {
		team.members = append(team.members, user)
	}
}

// leave removes a member other than the owner from a team. The caller may lack the right to do so.
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
	case team.state == record.Rejected && !organizes(user): // only organizers change the members of a rejected team
		status = http.StatusForbidden
	default:
		status = http.StatusNoContent
	}
	if m.ask("leave", status, nil, user, http.MethodDelete, team.path+"/members/"+recordtest.UserID(leaves), nil) {
		team.members = slices.DeleteFunc(team.members, func(member string) bool { return member == leaves })
		m.left = append(m.left, leaves)
	}
}

func item(t *rapid.T) int { return rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "item") }

func draft(t *rapid.T) apiDraft {
	return apiDraft{public: rapid.Bool().Draw(t, "public"), item: item(t)}
}

func (m *apiMachine) submit(t *rapid.T) {
	m.submitAs(caller(t), draft(t), true)
}

// repeat submits a draft, mostly of an earlier entry and for its team, unless that entry still stands.
func (m *apiMachine) repeat(t *rapid.T) {
	user, d := caller(t), draft(t)
	if rapid.IntRange(0, 3).Draw(t, "repeats") > 0 {
		e := m.anEntry(t)
		user, d = rapid.SampledFrom(e.team.members).Draw(t, "member"), e.draft
	}
	m.submitAs(user, d, false)
}

// submitAs submits a draft. It is answered with an earlier entry if again is false and the draft repeats that entry.
func (m *apiMachine) submitAs(user string, d apiDraft, again bool) {
	team := m.of(user)
	if m.total > 0 && team != nil && slices.ContainsFunc(team.members, func(u string) bool { return slices.Contains(m.left, u) }) {
		return // a user carries the usage of an earlier team to the next; the tests of shared/service/team check how much
	}
	if m.blinds && len(m.entriesOf(team)) == record.MaxTruthFailures {
		return // further blinded runs may not fail; the tests of the evaluator check how they complete
	}
	body := servertest.Upload(servertest.ID(m.dataset), servertest.Inline("run.csv", fmt.Sprintf("id,label\n%d,a\n", d.item)))
	body["visibility"] = map[bool]record.Visibility{true: record.Public, false: record.Private}[d.public]
	body["again"] = again
	status := m.submitStatus(user, d, again)
	var made record.Submission
	if !m.ask(map[bool]string{true: "submit", false: "repeat"}[again], status, &made, user, http.MethodPost, m.task+"/submissions", body) {
		return
	}
	path := m.task + "/submissions/" + made.ID
	if status == http.StatusOK {
		if earlier := m.repeated(team, d); path != earlier.path {
			m.t.Fatalf("a repeated draft is answered with %s, want %s", path, earlier.path)
		}
		return
	}
	m.entries = append(m.entries, &apiEntry{path: path, run: made.RunIDs[0], team: team, draft: d, public: d.public, blinded: m.blinds,
		state: record.Queued, charged: true})
}

// cancel cancels a run.
func (m *apiMachine) cancel(t *rapid.T) {
	user, e := caller(t), m.anEntry(t)
	done := http.StatusOK
	if e.state == record.Completed || e.state == record.Failed || e.evaluation != "" {
		done = http.StatusConflict
	}
	if m.ask("cancel", m.changeStatus(user, e, true, done), nil, user, http.MethodPatch, "/v1/runs/"+e.run,
		map[string]any{"state": record.Cancelled}) {
		e.state, e.charged = record.Cancelled, false
	}
}

// evaluate evaluates all submitted runs, until lists show the results.
func (m *apiMachine) evaluate(t *rapid.T) {
	m.work()
	for _, e := range m.entries {
		if e.state != record.Queued || e.deletion != "" {
			continue
		}
		m.workers.evaluate(e.run)
		var shown record.Run
		m.ask("evaluated", http.StatusOK, &shown, "olga", http.MethodGet, "/v1/runs/"+e.run, nil)
		e.state, e.evaluation = shown.State, shown.EvaluationID
		if want := map[bool]record.RunState{true: record.Completed, false: record.Failed}[m.completes(e.draft)]; e.state != want {
			t.Fatalf("the run is %s, want %s: %v", e.state, want, shown.Diagnostics)
		}
		e.listed = e.state == record.Completed
		e.charged = e.listed
		e.tried = true
		if e.listed {
			e.ranked = append(e.ranked, m.truth)
		}
	}
	m.work()
}

// work does the work that is due within a minute. It queues outdated runs again. If no run is evaluated again, the leaderboard shows the
// newest truth.
func (m *apiMachine) work() {
	m.nextMinute()
	waits := false
	for _, e := range m.entries {
		if e.deletion != "" {
			continue
		}
		if e.outdated {
			e.state, e.outdated = record.Queued, false
		}
		waits = waits || e.state == record.Queued && e.tried
	}
	if !waits {
		m.board = m.truth
	}
}

// changeTruth gives the dataset another truth, if the caller may do so. Lists show the earlier results until the runs are evaluated again.
func (m *apiMachine) changeTruth(t *rapid.T) {
	user := rapid.SampledFrom([]string{"olga", "eddy", caller(t)}).Draw(t, "changes")
	of := item(t)
	status := m.taskStatus(user)
	if m.seesTask(user) && !organizes(user) {
		status = refusal(user)
	}
	truth := fmt.Sprintf("id,label,note\n%d,a,%s\n", of, m.name("Truth"))
	if !m.ask("change the truth", status, nil, user, http.MethodPatch, m.dataset,
		map[string]any{"truths": []any{servertest.Inline("truth.csv", truth)}}) {
		return
	}
	m.item = of
	m.truth++
	for _, e := range m.entries {
		e.outdated = e.state == record.Completed || e.state == record.Failed
	}
	m.repeat(t) // which is a new submission until the completed runs are queued again
	if rapid.Bool().Draw(t, "works") {
		m.work()
	}
}

func (m *apiMachine) review(t *rapid.T) {
	user, e := caller(t), m.anEntry(t)
	published := rapid.Bool().Draw(t, "published")
	blinded := rapid.Bool().Draw(t, "blinded")
	status := m.changeStatus(user, e, false, http.StatusOK)
	if status != http.StatusOK && !e.owned(user) { // only the team and the organizers read a review
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
	if public && !e.public && !e.owned(user) { // only the team decides what everyone may see
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
	if e.published && !organizes(user) { // the results are public, so only the organizers decide
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
	var status int
	switch {
	case organizes(user), e.byTeam && e.owned(user) && m.accepted(user):
		status = http.StatusNoContent
	case e.owned(user): // a team restores only what it deleted, and only while it may submit
		status = http.StatusForbidden
	default:
		status = http.StatusNotFound
	}
	if m.ask("restore", status, nil, user, http.MethodDelete, e.deletion, nil) {
		e.deletion = ""
	}
}

// changeTask changes who sees the task, if the caller may do so and knows its present version.
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
