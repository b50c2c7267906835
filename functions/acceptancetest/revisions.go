package acceptancetest

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// revisions remembers what each caller was shown of each resource in each version. A version that is shown in two ways is
// one that somebody forgot to raise: with its entity tag, a change could overwrite what its author never saw.
type revisions struct {
	mu    sync.Mutex
	shown map[string]string // bodies without what is derived, by caller, resource and version
}

// derived matches the parts of a resource that the server computes for each answer, which the version does not count: links,
// and the diagnostics that no worker serves a pool, which come after others. Their change changes the rest of the entity tag.
var derived = regexp.MustCompile(`"(url|expiresAt)":"[^"]*"|,"diagnostics":\[(` + unserved + `,?)*\]|,` + unserved)

const unserved = `\{"severity":"warning","message":"No worker of the pool [^}]*\}`

// check holds what a resource is shown as, by an answer to a GET or a PATCH, against what was answered before.
func (r *revisions) check(t testing.TB, request *http.Request, a answer) {
	t.Helper()
	version, _, versioned := strings.Cut(strings.Trim(a.header.Get("ETag"), `"`), "-")
	if r == nil || !versioned || a.status != http.StatusOK || request.Method != http.MethodGet && request.Method != http.MethodPatch {
		return
	}
	key := strings.Join([]string{request.Header.Get("Authorization"), request.Header.Get("Accept"), request.URL.String(), version}, " ")
	body := derived.ReplaceAllString(string(a.body), "")
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, known := r.shown[key]; known && before != body {
		t.Errorf("%s %s is answered with version %s as before, and differs:\n%s", request.Method, request.URL, version, a.body)
	}
	if r.shown == nil {
		r.shown = map[string]string{}
	}
	r.shown[key] = body
}
