package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/tools/inputs"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
	"assay/shared/storage/blob"
)

// writerOutput is the answer of the tool.
type writerOutput struct {
	File *FileResult `json:"file"`
}

func (o writerOutput) file() *FileResult { return o.File }

type writerInput struct {
	Bytes int    `json:"bytes" doc:"zeros to write"`
	Fault string `json:"fault,omitempty" doc:"what to do instead"`
}

// writerServer serves a tool that keeps a reference to its temporary file, so that a test can check what happened to the file.
type writerServer struct {
	*servertest.Server
	t    *testing.T
	temp *api.TempFile
}

func newWriterServer(t *testing.T) *writerServer {
	s := &writerServer{t: t}
	writes := define(metadata{name: "note", summary: "Note", description: "Notes."}, writerInput{},
		func(_ context.Context, resolver *inputs.Resolver, in writerInput) (compute[writerOutput], error) {
			return func(context.Context) (out writerOutput, err error) {
				out.File, err = writeFile(resolver, "notes.csv", mediaCSV+charset, func(w io.Writer) error {
					s.temp = w.(*api.TempFile)
					switch in.Fault {
					case "error":
						return errors.New("no")
					case "panic":
						panic("no")
					}
					_, err := w.Write(make([]byte, in.Bytes))
					return err
				})
				return out, err
			}, nil
		})
	variants := []api.Variant{
		{Name: writes.name, Summary: writes.summary, Input: writes.input, Output: writes.output, Example: writes.example}}
	handle := func(ctx context.Context, c *api.Call, _ api.PublicTarget) error { return writes.invoke(ctx, c) }
	s.Server = servertest.New(t,
		api.Compute(api.Spec{ID: "note", Path: writerPath, May: access.Anyone}, api.NoTarget, variants, writes.media(), handle),
		api.ComputeGet(api.Spec{ID: "getNotes", Path: writes.resultPath(), May: access.Anyone}, api.NoTarget, variants, writes.media(), handle))
	return s
}

const writerPath = "/v1/tools/note"

// post invokes the tool, and checks that its temporary file is removed once there is an answer.
func (s *writerServer) post(status int, user string, in writerInput, headers ...string) servertest.Answer {
	s.t.Helper()
	s.temp = nil
	a := s.Want(status, nil, user, http.MethodPost, writerPath, in, headers...)
	if s.temp == nil {
		s.t.Fatal("nothing was computed")
	}
	if _, err := s.temp.Reader(); !errors.Is(err, os.ErrClosed) {
		s.t.Errorf("%+v as %q with %q leaves a file open", in, user, headers)
	}
	return a
}

// failingStore is a store that refuses all files.
type failingStore struct {
	blob.Store
	panics bool
}

func (b failingStore) Put(context.Context, blob.Object, io.Reader) error {
	if b.panics {
		panic("no")
	}
	return errors.New("no")
}

const tooLargeInline = record.MaxInlineBytes + 1

func TestTempFile_IsClosedAfterEveryAnswer(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	s := newWriterServer(t)
	s.post(http.StatusOK, "", writerInput{Bytes: record.MaxInlineBytes})
	s.post(http.StatusOK, "", writerInput{Bytes: 1}, "Accept", mediaText)
	s.post(http.StatusOK, "alice", writerInput{Bytes: tooLargeInline})
	s.post(http.StatusOK, "alice", writerInput{Bytes: tooLargeInline}, "Accept", mediaText) // redirected
	s.post(http.StatusUnauthorized, "", writerInput{Bytes: tooLargeInline})
	s.post(http.StatusUnauthorized, "", writerInput{Bytes: tooLargeInline}, "Accept", mediaText)
	s.post(http.StatusInternalServerError, "", writerInput{Fault: "error"})
	s.post(http.StatusInternalServerError, "", writerInput{Fault: "panic"})
	if a := s.post(http.StatusRequestEntityTooLarge, "alice", writerInput{Bytes: api.MaxResultBytes + 1}); !strings.Contains(string(a.Body),
		"Give a depth") {
		t.Errorf("too large a file is answered with %s", a.Body)
	}
	files := s.Files
	s.Files = failingStore{Store: files}
	s.post(http.StatusServiceUnavailable, "alice", writerInput{Bytes: tooLargeInline})
	s.Files = failingStore{Store: files, panics: true}
	s.post(http.StatusInternalServerError, "alice", writerInput{Bytes: tooLargeInline})
	s.Files = files

	a := s.post(http.StatusOK, "", writerInput{Bytes: 1})
	s.temp = nil
	s.Want(http.StatusNotModified, nil, "", http.MethodGet, a.Header.Get("Content-Location"), nil, "If-None-Match", a.Header.Get("ETag"))
	if s.temp != nil {
		t.Error("what the caller has is written once more")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v stay behind, %v", left, err)
	}
}

// A temporary file has no name on the disk while it is open. A process that crashes therefore leaves no file.
func TestTempFile_IsUnlinked(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	f, err := new(api.Call).WriteTempFile("a", mediaText, func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil || string(content) != "text" || f.Size != 4 || f.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte("text"))) {
		t.Errorf("%q %+v, %v", content, f, err)
	}
}

// The link to a large result works without a login for half an hour. No answer with a link is cached.
func TestLargeResult_IsBehindALink(t *testing.T) {
	s := newWriterServer(t)
	now := time.Now()
	s.Now = func() time.Time { return now }
	want := make([]byte, tooLargeInline)
	digest := fmt.Sprintf("%x", sha256.Sum256(want))
	answer := func(a servertest.Answer) (f FileResult) {
		t.Helper()
		if h := a.Header; h.Get("ETag") != "" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("an answer with a link may be kept: %v", h)
		}
		if err := json.Unmarshal(a.Body, &struct{ File *FileResult }{&f}); err != nil {
			t.Fatal(err)
		}
		return f
	}
	a := s.post(http.StatusOK, "alice", writerInput{Bytes: tooLargeInline})
	f := answer(a)
	if f.Content != nil || f.Size != tooLargeInline || f.SHA256 != digest || f.Name != "notes.csv" ||
		f.MediaType != "text/csv; charset=utf-8" {
		t.Errorf("the file is %+v", f)
	}
	if f.ExpiresAt == nil || f.ExpiresAt.Sub(now) > 30*time.Minute || f.ExpiresAt.Sub(now) < 29*time.Minute {
		t.Errorf("the link works until %v", f.ExpiresAt)
	}
	got := s.Want(http.StatusOK, nil, "", http.MethodGet, f.URL, nil)
	if !bytes.Equal(got.Body, want) || got.Header.Get("Content-Type") != f.MediaType ||
		got.Header.Get("Content-Disposition") != `attachment; filename="notes.csv"` {
		t.Errorf("the link has %d bytes, %v", len(got.Body), got.Header)
	}
	// A second request gets a link to the same result, which is stored once.
	again := answer(s.Want(http.StatusOK, nil, "alice", http.MethodGet, a.Header.Get("Content-Location"), nil))
	if again.URL == "" || again.SHA256 != f.SHA256 {
		t.Errorf("asked again it is %+v", again)
	}
	var kept []string
	for key, err := range s.Files.List(t.Context(), string(record.HolderTools)+"/", "", now.Add(time.Hour)) {
		if _, _, sum, ok := record.ParseObjectKey(key); err != nil || !ok || sum != digest {
			t.Errorf("it is kept as %s, %v", key, err)
		}
		kept = append(kept, key)
	}
	if len(kept) != 1 {
		t.Errorf("it is kept as %v, for the cleaning of abandoned files to find", kept)
	}
	s.post(http.StatusOK, "alice", writerInput{Bytes: record.MaxInlineBytes})
}

// A result counts as stored for its caller until it is deleted.
func TestLargeResult_CountsAsStored(t *testing.T) {
	s := newWriterServer(t)
	start := time.Now()
	var passed atomic.Int64 // nanoseconds since then
	s.Now = func() time.Time { return start.Add(time.Duration(passed.Load())) }
	s.Quotas.Quotas.User.StoredBytes = 2*tooLargeInline + 1
	for range 2 {
		s.post(http.StatusOK, "alice", writerInput{Bytes: tooLargeInline})
	}
	if a := s.post(http.StatusForbidden, "alice", writerInput{Bytes: tooLargeInline}); !strings.Contains(string(a.Body),
		problem.QuotaExhausted.Type()) {
		t.Errorf("%s", a.Body)
	}
	s.post(http.StatusOK, "bob", writerInput{Bytes: tooLargeInline})
	s.post(http.StatusOK, "alice", writerInput{Bytes: record.MaxInlineBytes})
	passed.Store(int64(2 * time.Hour))
	s.post(http.StatusOK, "alice", writerInput{Bytes: tooLargeInline})
}

func TestLargeResult_AsTextRedirects(t *testing.T) {
	s := newWriterServer(t)
	here := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+writerPath, strings.NewReader(`{"bytes":3145729}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer alice", "Content-Type": mediaJSON, "Accept": mediaText} {
		r.Header.Set(name, value)
	}
	res, err := here.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if h := res.Header; res.StatusCode != http.StatusSeeOther || h.Get("Cache-Control") != "no-store" || h.Get("ETag") != "" {
		t.Errorf("status %d, %v", res.StatusCode, h)
	}
	got := s.Want(http.StatusOK, nil, "", http.MethodGet, res.Header.Get("Location"), nil)
	if len(got.Body) != tooLargeInline || got.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("there are %d bytes of %s", len(got.Body), got.Header.Get("Content-Type"))
	}
}
