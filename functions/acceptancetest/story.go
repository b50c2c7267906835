package acceptancetest

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/apitest"
	"assay/shared/record"
)

// Story drives the server from an organizer's first request to leaderboards on real data, their correction, and the end
// of it all. Its chapters build on each other, so that the first that fails ends it. Every exchange is held against the
// document that the server describes itself with, and every answer to somebody who may not know which team stands behind
// an alias is searched for that team.
func Story(t *testing.T, s Setup) {
	s.revisions = new(revisions)
	st := newStory(t, s)
	chapters := []struct {
		title string
		tell  func(*story)
	}{
		{"an organizer is founded", (*story).organizer},
		{"tasks are public or hidden", (*story).tasks},
		{"datasets keep their truth", (*story).datasets},
		{"teams register", (*story).registrations},
		{"runs are uploaded", (*story).uploads},
		{"wrong files are diagnosed", (*story).wrongFiles},
		{"quotas and windows hold", (*story).quotas},
		{"blinded results stay with the organizers", (*story).blinded},
		{"published results make a leaderboard", (*story).leaderboard},
		{"aliases hide teams", (*story).aliases},
		{"tools look at what their callers may", (*story).tools},
		{"lists go on at their cursor", (*story).lists},
		{"filters keep what has the value", (*story).filters},
		{"a changed truth evaluates everything again", (*story).changedTruth},
		{"changes are told", (*story).audit},
		{"patches hold or fail whole", (*story).patches},
		{"a repeated POST makes one thing", (*story).repeats},
		{"the protocol is kept", (*story).protocol},
		{"nothing provokes a panic", (*story).hostility},
		{"things go when nothing needs them", (*story).deletions},
	}
	if s.Keep {
		chapters = chapters[:len(chapters)-1]
	}
	for _, chapter := range chapters {
		told := t.Run(chapter.title, func(t *testing.T) {
			st.t = t
			st.api = s.checked(t, st.contract)
			chapter.tell(st)
		})
		if !told {
			return
		}
	}
}

// story is what has happened so far.
type story struct {
	t        *testing.T // of the chapter
	api      Setup      // its client checks what it carries
	contract *apitest.Contract
	tail     string // makes names that no other run of the story has
	secrets  []string

	nobody, olivia, ann, ben, carl, pia, sam, admin person

	organizerPath                      string
	public, private, limited           string // paths of tasks
	news, cacm, hidden, little         string // ids of datasets: two of the public task, one of the private, one of the limited
	annRegistration, benRegistration   string // paths, in the public task
	carlRegistration                   string
	annNews, annCACM, benBoth, benCACM entry
	firstEvaluation                    record.Evaluation // of annNews, by the first truth
}

// entry is a submission with its runs, as paths.
type entry struct {
	path string
	runs []string
}

func newStory(t *testing.T, s Setup) *story {
	t.Helper()
	st := &story{t: t, api: s, contract: s.contract(t), tail: strings.ToLower(rand.Text()[:10])}
	st.nobody = person{name: "nobody"}
	for name, p := range map[string]*person{
		"olivia": &st.olivia, "ann": &st.ann, "ben": &st.ben, "carl": &st.carl, "pia": &st.pia, "sam": &st.sam, "admin": &st.admin,
	} {
		*p = person{name: name + "-" + st.tail, trusted: name == "olivia" || name == "ann" || name == "admin"}
		if name == "admin" {
			p.token = s.Token(p.name, "admins")
		} else {
			p.token = s.Token(p.name)
		}
		var me struct{ ID string }
		s.want(t, http.StatusOK, &me, p.token, http.MethodGet, "/v1/user", nil)
		p.id = me.ID
	}
	st.secrets = []string{st.ann.id, st.ann.name, st.annTeam(), st.annContact()}
	return st
}

// known returns the id of a user who has become known by a first change.
func (st *story) known(name string) string {
	st.t.Helper()
	var me struct{ ID string }
	st.api.want(st.t, http.StatusOK, &me, st.api.Token(name), http.MethodPatch, "/v1/user", map[string]any{})
	return me.ID
}

// annTeam and annContact are what only the organizers know of the anonymous team.
func (st *story) annTeam() string    { return "Heron " + st.tail }
func (st *story) annContact() string { return "heron@" + st.tail + ".example" }
