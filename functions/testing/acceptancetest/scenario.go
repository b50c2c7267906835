package acceptancetest

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/api/apitest"
)

// Scenario drives a server from the first request of an organizer to leaderboards of real data, to their correction, and to the
// deletion of everything. Its steps depend on each other, so the first failure ends it. It checks every exchange against the
// server's OpenAPI document. It also searches every answer for the names behind an alias, unless the caller may know them.
func Scenario(t *testing.T, s Setup) {
	s.revisions = new(revisions)
	st := newScenario(t, s)
	steps := []struct {
		name string
		run  func(*scenario)
	}{
		{"organizer", (*scenario).organizer},
		{"tasks", (*scenario).tasks},
		{"datasets", (*scenario).datasets},
		{"registrations", (*scenario).registrations},
		{"uploads", (*scenario).uploads},
		{"quotas", (*scenario).quotas},
		{"leaderboard", (*scenario).leaderboard},
		{"renamed team", (*scenario).renamed},
		{"tools", (*scenario).tools},
		{"lists", (*scenario).lists},
		{"filters", (*scenario).filters},
		{"changed truth", (*scenario).changedTruth},
		{"patches", (*scenario).patches},
		{"protocol", (*scenario).protocol},
		{"malformed requests", (*scenario).malformedRequests},
		{"team", (*scenario).team},
		{"phases", (*scenario).phases},
		{"announced results", (*scenario).announced},
		{"deletions", (*scenario).deletions},
	}
	if s.Keep {
		steps = steps[:len(steps)-1]
	}
	for _, step := range steps {
		passed := t.Run(step.name, func(t *testing.T) {
			st.t = t
			st.api = s.checked(t, st.contract)
			step.run(st)
		})
		if !passed {
			return
		}
	}
}

// scenario holds the resources of the steps so far.
type scenario struct {
	t        *testing.T // of the current step
	api      Setup      // its client checks each exchange
	contract *apitest.Contract
	tail     string // makes names unique to this scenario
	secrets  []string

	anyone, olivia, ann, ben, carl, pia, sam, gil, hal, ida, admin user

	organizerPath                      string
	public, private, limited           string // paths of tasks
	news, cacm, hidden, little         string // ids of datasets: two of the public task, one of the private task, one of the limited task
	annRegistration, benRegistration   string // paths in the public task
	annNews, annCACM, benBoth, benCACM entry
	firstEvaluation                    record.Evaluation // of annNews, against the first truth

	phased, phase, grebes string // paths of a task with phases, of its dataset, and of the team of gil, hal and ida
	allRight, halfRight   entry  // submissions of that team
}

// entry holds the paths of a submission and its runs.
type entry struct {
	path string
	runs []string
}

func newScenario(t *testing.T, s Setup) *scenario {
	t.Helper()
	st := &scenario{t: t, api: s, contract: s.contract(t), tail: strings.ToLower(rand.Text()[:10])}
	st.anyone = user{name: "anyone"}
	for name, p := range map[string]*user{
		"olivia": &st.olivia, "ann": &st.ann, "ben": &st.ben, "carl": &st.carl, "pia": &st.pia, "sam": &st.sam, "gil": &st.gil,
		"hal": &st.hal, "ida": &st.ida, "admin": &st.admin,
	} {
		*p = user{name: name + "-" + st.tail, trusted: slices.Contains([]string{"olivia", "ann", "gil", "hal", "ida", "admin"}, name)}
		if name == "admin" {
			p.token = s.Token(p.name, "admins")
		} else {
			p.token = s.Token(p.name)
		}
		var me struct{ ID string }
		s.want(t, http.StatusOK, &me, p.token, http.MethodGet, "/v1/user", nil)
		p.id = me.ID
	}
	st.secrets = []string{st.annTeam(), st.annContact(), st.gilTeam()}
	for _, u := range []user{st.ann, st.gil, st.hal, st.ida} {
		st.secrets = append(st.secrets, u.id, u.name)
	}
	return st
}

// annTeam and annContact belong to the anonymous team. Only the organizers may see them.
func (st *scenario) annTeam() string    { return "Heron " + st.tail }
func (st *scenario) annContact() string { return "heron@" + st.tail + ".example" }
