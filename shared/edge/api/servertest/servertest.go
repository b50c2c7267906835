// Package servertest serves operations over HTTP for the tests of the families. Each server has a new embedded store and a folder of files
// with signed links. The name of a user serves as their token.
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

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/edge/webpage/resource"
	"assay/shared/language/problem"
	"assay/shared/service/board"
	"assay/shared/service/files"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// Server is a running server of some operations.
type Server struct {
	*api.Env
	URL string
	t   testing.TB
}

// Answer is a response with its body.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// New serves the operations until the test ends.
func New(t testing.TB, operations ...api.Operation) *Server {
	t.Helper()
	folder := t.TempDir()
	boards := board.NewBoards()
	table, err := embedded.Open(filepath.Join(folder, "table.db"), embedded.Options{OnCommit: boards.Committed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() })
	var handler http.Handler // set below, because its links contain the address of the server
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	objects, err := directory.Open(filepath.Join(folder, "files"), server.URL+"/files")
	if err != nil {
		t.Fatal(err)
	}
	env := &api.Env{Store: table, Files: objects, Boards: boards, Now: time.Now, Log: slog.New(slog.DiscardHandler), Origins: []string{"*"},
		RenderHTML: resource.Render}
	env.Verify = auth.NewAuthenticator(verify, table, func() time.Time { return env.Now() }, nil).Caller
	serve := api.New(env, operations)
	uploads := files.Uploads{Store: env.Store, Now: env.Now}
	serve.Mount("/files/", http.StripPrefix("/files/", objects.Handler(uploads.Complete, uploads.Expected, serve.Fail)), true, http.MethodGet,
		http.MethodHead, http.MethodPut)
	handler = serve
	return &Server{Env: env, URL: server.URL, t: t}
}

// verify accepts a user's name as token. `root` is an admin, and `robot` a worker.
func verify(_ context.Context, token string) (access.Caller, error) {
	if token == "bad" {
		return access.Caller{}, problem.InvalidToken.New("The token is not valid.")
	}
	return access.Caller{ID: recordtest.UserID(token), Name: token, Email: token + "@example.org", Admin: token == "root",
		Worker: token == "robot"}, nil
}

// Use serves another table. Leaderboards of it are not kept in memory, because nothing follows its commits.
func (s *Server) Use(table store.Store) {
	s.Store = table
	s.Boards = nil
}

// Records returns a builder of records in the server's store, with the server's files and clock.
func (s *Server) Records() *recordtest.Builder {
	b := recordtest.New(s.t, s.Store)
	b.Files, b.Now = s.Files, func() time.Time { return s.Now() }
	return b
}

// Do sends a request to a path of the server or another URL, as the user, or without a login if user is empty. It sends a string or bytes
// unchanged, and any other body as JSON. headers are pairs of name and value.
func (s *Server) Do(user, method, target string, body any, headers ...string) Answer {
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
	url := target
	if strings.HasPrefix(target, "/") {
		url = s.URL + target
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

// Want is like Do, and fails the test if the answer has another status. It decodes the answer's body into v unless v is nil.
func (s *Server) Want(status int, v any, user, method, target string, body any, headers ...string) Answer {
	s.t.Helper()
	a := s.Do(user, method, target, body, headers...)
	if a.Status != status {
		s.t.Fatalf("%s %s as %q: status %d, want %d\n%s", method, target, user, a.Status, status, a.Body)
	}
	if v != nil {
		if err := json.Unmarshal(a.Body, v); err != nil {
			s.t.Fatalf("%s %s as %q: %v\n%s", method, target, user, err, a.Body)
		}
	}
	return a
}

// Upload sends the content to the link of a file. The server must store it, or already have it.
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

// Create posts the body and returns the path of the created resource.
func (s *Server) Create(user, target string, body any) string {
	s.t.Helper()
	return s.Want(http.StatusCreated, nil, user, http.MethodPost, target, body).Header.Get("Location")
}

// Invite creates, as the user, an invitation to the resource at target, and returns its secret.
func (s *Server) Invite(user, target string, draft map[string]any) string {
	s.t.Helper()
	var made struct{ Secret string }
	if draft == nil {
		draft = map[string]any{}
	}
	s.Want(http.StatusCreated, &made, user, http.MethodPost, target+"/invitations", draft)
	return made.Secret
}

// Join redeems the secret of an invitation as the user. A registration is needed for invitations to a task. Join returns the path of the
// resource that it created.
func (s *Server) Join(user, secret string, registration map[string]any) string {
	s.t.Helper()
	body := map[string]any{"secret": secret}
	if registration != nil {
		body["registration"] = registration
	}
	return s.Create(user, "/v1/user/memberships", body)
}

// Get returns the resource at target as the user sees it.
func Get[T any](s *Server, user, target string) (shown T) {
	s.t.Helper()
	s.Want(http.StatusOK, &shown, user, http.MethodGet, target, nil)
	return shown
}

// List returns the first page of the list at target as the user sees it.
func List[T any](s *Server, user, target string) []T {
	s.t.Helper()
	list, _ := Page[T](s, user, target)
	return list
}

// Page is like List, and also returns the address of the next page.
func Page[T any](s *Server, user, target string) (list []T, next string) {
	s.t.Helper()
	var page struct {
		Data  []T
		Links struct{ Next string }
	}
	switch a := s.Do(user, http.MethodGet, target, nil); a.Status {
	case http.StatusNoContent:
	case http.StatusOK:
		if err := json.Unmarshal(a.Body, &page); err != nil || len(page.Data) == 0 {
			s.t.Fatalf("GET %s as %q: %v\n%s", target, user, err, a.Body)
		}
	default:
		s.t.Fatalf("GET %s as %q: status %d\n%s", target, user, a.Status, a.Body)
	}
	return page.Data, page.Links.Next
}

// IDs returns the ids on the first page of the list at target as the user sees it.
func (s *Server) IDs(user, target string) (ids []string) {
	s.t.Helper()
	for _, r := range List[struct{ ID string }](s, user, target) {
		ids = append(ids, r.ID)
	}
	return ids
}

// ID returns the id at the end of a resource's path.
func ID(resourcePath string) string { return path.Base(resourcePath) }

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

// File describes a file in a request. Tests may add or replace members.
type File = map[string]any

// Inline returns a file that is sent with its content.
func Inline(name, content string) File {
	return File{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// Announced returns a file whose content is uploaded later.
func Announced(name, content string) File {
	return File{"name": name, "size": len(content), "sha256": Digest(content)}
}

// Digest returns the SHA-256 of the content in hexadecimal.
func Digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Upload returns the body of a submission of files to a dataset. Tests submit the same files several times, so it sets again.
func Upload(datasetID string, submitted ...File) map[string]any {
	for _, f := range submitted {
		f["datasetId"] = datasetID
	}
	return map[string]any{"type": "upload", "files": submitted, "again": true}
}

// Image returns the body of a submission of a container image to datasets. Like Upload, it sets again.
func Image(datasetIDs ...string) map[string]any {
	return map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": datasetIDs, "again": true}
}

// FileCount returns the number of stored files.
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
