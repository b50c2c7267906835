// Package servertest serves operations over a fresh embedded store and a folder of files, signed links to them
// included, for the tests of the families: real HTTP, with the name of the user as token, so that a test says `alice`
// and not how she logged in.
package servertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/auth"
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
	env := &api.Env{Store: table, Files: objects, Now: time.Now, Log: slog.New(slog.DiscardHandler), Origins: []string{"*"},
		RenderHTML: resource.Render}
	env.Verify = auth.NewAuthenticator(verify, table, func() time.Time { return env.Now() }, nil).Caller
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

// Invite has the user make an invitation to what has the path, and returns its secret.
func (s *Server) Invite(user, path string, draft map[string]any) string {
	s.t.Helper()
	var made struct{ Secret string }
	if draft == nil {
		draft = map[string]any{}
	}
	s.Want(http.StatusCreated, &made, user, http.MethodPost, path+"/invitations", draft)
	return made.Secret
}

// Join has the user join by the secret of an invitation, with a registration where it is to a task, and returns the path of what the user
// now is.
func (s *Server) Join(user, secret string, registration map[string]any) string {
	s.t.Helper()
	body := map[string]any{"secret": secret}
	if registration != nil {
		body["registration"] = registration
	}
	return s.Create(user, "/v1/user/memberships", body)
}

// Get returns what the user is shown at the path.
func Get[T any](s *Server, user, path string) (shown T) {
	s.t.Helper()
	s.Want(http.StatusOK, &shown, user, http.MethodGet, path, nil)
	return shown
}

// List returns what the user is shown of the list at the path: one page, or nothing when the list is empty.
func List[T any](s *Server, user, path string) []T {
	s.t.Helper()
	list, _ := Page[T](s, user, path)
	return list
}

// Page is List for a test that goes on at the next page.
func Page[T any](s *Server, user, path string) (list []T, next string) {
	s.t.Helper()
	var page struct {
		Data  []T
		Links struct{ Next string }
	}
	switch a := s.Do(user, http.MethodGet, path, nil); a.Status {
	case http.StatusNoContent:
	case http.StatusOK:
		if err := json.Unmarshal(a.Body, &page); err != nil || len(page.Data) == 0 {
			s.t.Fatalf("GET %s as %q: %v\n%s", path, user, err, a.Body)
		}
	default:
		s.t.Fatalf("GET %s as %q: status %d\n%s", path, user, a.Status, a.Body)
	}
	return page.Data, page.Links.Next
}

// IDs returns the ids of what the user is shown of the list at the path.
func (s *Server) IDs(user, path string) (ids []string) {
	s.t.Helper()
	for _, r := range List[struct{ ID string }](s, user, path) {
		ids = append(ids, r.ID)
	}
	return ids
}

// ID is the id at the end of the path of a resource.
func ID(resource string) string { return path.Base(resource) }

// Concurrently sends n requests at once, and counts the answers by status.
func Concurrently(n int, send func(i int) Answer) map[int]int {
	statuses := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { statuses[i] = send(i).Status })
	}
	all.Wait()
	counts := map[int]int{}
	for _, status := range statuses {
		counts[status]++
	}
	return counts
}

// File is a file as a request describes it; a member can be added or replaced.
type File = map[string]any

// Inline is a file that comes with its content.
func Inline(name, content string) File {
	return File{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// Announced is a file whose content is uploaded later.
func Announced(name, content string) File {
	return File{"name": name, "size": len(content), "sha256": Digest(content)}
}

// Digest is the SHA-256 of the content as files have it.
func Digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Upload is the body of a submission of files to a dataset.
func Upload(datasetID string, files ...File) map[string]any {
	for _, f := range files {
		f["datasetId"] = datasetID
	}
	return map[string]any{"type": "upload", "files": files}
}

// Image is the body of a submission of a container image to datasets.
func Image(datasetIDs ...string) map[string]any {
	return map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": datasetIDs}
}

// FileCount counts the files that are stored.
func (s *Server) FileCount() (n int) {
	s.t.Helper()
	for _, err := range s.Files.List(s.t.Context(), "", "", s.Now().Add(time.Hour)) {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
	}
	return n
}
