//go:build !race

package functions_test

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/board"
)

// TestTags_OfBoardsIdentifyTheirBytes asks for leaderboards of the model with and without what is withheld, as each caller. All callers use
// one server, which remembers the tags of all answers. Equal tags at one address mean equal bytes, and withheld data changes no tag.
// A request with the tags of all earlier answers in If-None-Match is answered 304 only if the full answer has one of these tags.
func TestTags_OfBoardsIdentifyTheirBytes(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Now = func() time.Time { return modelTime }
	held := 0
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		held += heldBoards(t, s, newModel(seed))
	}
	if held == 0 {
		t.Error("no answer is 304")
	}
}

// heldBoards asks for the leaderboards of one model, and returns the number of 304 answers.
func heldBoards(t *testing.T, s *servertest.Server, m *model) (held int) {
	t.Helper()
	m.putObjects(t, s)
	requests := slices.DeleteFunc(m.requests(s), func(r modelRequest) bool {
		return r.method != http.MethodGet || !strings.Contains(r.path, "/evaluations") && !strings.Contains(r.path, "/leaderboard")
	})
	requests = sampled(t, requests)
	bodies := map[string]map[string]string{} // by address and tag
	for _, caller := range modelCallers {
		full := map[string]string{} // tags with what is withheld
		for _, withhold := range []bool{false, true} {
			from, boards := m.store(t, caller, withhold), board.NewBoards()
			for _, r := range requests {
				address := r.path + strings.Join(r.headers, " ")
				answer := func(headers ...string) servertest.Answer {
					s.Use(from)
					s.Boards = boards
					return s.Do(caller, r.method, r.path, nil, slices.Concat(r.headers, headers)...)
				}
				known := strings.Join(slices.Sorted(maps.Keys(bodies[address])), ", ")
				first := answer("If-None-Match", known)
				a := answer()
				tag := a.Header.Get("ETag")
				if tag == "" || a.Status != http.StatusOK {
					continue
				}
				wanted := http.StatusOK
				if strings.Contains(known, tag) {
					wanted = http.StatusNotModified
					held++
				}
				if first.Status != wanted || first.Header.Get("ETag") != tag {
					t.Errorf("%s as %q, who has %s: %d with the tag %s, want %d with %s", address, caller, known, first.Status,
						first.Header.Get("ETag"), wanted, tag)
				}
				full[address] = cmp.Or(full[address], tag)
				if full[address] != tag {
					t.Errorf("%s as %q has another tag without what is withheld", address, caller)
				}
				if body, sent := bodies[address][tag]; sent && body != string(a.Body) {
					t.Fatalf("%s as %q: two answers have the tag %s:\n%s\n%s", address, caller, tag, body, a.Body)
				}
				if bodies[address] == nil {
					bodies[address] = map[string]string{}
				}
				bodies[address][tag] = string(a.Body)
			}
		}
	}
	return held
}
