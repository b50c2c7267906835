package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// NoteDraft has members of all kinds that validation distinguishes.
type NoteDraft struct {
	Name  string          `json:"name" minLength:"1" maxLength:"20"`
	Text  string          `json:"text" required:"false"`
	Tags  []Tag           `json:"tags" required:"false" nullable:"true" maxItems:"3"`
	Deep  Deep            `json:"deep" required:"false"`
	Until *record.Instant `json:"until,omitempty"`
	Hide  bool            `json:"hide" required:"false"`
}

// Tag is an item of a list.
type Tag struct {
	Key  string `json:"key" maxLength:"5"`
	Size int    `json:"size" required:"false" minimum:"0"`
}

// Deep is an object in an object.
type Deep struct {
	Count int      `json:"count" required:"false" minimum:"0"`
	Names []string `json:"names" required:"false" nullable:"true" maxItems:"2"`
}

// Note is a resource. Only its owner sees a hidden one.
type Note struct {
	record.Meta
	NoteDraft
	Owner string `json:"owner"`
}

func (n *Note) Key() store.Key { return noteKey(n.ID) }

func (n *Note) Indexes() (x [store.NumIndexes]store.Key) {
	x[record.ByKind-1] = store.Key{Partition: "NOTE", Sort: n.ID}
	return x
}

func (n *Note) Scope() access.Scope {
	s := access.Scope{OwnerID: n.Owner, Audience: access.Everyone}
	if n.Hide {
		s.Audience = access.Owners
	}
	return s
}

// Check refuses values that the schema allows.
func (d *NoteDraft) Check() []problem.Field {
	if d.Name == "forbidden" {
		return []problem.Field{problem.NewField("/name", "is forbidden")}
	}
	return nil
}

func noteKey(id string) store.Key { return store.Key{Partition: "NOTE#" + id, Sort: "NOTE"} }

// noteServer serves notes. Its handlers call the hooks with the number of the attempt, counted from 1.
type noteServer struct {
	*servertest.Server
	operations []api.Operation
	attempts   atomic.Int64
	meanwhile  func(attempt int64) // called after the handler has read and before its change is committed
	file       string              // content that handlers of changes store, under a new key each time
	keys       []string            // of the stored files
	fails      error               // that handlers of changes return
}

type copyDraft struct {
	NoteID string `json:"noteId"`
}

func serve(t testing.TB) *noteServer {
	t.Helper()
	s := &noteServer{}
	load := api.Load[Note]("noteId", noteKey)
	s.operations = []api.Operation{
		api.List(api.Spec{
			ID: "listNotes", Path: "/v1/notes", May: access.Anyone,
			Query: page.Spec{Sort: true, Filters: []page.Filter{{Name: "name"}}},
		}, api.NoTarget, listNotes, func(notes []*Note) [][]string {
			rows := [][]string{{"id", "name", "text"}}
			for _, n := range notes {
				rows = append(rows, []string{n.ID, n.Name, n.Text})
			}
			return rows
		}),
		api.Create(api.Spec{ID: "createNote", Path: "/v1/notes", May: access.User}, api.NoTarget, s.create),
		api.CreateIn(api.Spec{ID: "copyNote", Path: "/v1/copies", May: access.User}, "/noteId",
			func(ctx context.Context, c *api.Call, d copyDraft) (*Note, error) {
				return visibility.Find[Note](ctx, &c.Viewer, d.NoteID, noteKey)
			},
			func(ctx context.Context, c *api.Call, n *Note, _ copyDraft) (string, *Note, error) {
				d := n.NoteDraft
				d.Name += "'"
				return s.create(ctx, c, api.PublicTarget{}, d)
			}),
		api.Get(api.Spec{ID: "getNote", Path: "/v1/notes/{noteId}", May: access.Anyone}, load, showNote),
		api.Patch(api.Spec{ID: "changeNote", Path: "/v1/notes/{noteId}", May: access.Owner}, load, showNote, s.change),
		api.Delete(api.Spec{ID: "deleteNote", Path: "/v1/notes/{noteId}", May: access.Owner}, load,
			func(_ context.Context, c *api.Call, n *Note) error {
				s.attempt()
				c.Tx.Delete(n)
				return nil
			}),
		api.Get(api.Spec{ID: "fail", Path: "/v1/failures/{kind}", May: access.Anyone, CacheFor: 60}, api.NoTarget, fail),
		api.Document(api.Spec{ID: "text", Path: "/v1/text", May: access.Anyone, CacheFor: 60}, []string{"text/plain"},
			func(_ context.Context, c *api.Call) error { return c.WriteDocument("text/plain", []byte("text")) }),
	}
	s.Server = servertest.New(t, s.operations...)
	return s
}

// handler returns a server of the notes without a connection.
func (s *noteServer) handler() http.Handler { return api.New(s.Env, s.operations) }

// exchange sends a request of the user to the handler. headers are pairs of name and value.
func exchange(t testing.TB, handler http.Handler, user, method, path string, body io.Reader, headers ...string) servertest.Answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, body)
	r.Header.Set("Authorization", "Bearer "+user)
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Add(pair[0], pair[1])
	}
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return servertest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}
}

// allocated returns the number of bytes that do allocates.
func allocated(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

func listNotes(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[*Note], err error) {
	sel := records.Selection{Sources: []records.Source{records.Partition(record.ByKind, "NOTE")}, Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	p.Cursor, err = records.List(ctx, c.Store, sel, func(n *Note) bool { return c.Page.MatchesText("name", n.Name) }, p.Add)
	return p, err
}

func showNote(_ context.Context, _ *api.Call, n *Note) (*Note, error) { return n, nil }

func (s *noteServer) attempt() {
	n := s.attempts.Add(1)
	if s.meanwhile != nil {
		s.meanwhile(n)
	}
}

func (s *noteServer) create(ctx context.Context, c *api.Call, _ api.PublicTarget, d NoteDraft) (string, *Note, error) {
	n := &Note{Meta: record.NewMeta(c.Now()), NoteDraft: d, Owner: c.Caller.ID}
	name := &record.Reservation{Meta: n.Meta, At: store.Key{Partition: "NAME#" + d.Name, Sort: "NAME"}}
	if err := s.put(ctx, c); err != nil {
		return "", nil, err
	}
	c.Tx.Create(n).Create(name).Or(problem.Conflict.New("There is a note of this name."))
	err := c.UpsertProfile(ctx)
	s.attempt()
	if s.fails != nil {
		return "", nil, s.fails
	}
	return "/v1/notes/" + n.ID, n, err
}

func (s *noteServer) change(ctx context.Context, c *api.Call, n *Note, d NoteDraft) (*Note, error) {
	changed := *n
	changed.NoteDraft = d
	record.Touch(&changed, c.Now())
	err := s.put(ctx, c)
	s.attempt()
	if s.fails != nil {
		err = s.fails
	}
	c.Tx.Replace(&changed)
	return &changed, err
}

func (s *noteServer) put(ctx context.Context, c *api.Call) error {
	if s.file == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(s.file))
	f := record.File{Name: "f", Size: int64(len(s.file)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain"}
	key := record.ObjectKey(record.HolderRuns, record.NewID(c.Now()), f.SHA256)
	s.keys = append(s.keys, key)
	return c.PutFile(ctx, key, f, []byte(s.file))
}

// kept reports for each stored file whether it still exists.
func (s *noteServer) kept(t *testing.T) (kept []bool) {
	t.Helper()
	for _, key := range s.keys {
		_, err := s.Files.Stat(context.Background(), key)
		kept = append(kept, err == nil)
	}
	return kept
}

func fail(ctx context.Context, c *api.Call, _ api.PublicTarget) (*Note, error) {
	switch c.Param("kind") {
	case "panic":
		panic("a secret of the server")
	case "error":
		return nil, errSecret
	case "deadline":
		return nil, context.DeadlineExceeded
	case "hangUp":
		c.Log.Info("begun")
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return nil, problem.QuotaToday.New("Wait.").After(1500e6)
	}
}

var errSecret = errors.New("a secret of the server")

// note creates a note as alice and returns its path.
func (s *noteServer) note(name string) string {
	return s.Create("alice", "/v1/notes", map[string]any{"name": name})
}

// read returns the note at the path as alice sees it.
func (s *noteServer) read(path string) (n Note) {
	s.Want(http.StatusOK, &n, "alice", http.MethodGet, path, nil)
	return n
}

// refused checks that an answer is a complete problem document of the kind.
func refused(t *testing.T, a servertest.Answer, kind *problem.Kind) problem.Document {
	t.Helper()
	var d problem.Document
	if err := json.Unmarshal(a.Body, &d); err != nil {
		t.Fatalf("status %d, %v: %s", a.Status, err, a.Body)
	}
	if a.Status != kind.Status || d.Type != kind.Type() || d.Status != kind.Status || d.Title != kind.Title || d.Detail == "" ||
		d.Instance == "" {
		t.Errorf("status %d, %+v; want %s", a.Status, d, kind.Slug)
	}
	if d.RequestID == "" || d.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("the request is %q in the body and %q in the header", d.RequestID, a.Header.Get("X-Request-Id"))
	}
	if a.Header.Get("Content-Type") != problem.MediaType || a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("ETag") != "" {
		t.Errorf("a problem has the headers %v", a.Header)
	}
	return d
}
