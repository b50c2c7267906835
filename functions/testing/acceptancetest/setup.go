// Package acceptancetest checks the promises of Assay on a running server, only over HTTP. The same tests run against the local
// program, an emulated cloud and a deployed cloud.
package acceptancetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"assay/shared/edge/api/apitest"
	"assay/shared/testing/nightlytest"
)

// Setup is a server to test. Its store need not be empty: the tests create all resources that they need and depend on no others.
type Setup struct {
	URL    string                                     // base URL, without a slash at its end
	Token  func(user string, groups ...string) string // returns a token of the server's issuer; groups are admins and workers
	Client *http.Client
	Keep   bool // leaves out the last step of the Scenario, which deletes the resources

	revisions *revisions // nil: versions are not compared
}

// Suites returns the tests that a server passes with every store: the scenario and, at night, the tests of access rights. Each
// change runs the tests of access rights only with the embedded store, because the rules of access do not depend on the store.
func Suites() map[string]func(*testing.T, Setup) {
	suites := map[string]func(*testing.T, Setup){"Scenario": Scenario}
	if nightlytest.Enabled {
		suites["AccessMatrix"] = AccessMatrix
		suites["HiddenIsMissing"] = HiddenIsMissing
	}
	return suites
}

// contract returns the contract of the server's OpenAPI document.
func (s Setup) contract(t testing.TB) *apitest.Contract {
	t.Helper()
	document := s.want(t, http.StatusOK, nil, "", http.MethodGet, "/openapi.json", nil)
	return apitest.New(t, document.body, "/dev/", "/files/")
}

// checked returns the same server with a client that checks every exchange against the contract.
func (s Setup) checked(t testing.TB, c *apitest.Contract) Setup {
	client, base := *s.Client, s.Client.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	client.Transport = &checking{s.URL + "/", c.Transport(t, base), base}
	s.Client = &client
	return s
}

// checking sends requests to the server by one transport and other requests, for example to an object store, by another one.
type checking struct {
	prefix         string
	server, others http.RoundTripper
}

func (c *checking) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.String(), c.prefix) {
		return c.server.RoundTrip(r)
	}
	return c.others.RoundTrip(r)
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request with the token, or without one if the token is empty. It sends a string or bytes unchanged, and other
// bodies as JSON. headers are pairs of name and value. A path may also be a whole URL.
func (s Setup) send(t testing.TB, token, method, path string, body any, headers ...string) answer {
	t.Helper()
	var content []byte
	switch b := body.(type) {
	case nil:
	case string:
		content = []byte(b)
	case []byte:
		content = b
	default:
		var err error
		if content, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasPrefix(path, "/") {
		path = s.URL + path
	}
	r, err := http.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // the body is read to its end
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{resp.StatusCode, resp.Header, got}
	s.revisions.check(t, r, a)
	return a
}

// want sends a request and requires the status. It decodes the body into v unless v is nil.
func (s Setup) want(t testing.TB, status int, v any, token, method, path string, body any) answer {
	t.Helper()
	a := s.send(t, token, method, path, body)
	if a.status != status {
		t.Fatalf("%s %s: status %d, want %d\n%s", method, path, a.status, status, a.body)
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			t.Fatalf("%s %s: %v\n%s", method, path, err, a.body)
		}
	}
	return a
}

// create posts the body and returns the path of the new resource.
func (s Setup) create(t testing.TB, token, path string, body any) string {
	t.Helper()
	a := s.want(t, http.StatusCreated, nil, token, http.MethodPost, path, body)
	if tag := a.header.Get("ETag"); tag != "" && !strings.Contains(tag, "-") {
		t.Errorf("POST %s answers with the tag %s, under which nothing can be changed", path, tag)
	}
	return a.header.Get("Location")
}

// invite makes an invitation to the resource at the path. It returns the path and the secret of the invitation.
func (s Setup) invite(t testing.TB, token, path string, draft map[string]any) (at, secret string) {
	t.Helper()
	var made struct{ Secret string }
	a := s.want(t, http.StatusCreated, &made, token, http.MethodPost, path+"/invitations", draft)
	return a.header.Get("Location"), made.Secret
}

// id returns the last segment of a path.
func id(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// revisions remembers what each caller saw of each version of a resource. If two answers of the same version differ, the server
// forgot to raise the version. A change with its entity tag could then overwrite data that its author never saw.
type revisions struct {
	mu    sync.Mutex
	shown map[string]string // bodies without what is derived, by caller, resource and version
}

// derived matches the parts of a resource that the server computes for each answer and that its version does not count: links, the order
// of the dataset's columns, what is left of a quota, the diagnostics about pools without workers, which come after others, and the
// exceptions of a team, which have versions of their own. A change of these parts changes the rest of the entity tag.
var derived = regexp.MustCompile(`"columns":\[("[^"]*",?)*\],?|"(url|expiresAt)":"[^"]*"|"(nextAt|resetsAt)":"[^"]*",?|"(left|remainingToday)":\d+,?|` +
	`,"exceptions":\[[^\]]*\]|,"diagnostics":\[(` + unserved + `,?)*\]|,` + unserved)

const unserved = `\{"severity":"warning","message":"No worker of the pool [^}]*\}`

// check compares the resource in the answer to a GET or a PATCH with earlier answers of the same version.
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
