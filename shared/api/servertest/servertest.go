// Package servertest serves operations over a fresh embedded store and a folder of files, signed links to them
// included, for the tests of the families: real HTTP, with the name of the user as token, so that a test says `alice`
// and not how she logged in.
package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/blob/directory"
	"assay/shared/files"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store/embedded"
	"assay/shared/webpage/resource"
)

// Server is a running server of some operations.
type Server struct {
	*api.Env
	URL string
	t   testing.TB
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// New serves the operations until the test ends.
func New(t testing.TB, operations ...api.Operation) *Server {
	t.Helper()
	folder := t.TempDir()
	table, err := embedded.Open(filepath.Join(folder, "table.db"), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() })
	var handler http.Handler // known only after the address, which stands in its links
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	objects, err := directory.Open(filepath.Join(folder, "files"), server.URL+"/files")
	if err != nil {
		t.Fatal(err)
	}
	env := &api.Env{Store: table, Files: objects, Now: time.Now, Verify: verify, Log: slog.New(slog.DiscardHandler), Origins: []string{"*"},
		RenderHTML: resource.Render}
	serve := api.New(env, operations)
	uploads := files.Uploads{Store: env.Store, Now: env.Now}
	serve.Mount("/files/", http.StripPrefix("/files/", objects.Handler(uploads.Complete, uploads.Expected, serve.Fail)), true, http.MethodGet,
		http.MethodHead, http.MethodPut)
	handler = serve
	return &Server{Env: env, URL: server.URL, t: t}
}

// verify takes a user's name for a token; `root` is an admin, `robot` a worker.
func verify(_ context.Context, token string) (access.Caller, error) {
	if token == "bad" {
		return access.Caller{}, problem.InvalidToken.New("The token is not valid.")
	}
	return access.Caller{ID: recordtest.UserID(token), Name: token, Email: token + "@example.org", Admin: token == "root",
		Worker: token == "robot"}, nil
}

// Records returns a builder of records in the server's store, with its files and its clock.
func (s *Server) Records() *recordtest.Builder {
	b := recordtest.New(s.t, s.Store)
	b.Files, b.Now = s.Files, func() time.Time { return s.Now() }
	return b
}

// Do sends a request as the user, or as nobody when user is empty. The body is sent as JSON, a string or bytes as they
// are; headers are pairs of name and value.
func (s *Server) Do(user, method, path string, body any, headers ...string) Answer {
	s.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	url := path
	if strings.HasPrefix(path, "/") {
		url = s.URL + path
	}
	r, err := http.NewRequestWithContext(context.Background(), method, url, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	if body != nil {
		r.Header.Set("Content-Type", map[string]string{http.MethodPatch: "application/merge-patch+json"}[method])
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/json")
		}
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: got}
}

// Want is Do for a request that must be answered with the status; the answer's body is decoded into v when v is not nil.
func (s *Server) Want(status int, v any, user, method, path string, body any, headers ...string) Answer {
	s.t.Helper()
	a := s.Do(user, method, path, body, headers...)
	if a.Status != status {
		s.t.Fatalf("%s %s as %q: status %d, want %d\n%s", method, path, user, a.Status, status, a.Body)
	}
	if v != nil {
		if err := json.Unmarshal(a.Body, v); err != nil {
			s.t.Fatalf("%s %s as %q: %v\n%s", method, path, user, err, a.Body)
		}
	}
	return a
}

// Upload sends the content to the link of a file, which must take it, or have it already.
func (s *Server) Upload(u *record.Upload, content []byte) {
	s.t.Helper()
	if u == nil {
		s.t.Fatal("there is no link to upload to")
	}
	var headers []string
	for name, value := range u.Headers {
		headers = append(headers, name, value)
	}
	if a := s.Do("", u.Method, u.URL, content, headers...); a.Status != http.StatusOK && a.Status != http.StatusPreconditionFailed {
		s.t.Fatalf("an upload is answered with %d\n%s", a.Status, a.Body)
	}
}

// Create posts the body and returns the path of what it made.
func (s *Server) Create(user, path string, body any) string {
	s.t.Helper()
	return s.Want(http.StatusCreated, nil, user, http.MethodPost, path, body).Header.Get("Location")
}
