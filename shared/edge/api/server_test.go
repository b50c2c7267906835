package api_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/panics"
	"assay/shared/language/problem"
)

func TestServer_AnswersEveryAddressAndMethod(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	for _, c := range []struct {
		method, path string
		kind         *problem.Kind
		allow        string
	}{
		{"GET", "/v2", problem.NotFound, ""},
		{"PUT", "/v2", problem.NotFound, ""},
		{"OPTIONS", "/v2", problem.NotFound, ""},
		{"GET", "/v1/notes/", problem.NotFound, ""},
		{"GET", "/v1//notes", problem.NotFound, ""},
		{"GET", "/v1/../v1/notes", problem.NotFound, ""},
		{"GET", "/v1/%2e%2e/v1/notes", problem.NotFound, ""},
		{"GET", "/v1/notes/x", problem.NotFound, ""},
		{"GET", path + "%2F", problem.NotFound, ""},
		{"GET", path + "/more", problem.NotFound, ""},
		{"GET", "/V1/notes", problem.NotFound, ""},
		{"PUT", "/v1/notes", problem.MethodNotAllowed, "GET, HEAD, POST, OPTIONS"},
		{"DELETE", "/v1/notes", problem.MethodNotAllowed, "GET, HEAD, POST, OPTIONS"},
		{"POST", path, problem.MethodNotAllowed, "GET, HEAD, PATCH, DELETE, OPTIONS"},
		{"TRACE", path, problem.MethodNotAllowed, "GET, HEAD, PATCH, DELETE, OPTIONS"},
		{"get", path, problem.MethodNotAllowed, "GET, HEAD, PATCH, DELETE, OPTIONS"},
		{"GET", "/v1/copies", problem.MethodNotAllowed, "POST, OPTIONS"},
		{"HEAD", "/v1/copies", problem.MethodNotAllowed, "POST, OPTIONS"},
	} {
		a := s.Do("alice", c.method, c.path, nil)
		if a.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: Allow is %q, want %q", c.method, c.path, a.Header.Get("Allow"), c.allow)
		}
		if c.method == http.MethodHead {
			if a.Status != c.kind.Status || len(a.Body) > 0 {
				t.Errorf("%s %s: %d %s", c.method, c.path, a.Status, a.Body)
			}
			continue
		}
		refused(t, a, c.kind)
	}
}

func TestHead_IsGetWithoutBody(t *testing.T) {
	s := serve(t)
	long := s.Create("alice", "/v1/notes", map[string]any{"name": "long", "text": strings.Repeat("a text of some length, ", 200)})
	for _, path := range []string{s.note("one"), long, "/v1/notes", "/v1/notes?filter[name]=none", "/v1/text"} {
		get := s.Do("", http.MethodGet, path, nil, "Accept-Encoding", "gzip")
		head := s.Do("", http.MethodHead, path, nil, "Accept-Encoding", "gzip")
		if head.Status != get.Status || len(head.Body) > 0 {
			t.Errorf("HEAD %s: %d with %d bytes", path, head.Status, len(head.Body))
		}
		for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Length", "ETag", "Cache-Control", "Vary", "Link"} {
			if get.Header.Get(name) != head.Header.Get(name) {
				t.Errorf("HEAD %s: %s is %q, and for GET %q", path, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
		if v := get.Header.Values("Vary"); len(v) != 1 || v[0] != "Origin, Authorization, Accept, Accept-Encoding" {
			t.Errorf("GET %s: Vary is %q", path, v)
		}
	}
}

func TestRequestID_IsTakenOrMade(t *testing.T) {
	s := serve(t)
	for given, taken := range map[string]bool{
		"abc-1.2:3_X": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "a b": false, `"`: false, "ä": false, "": false,
	} {
		got := s.Do("", http.MethodGet, "/v1/notes", nil, "X-Request-Id", given).Header.Get("X-Request-Id")
		if taken && got != given || !taken && !record.IsID(got) {
			t.Errorf("%q became %q", given, got)
		}
	}
}

func TestToken_InvalidIsRefusedEverywhere(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	for _, header := range []string{"Bearer bad", "Bearer", "Basic YTpi", "alice", ""} {
		for _, address := range []string{path, "/v2", "/v1//notes"} {
			a := s.Do("", http.MethodGet, address, nil, "Authorization", header)
			refused(t, a, problem.InvalidToken)
			if got := a.Header.Get("WWW-Authenticate"); got != `Bearer error="invalid_token"` {
				t.Errorf("%q: WWW-Authenticate is %q", header, got)
			}
		}
	}
	s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Authorization", "bearer   alice")
	a := s.Do("", http.MethodPost, "/v1/notes", `no JSON`)
	refused(t, a, problem.Unauthorized)
	if got := a.Header.Get("WWW-Authenticate"); got != "Bearer" {
		t.Errorf("WWW-Authenticate is %q", got)
	}
	refused(t, s.Do("", http.MethodPost, "/v1/copies", `no JSON`), problem.Unauthorized)
	refused(t, s.Do("", http.MethodPatch, path, `no JSON`), problem.Unauthorized)
	refused(t, s.Do("bob", http.MethodPatch, path, `no JSON`), problem.Forbidden)
}

// A hidden target is answered like a missing one, before the rest of the request is checked.
func TestTarget_HiddenIsAnsweredAsMissing(t *testing.T) {
	s := serve(t)
	hidden := s.Create("alice", "/v1/notes", map[string]any{"name": "one", "hide": true})
	missing := "/v1/notes/" + record.NewID(time.Now())
	for _, user := range []string{"", "bob"} {
		for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
			for _, query := range []string{"", "?colour=red"} {
				x := s.Do(user, method, hidden+query, nil, "If-Match", `"1"`)
				y := s.Do(user, method, missing+query, nil, "If-Match", `"1"`)
				dx, dy := refused(t, x, problem.NotFound), refused(t, y, problem.NotFound)
				dx.Instance = ""
				dx.RequestID = ""
				dy.Instance = ""
				dy.RequestID = ""
				if dx.Detail != dy.Detail || len(x.Header) != len(y.Header) {
					t.Errorf("%s as %q: %+v, and of what is missing %+v", method, user, dx, dy)
				}
			}
		}
	}
	for _, id := range []string{hidden[len("/v1/notes/"):], missing[len("/v1/notes/"):], "x", ""} {
		d := refused(t, s.Do("bob", http.MethodPost, "/v1/copies", map[string]any{"noteId": id}), problem.Invalid)
		if len(d.Errors) != 1 || d.Errors[0].Pointer != "/noteId" {
			t.Errorf("%q: %+v", id, d.Errors)
		}
	}
	s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/copies", map[string]any{"noteId": hidden[len("/v1/notes/"):]})
}

func TestCORS_AllowsConfiguredOrigins(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	s.Origins = []string{"https://a.example"}
	a := s.Want(http.StatusNoContent, nil, "", http.MethodOptions, path, nil, "Origin", "https://a.example",
		"Access-Control-Request-Method", "PATCH")
	if h := a.Header; h.Get("Access-Control-Allow-Origin") != "https://a.example" ||
		!strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Idempotency-Key") || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", h)
	}
	for origin, allowed := range map[string]string{"https://a.example": "https://a.example", "https://b.example": "", "null": "", "": ""} {
		for _, p := range []string{path, "/v2"} {
			h := s.Do("", http.MethodGet, p, nil, "Origin", origin).Header
			if h.Get("Access-Control-Allow-Origin") != allowed || !strings.Contains(h.Get("Vary"), "Origin") {
				t.Errorf("GET %s from %q: %q, Vary %q", p, origin, h.Get("Access-Control-Allow-Origin"), h.Get("Vary"))
			}
		}
	}
}

// half panics after a part of its answer.
type half struct{}

func (half) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/half/begun" {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 10_000))
		_ = http.NewResponseController(w).Flush()
	}
	panic("half")
}

func TestMount_FailsAsOperationsDo(t *testing.T) {
	s := serve(t)
	server := api.New(s.Env, nil)
	server.Mount("/half/", half{}, true, http.MethodGet, http.MethodPut)
	server.Mount("/rest/", http.StripPrefix("/rest/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.Fail(w, r, problem.NotFound.New("no %s", r.URL.Path))
	})), true, http.MethodGet)
	get := func(path string) servertest.Answer { return exchange(t, server, "alice", http.MethodGet, path, nil) }
	aborted := panics.Catch(func() error { get("/half/begun"); return nil })
	if aborted == nil || !strings.Contains(aborted.Error(), http.ErrAbortHandler.Error()) {
		t.Errorf("an answer that breaks off ends with %v, and is taken for a whole one", aborted)
	}
	refused(t, get("/half/not"), problem.Internal)
	if d := refused(t, get("/rest/of/it"), problem.NotFound); d.Instance != "/rest/of/it" || d.Detail != "no of/it" {
		t.Errorf("a mount that sees the rest of its path answers %+v", d)
	}
	a := exchange(t, server, "alice", http.MethodOptions, "/half/x", nil, "Origin", "https://a.example")
	if a.Status != http.StatusNoContent || a.Header.Get("Allow") != "GET, PUT" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("OPTIONS: %d %v", a.Status, a.Header)
	}
}

// TestVersion_IsThatOfTheNewestEntryOfTheChangelog checks the version in the info of servers and in the API description.
func TestVersion_IsThatOfTheNewestEntryOfTheChangelog(t *testing.T) {
	changes, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`).FindSubmatch(changes)
	if newest == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	for of, version := range map[string]string{"a server": api.BuildInfo("").Version, "OpenAPI": api.OpenAPI(nil).Info.Version} {
		if version != string(newest[1]) {
			t.Errorf("the version of %s is %q, the newest entry of the changelog %q", of, version, newest[1])
		}
	}
}

// address is an answer with the URL at which the caller reaches the server.
type address struct {
	URL string `json:"url"`
}

func TestWithHTML_AnswersBrowsersWithThePage(t *testing.T) {
	op := api.WithHTML(
		api.Get(api.Spec{ID: "address", Path: "/v1/address", May: access.Anyone}, api.NoTarget,
			func(_ context.Context, c *api.Call, _ api.PublicTarget) (address, error) {
				return address{c.BaseURL()}, nil
			}),
		func(_ context.Context, c *api.Call, _ api.PublicTarget) error {
			return c.WriteDocument("text/html", []byte("<p>"+c.BaseURL()))
		})
	s := servertest.New(t, op)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for accept, want := range map[string]string{
		"":                                  `{"url":"` + s.URL + `"}` + "\n",
		"*/*":                               `{"url":"` + s.URL + `"}` + "\n",
		"text/html;q=0.5, application/json": `{"url":"` + s.URL + `"}` + "\n",
		"text/*":                            "<p>" + s.URL,
		browser:                             "<p>" + s.URL,
	} {
		a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/address", nil, "Accept", accept)
		if string(a.Body) != want {
			t.Errorf("with Accept %q it is %q, want %q", accept, a.Body, want)
		}
		s.Want(http.StatusNotModified, nil, "", http.MethodGet, "/v1/address", nil, "Accept", accept, "If-None-Match", a.Header.Get("ETag"))
	}
	s.Info.URL = "https://assay.example.org"
	if a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/address", nil, "Accept",
		browser); string(a.Body) != "<p>https://assay.example.org" {
		t.Errorf("where clients reach the server is not %s", a.Body)
	}
}

type sum struct {
	Terms     []int `json:"terms"`
	Ephemeral bool  `json:"ephemeral,omitempty"`
}

// An ephemeral answer has no entity tag and is not cached, because its links expire. Any other answer has the same tag while its input is
// the same.
func TestWriteComputed_EphemeralAnswerIsNotCached(t *testing.T) {
	computed := 0
	add := func(ctx context.Context, c *api.Call, _ api.PublicTarget) error {
		in, err := api.ReadInput[sum](ctx, c)
		if err != nil {
			return err
		}
		c.LinkInput("/v1/sums/result")
		return c.WriteComputed(ctx, []string{string(c.Input())}, func() (api.Computed, error) {
			computed++
			return api.Computed{MediaType: "application/json", Body: []byte("3"), Ephemeral: in.Ephemeral}, nil
		})
	}
	variants := []api.Variant{{Name: "add", Summary: "Add", Input: reflect.TypeFor[sum](), Output: reflect.TypeFor[int](), Example: sum{}}}
	s := servertest.New(t,
		api.Compute(api.Spec{ID: "add", Path: "/v1/sums", May: access.Anyone}, api.NoTarget, variants, nil, add),
		api.ComputeGet(api.Spec{ID: "added", Path: "/v1/sums/result", May: access.Anyone}, api.NoTarget, variants, nil, add))
	lasting := sum{Terms: []int{1, 2}}
	tag := s.Want(http.StatusOK, nil, "alice", http.MethodPost, "/v1/sums", lasting).Header.Get("ETag")
	at := func(in string) string { return "/v1/sums/result?" + url.Values{"input": {in}}.Encode() }
	s.Want(http.StatusNotModified, nil, "alice", http.MethodGet, at(`{"terms":[1,2]}`), nil, "If-None-Match", tag)
	for header, match := range map[string]string{"If-Match": `"x"`, "If-None-Match": "*"} {
		refused(t, s.Do("alice", http.MethodPost, "/v1/sums", lasting, header, match), problem.PreconditionFailed)
	}
	refused(t, s.Do("alice", http.MethodGet, at(`{"terms":[1,2]}`), nil, "If-Match", `"x"`), problem.PreconditionFailed)
	if computed != 1 {
		t.Errorf("it was computed %d times for who has it", computed)
	}
	a := s.Want(http.StatusOK, nil, "alice", http.MethodPost, "/v1/sums", sum{Terms: []int{1, 2}, Ephemeral: true})
	for range 2 {
		h := a.Header
		if h.Get("ETag") != "" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/json" || string(a.Body) != "3" {
			t.Errorf("%s may be kept: %v", a.Body, h)
		}
		a = s.Want(http.StatusOK, nil, "alice", http.MethodGet, at(`{"terms":[1,2],"ephemeral":true}`), nil, "If-None-Match", tag)
	}
}

func TestJSONSchema_IsMadeOnce(t *testing.T) {
	allocated := testing.AllocsPerRun(10, func() {
		if _, err := api.JSONSchema(reflect.TypeFor[sum]()); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 2 {
		t.Errorf("the schema of a type that was asked for before takes %.0f allocations", allocated)
	}
}
