package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/api/servertest"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// NoteDraft has a member of every kind that a body can go wrong in.
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

// Note is a resource; one that hides is seen by its owner alone.
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

// Check refuses what the schema cannot.
func (d *NoteDraft) Check() []problem.Field {
	if d.Name == "forbidden" {
		return []problem.Field{{Pointer: "/name", Detail: "is forbidden"}}
	}
	return nil
}

func noteKey(id string) store.Key { return store.Key{Partition: "NOTE#" + id, Sort: "NOTE"} }

// scene serves notes. Its hooks run within the handlers, with the number of the attempt from 1.
type scene struct {
	*servertest.Server
	operations []api.Operation
	attempts   atomic.Int64
	meanwhile  func(attempt int64) // after the handler has read, before its change is made
	file       string              // content that creating and changing store, under a new key each time
	keys       []string            // the keys so far
	fails      error               // what the handlers of changes answer
}

type copyDraft struct {
	NoteID string `json:"noteId"`
}

func serve(t testing.TB) *scene {
	t.Helper()
	sc := &scene{}
	load := api.Load[Note]("noteId", noteKey)
	sc.operations = []api.Operation{
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
		api.Create(api.Spec{ID: "createNote", Path: "/v1/notes", May: access.User}, api.NoTarget, sc.create),
		api.CreateIn(api.Spec{ID: "copyNote", Path: "/v1/copies", May: access.User}, "/noteId",
			func(ctx context.Context, c *api.Call, d copyDraft) (*Note, error) {
				return visibility.Find[Note](ctx, &c.Viewer, d.NoteID, noteKey)
			},
			func(ctx context.Context, c *api.Call, n *Note, _ copyDraft) (string, *Note, error) {
				d := n.NoteDraft
				d.Name += "'"
				return sc.create(ctx, c, api.PublicTarget{}, d)
			}),
		api.Get(api.Spec{ID: "getNote", Path: "/v1/notes/{noteId}", May: access.Anyone}, load, showNote),
		api.Patch(api.Spec{ID: "changeNote", Path: "/v1/notes/{noteId}", May: access.Owner}, load, showNote, sc.change),
		api.Delete(api.Spec{ID: "deleteNote", Path: "/v1/notes/{noteId}", May: access.Owner}, load,
			func(_ context.Context, c *api.Call, n *Note) error {
				sc.attempt()
				c.Tx.Delete(n)
				return nil
			}),
		api.Get(api.Spec{ID: "fail", Path: "/v1/failures/{kind}", May: access.Anyone, CacheFor: 60}, api.NoTarget, fail),
		api.Document(api.Spec{ID: "text", Path: "/v1/text", May: access.Anyone, CacheFor: 60}, []string{"text/plain"},
			func(_ context.Context, c *api.Call) error { return c.WriteDocument("text/plain", []byte("text")) }),
	}
	sc.Server = servertest.New(t, sc.operations...)
	return sc
}

func listNotes(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[*Note], err error) {
	sel := records.Selection{Sources: []records.Source{records.Partition(record.ByKind, "NOTE")}, Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	p.Cursor, err = records.List(ctx, c.Store, sel, func(n *Note) bool { return c.Page.MatchesText("name", n.Name) }, p.Add)
	return p, err
}

func showNote(_ context.Context, _ *api.Call, n *Note) (*Note, error) { return n, nil }

func (sc *scene) attempt() {
	if n := sc.attempts.Add(1); sc.meanwhile != nil {
		sc.meanwhile(n)
	}
}

func (sc *scene) create(ctx context.Context, c *api.Call, _ api.PublicTarget, d NoteDraft) (string, *Note, error) {
	n := &Note{Meta: record.NewMeta(c.Now()), NoteDraft: d, Owner: c.Caller.ID}
	name := &record.Reservation{Meta: n.Meta, At: store.Key{Partition: "NAME#" + d.Name, Sort: "NAME"}}
	if err := sc.put(ctx, c); err != nil {
		return "", nil, err
	}
	c.Tx.Create(n).Create(name).Or(problem.Conflict.New("There is a note of this name."))
	err := c.UpsertProfile(ctx)
	sc.attempt()
	if sc.fails != nil {
		return "", nil, sc.fails
	}
	return "/v1/notes/" + n.ID, n, err
}

func (sc *scene) change(ctx context.Context, c *api.Call, n *Note, d NoteDraft) (*Note, error) {
	changed := *n
	changed.NoteDraft = d
	record.Touch(&changed, c.Now())
	err := sc.put(ctx, c)
	sc.attempt()
	if sc.fails != nil {
		err = sc.fails
	}
	c.Tx.Replace(&changed)
	return &changed, err
}

func (sc *scene) put(ctx context.Context, c *api.Call) error {
	if sc.file == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(sc.file))
	f := record.File{Name: "f", Size: int64(len(sc.file)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain"}
	key := record.ObjectKey(record.HolderRuns, record.NewID(c.Now()), f.SHA256)
	sc.keys = append(sc.keys, key)
	return c.PutFile(ctx, key, f, []byte(sc.file))
}

// kept says, for each file that was stored, whether it still is.
func (sc *scene) kept(t *testing.T) (kept []bool) {
	t.Helper()
	for _, key := range sc.keys {
		_, err := sc.Files.Stat(context.Background(), key)
		kept = append(kept, err == nil)
	}
	return kept
}

func fail(_ context.Context, c *api.Call, _ api.PublicTarget) (*Note, error) {
	switch c.Param("kind") {
	case "panic":
		panic("a secret of the server")
	case "error":
		return nil, errSecret
	case "deadline":
		return nil, context.DeadlineExceeded
	default:
		return nil, problem.QuotaToday.New("Wait.").After(1500e6)
	}
}

type secretError struct{}

func (secretError) Error() string { return "a secret of the server" }

var errSecret error = secretError{}

// note makes a note as alice and returns its path.
func (sc *scene) note(name string) string {
	return sc.Create("alice", "/v1/notes", map[string]any{"name": name})
}

// read returns the note at the path as alice sees it.
func (sc *scene) read(path string) (n Note) {
	sc.Want(http.StatusOK, &n, "alice", http.MethodGet, path, nil)
	return n
}

// refused requires that an answer is a problem of the kind, whole and in the form that every problem has.
func refused(t *testing.T, a servertest.Answer, kind *problem.Kind) problem.Document {
	t.Helper()
	var d problem.Document
	if err := json.Unmarshal(a.Body, &d); err != nil {
		t.Fatalf("status %d, %v: %s", a.Status, err, a.Body)
	}
	if a.Status != kind.Status || d.Type != kind.Type() || d.Status != kind.Status || d.Title != kind.Title || d.Detail == "" || d.Instance == "" {
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
