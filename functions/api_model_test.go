//go:build !race

package functions_test

import (
	"fmt"
	"slices"

	"assay/shared/domain/record"
)

// apiCallers are the callers of the model: nobody, participants, an organizer's owner and editor, and an administrator.
var apiCallers = []string{"", "ada", "bob", "cy", "dora", "olga", "eddy", "root"}

// apiModel describes an organizer's task in the simplest way. It repeats the rules of the API in terms of what callers see,
// without scopes, audiences and grants.
type apiModel struct {
	task        string // path
	dataset     string
	private     bool
	approval    bool // new registrations wait for the organizers
	blinds      bool // runs are blinded from the start
	total       int  // runs of a team; 0 means no limit
	item        int  // the only item of the truth
	truth       int  // truth version
	board       int  // truth version whose results the leaderboard shows
	description string
	teams       []*apiTeam
	left        []string // users who left a team
	entries     []*apiEntry
}

type apiTeam struct {
	path, name, alias string
	anonymous         bool
	members           []string // the owner first
	state             record.RegistrationState
}

// apiDraft is what a submission says. Two requests with equal drafts from one team submit the same.
type apiDraft struct {
	public bool
	item   int // the only item of the file
}

type apiEntry struct {
	path, run          string
	team               *apiTeam
	draft              apiDraft
	public             bool
	state              record.RunState // queued, completed, failed or cancelled
	outdated           bool            // it was evaluated against an earlier truth, and is not queued again yet
	charged            bool            // it counts in the quota of the team
	evaluation         string          // the newest one
	listed             bool            // lists show an evaluation of the run
	tried              bool            // it was evaluated at least once
	ranked             []int           // truth versions against which its evaluations completed
	published, blinded bool
	deletion           string // path of its entry in the trash, if it is there
	byTeam             bool   // the team deleted it, and may restore it while its registration is accepted
}

func organizes(caller string) bool { return caller == "olga" || caller == "eddy" || caller == "root" }

// of returns the team of the caller, or nil.
func (m *apiModel) of(caller string) *apiTeam {
	for _, t := range m.teams {
		if slices.Contains(t.members, caller) {
			return t
		}
	}
	return nil
}

// accepted reports whether the caller takes part.
func (m *apiModel) accepted(caller string) bool {
	t := m.of(caller)
	return t != nil && t.state == record.Accepted
}

// seesTask reports whether the caller sees the task.
func (m *apiModel) seesTask(caller string) bool {
	return !m.private || organizes(caller) || m.accepted(caller)
}

// taskStatus returns the status of a GET of the task, or of a list below it.
func (m *apiModel) taskStatus(caller string) int {
	switch {
	case m.seesTask(caller):
		return 200
	case m.of(caller) != nil: // a member of a pending or rejected team knows of the task
		return 403
	default:
		return 404
	}
}

// refusal returns the status of a refused change of a resource that the caller sees.
func refusal(caller string) int {
	if caller == "" {
		return 401
	}
	return 403
}

func (e *apiEntry) owned(caller string) bool { return slices.Contains(e.team.members, caller) }

func (m *apiModel) seesEntry(caller string, e *apiEntry) bool {
	return e.deletion == "" && (organizes(caller) || e.owned(caller) || e.public && m.seesTask(caller))
}

// seesResults reports whether the caller sees evaluations of the entry, if there are any.
func (m *apiModel) seesResults(caller string, e *apiEntry) bool {
	switch {
	case e.deletion != "":
		return false
	case organizes(caller):
		return true
	case e.owned(caller):
		return !e.blinded
	default:
		return e.published && !e.blinded && m.seesTask(caller)
	}
}

// changeStatus returns the status of a change that only organizers may make. If team is true, the entry's team may make it, too.
func (m *apiModel) changeStatus(caller string, e *apiEntry, team bool, done int) int {
	switch {
	case !m.seesEntry(caller, e):
		return 404
	case organizes(caller), team && e.owned(caller):
		return done
	default:
		return refusal(caller)
	}
}

// shownTo returns the name of the team that the caller sees.
func (t *apiTeam) shownTo(caller string) string {
	if t.anonymous && !organizes(caller) && !slices.Contains(t.members, caller) {
		return t.alias
	}
	return t.name
}

// completes reports whether the evaluation of a file of the draft completes. Otherwise it fails, because the truth lacks the item.
func (m *apiModel) completes(d apiDraft) bool { return d.item == m.item }

// entriesOf returns the entries of the team.
func (m *apiModel) entriesOf(t *apiTeam) (all []*apiEntry) {
	for _, e := range m.entries {
		if e.team == t {
			all = append(all, e)
		}
	}
	return all
}

// used counts the runs of the team against its quota. Deleted runs count, too. Failed and cancelled ones do not.
func (m *apiModel) used(t *apiTeam) (n int) {
	for _, e := range m.entriesOf(t) {
		if e.charged {
			n++
		}
	}
	return n
}

func (m *apiModel) registerStatus(caller string) int {
	switch {
	case !m.seesTask(caller):
		return m.taskStatus(caller)
	case caller == "":
		return 401
	case m.of(caller) != nil:
		return 409
	default:
		return 201
	}
}

// repeated returns the entry that a request with the draft repeats, or nil. It is the team's latest one with this draft, while its run
// waits or is completed against the current truth.
func (m *apiModel) repeated(t *apiTeam, d apiDraft) *apiEntry {
	for _, e := range slices.Backward(m.entries) {
		if e.team == t && e.draft == d {
			if e.deletion != "" || e.outdated || e.state == record.Failed || e.state == record.Cancelled {
				return nil
			}
			return e
		}
	}
	return nil
}

// submitStatus returns the status of a request that submits a draft. It may repeat an earlier one unless again is true.
func (m *apiModel) submitStatus(caller string, d apiDraft, again bool) int {
	t := m.of(caller)
	switch {
	case !m.seesTask(caller):
		return m.taskStatus(caller)
	case !m.accepted(caller):
		return refusal(caller)
	case !again && m.repeated(t, d) != nil:
		return 200
	case m.total > 0 && m.used(t) >= m.total:
		return 403
	default:
		return 201
	}
}

// entriesSeen returns the paths of the submissions that the caller sees, in the order of the API.
func (m *apiModel) entriesSeen(caller string) (paths []string) {
	for _, e := range slices.Backward(m.entries) {
		if m.seesEntry(caller, e) {
			paths = append(paths, e.path)
		}
	}
	return paths
}

// listed returns the runs whose evaluation the caller sees in lists, with the visible name of the team.
func (m *apiModel) listed(caller string) []string {
	return m.resultsSeen(caller, func(e *apiEntry) bool { return e.listed })
}

// ranked returns the runs that the caller sees on the leaderboard, with the visible name of the team.
func (m *apiModel) ranked(caller string) []string {
	return m.resultsSeen(caller, func(e *apiEntry) bool { return slices.Contains(e.ranked, m.board) })
}

func (m *apiModel) resultsSeen(caller string, which func(*apiEntry) bool) (runs []string) {
	for _, e := range m.entries {
		if which(e) && m.seesResults(caller, e) {
			runs = append(runs, fmt.Sprint(e.run, " of ", e.team.shownTo(caller)))
		}
	}
	slices.Sort(runs)
	return runs
}
