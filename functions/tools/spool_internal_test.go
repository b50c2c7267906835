package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/tools/inputs"
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/api/servertest"
	"assay/shared/blob"
	"assay/shared/problem"
	"assay/shared/record"
)

// noted is what a tool writes, as it is told.
type noted struct {
	File  *FileResult `json:"file"`
	spool *tempFile
}

func (o noted) file() *tempFile { return o.spool }

type notedInput struct {
	Bytes int    `json:"bytes" doc:"zeros to write"`
	Fault string `json:"fault,omitempty" doc:"what to do instead"`
}

// scribe serves a tool that keeps hold of what it writes to, so that a test can see what became of it.
type scribe struct {
	*servertest.Server
	t     *testing.T
	spool *tempFile
}

func newScribe(t *testing.T) *scribe {
	s := &scribe{t: t}
	writes := define(about{name: "note", summary: "Note", description: "Notes."}, notedInput{}, func(_ context.Context, d *inputs.Resolver, in notedInput) (compute[noted], error) {
		return func(context.Context) (out noted, err error) {
			out.spool, err = writeSpool("notes.csv", mediaCSV+charset, mostBytes(d), func(w io.Writer) error {
				s.spool = w.(*tempFile)
				switch in.Fault {
				case "error":
					return errors.New("no")
				case "panic":
					panic("no")
				}
				_, err := w.Write(make([]byte, in.Bytes))
				return err
			})
			if err == nil {
				out.File = out.spool.described
			}
			return out, err
		}, nil
	})
	variants := []api.Variant{{Name: writes.name, Summary: writes.summary, Input: writes.input, Output: writes.output, Example: writes.example}}
	handle := func(ctx context.Context, c *api.Call, _ api.PublicTarget) error { return writes.invoke(ctx, c) }
	s.Server = servertest.New(t,
		api.Compute(api.Spec{ID: "note", Path: notePath, May: access.Anyone}, api.NoTarget, variants, writes.media, handle),
		api.ComputeGet(api.Spec{ID: "getNotes", Path: writes.resultPath(), May: access.Anyone}, api.NoTarget, variants, writes.media, handle))
	return s
}

const notePath = "/v1/tools/note"

// post has the tool write, and checks that what it wrote to is gone once there is an answer.
func (s *scribe) post(status int, user string, in notedInput, headers ...string) servertest.Answer {
	s.t.Helper()
	s.spool = nil
	a := s.Want(status, nil, user, http.MethodPost, notePath, in, headers...)
	if s.spool == nil {
		s.t.Fatal("nothing was computed")
	}
	if _, err := s.spool.disk.Stat(); !errors.Is(err, os.ErrClosed) {
		s.t.Errorf("%+v as %q with %q leaves a file open", in, user, headers)
	}
	return a
}

// broken is a store of files that takes none.
type broken struct {
	blob.Store
	panics bool
}

func (b broken) Put(context.Context, blob.Object, io.Reader) error {
	if b.panics {
		panic("no")
	}
	return errors.New("no")
}

const beyond = record.MaxInlineBytes + 1

func TestNoSpoolStays(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	s := newScribe(t)
	s.post(http.StatusOK, "", notedInput{Bytes: record.MaxInlineBytes})
	s.post(http.StatusOK, "", notedInput{Bytes: 1}, "Accept", mediaText)
	s.post(http.StatusOK, "alice", notedInput{Bytes: beyond})
	s.post(http.StatusOK, "alice", notedInput{Bytes: beyond}, "Accept", mediaText) // redirected
	s.post(http.StatusUnauthorized, "", notedInput{Bytes: beyond})
	s.post(http.StatusInternalServerError, "", notedInput{Fault: "error"})
	s.post(http.StatusInternalServerError, "", notedInput{Fault: "panic"})
	if a := s.post(http.StatusRequestEntityTooLarge, "alice", notedInput{Bytes: maxFileBytes + 1}); !strings.Contains(string(a.Body), "Give a depth") {
		t.Errorf("too much is told as %s", a.Body)
	}
	files := s.Files
	s.Files = broken{Store: files}
	s.post(http.StatusServiceUnavailable, "alice", notedInput{Bytes: beyond})
	s.Files = broken{Store: files, panics: true}
	s.post(http.StatusInternalServerError, "alice", notedInput{Bytes: beyond})
	s.Files = files

	a := s.post(http.StatusOK, "", notedInput{Bytes: 1})
	s.spool = nil
	s.Want(http.StatusNotModified, nil, "", http.MethodGet, a.Header.Get("Content-Location"), nil, "If-None-Match", a.Header.Get("ETag"))
	if s.spool != nil {
		t.Error("what the caller has is written once more")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v stay behind, %v", left, err)
	}
}

// A spool has no name on the disk while it is open, so that a process that dies leaves nothing.
func TestASpoolIsUnlinked(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	s, err := writeSpool("a", mediaText, maxFileBytes, func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	r, err := s.reader()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	sum := sha256.Sum256([]byte("text"))
	if err != nil || string(content) != "text" || s.described.Size != 4 || s.described.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%q %+v, %v", content, s.described, err)
	}
}

// The link to a large result works for whoever has it, for half an hour, and no answer with one is kept.
func TestALargeResultIsBehindALink(t *testing.T) {
	s := newScribe(t)
	now := time.Now()
	s.Now = func() time.Time { return now }
	want := make([]byte, beyond)
	sum := sha256.Sum256(want)
	digest := hex.EncodeToString(sum[:])
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
	a := s.post(http.StatusOK, "alice", notedInput{Bytes: beyond})
	f := answer(a)
	if f.Content != nil || f.Size != beyond || f.SHA256 != digest || f.Name != "notes.csv" || f.MediaType != "text/csv; charset=utf-8" {
		t.Errorf("it is told as %+v", f)
	}
	if f.ExpiresAt == nil || f.ExpiresAt.Sub(now) > 30*time.Minute || f.ExpiresAt.Sub(now) < 29*time.Minute {
		t.Errorf("the link works until %v", f.ExpiresAt)
	}
	got := s.Want(http.StatusOK, nil, "", http.MethodGet, f.URL, nil)
	if !bytes.Equal(got.Body, want) || got.Header.Get("Content-Type") != f.MediaType || got.Header.Get("Content-Disposition") != `attachment; filename="notes.csv"` {
		t.Errorf("the link has %d bytes, %v", len(got.Body), got.Header)
	}
	// Who asks again has a link to the same, which is kept once.
	again := answer(s.Want(http.StatusOK, nil, "alice", http.MethodGet, a.Header.Get("Content-Location"), nil))
	if again.URL == "" || again.SHA256 != f.SHA256 {
		t.Errorf("asked again it is %+v", again)
	}
	var kept []string
	for key, err := range s.Files.List(t.Context(), string(record.HolderTools)+"/", now.Add(time.Hour)) {
		if _, _, sum, ok := record.ParseObjectKey(key); err != nil || !ok || sum != digest {
			t.Errorf("it is kept as %s, %v", key, err)
		}
		kept = append(kept, key)
	}
	if len(kept) != 1 {
		t.Errorf("it is kept as %v, for the cleaning of abandoned files to find", kept)
	}
	s.post(http.StatusOK, "alice", notedInput{Bytes: record.MaxInlineBytes})
}

// A result counts as stored for its caller as long as it is there.
func TestALargeResultCountsAsStoredUntilItIsGone(t *testing.T) {
	s := newScribe(t)
	start := time.Now()
	var passed atomic.Int64 // nanoseconds since then
	s.Now = func() time.Time { return start.Add(time.Duration(passed.Load())) }
	s.Quotas.Quotas.User.StoredBytes = 2*beyond + 1
	for range 2 {
		s.post(http.StatusOK, "alice", notedInput{Bytes: beyond})
	}
	var told problem.Document
	if a := s.post(http.StatusForbidden, "alice", notedInput{Bytes: beyond}); json.Unmarshal(a.Body, &told) != nil || told.Type != problem.QuotaExhausted.Type() {
		t.Errorf("%+v", told)
	}
	s.post(http.StatusOK, "bob", notedInput{Bytes: beyond})
	s.post(http.StatusOK, "alice", notedInput{Bytes: record.MaxInlineBytes})
	passed.Store(int64(2 * time.Hour))
	s.post(http.StatusOK, "alice", notedInput{Bytes: beyond})
}

func TestALargeResultAsTextIsSomewhereElse(t *testing.T) {
	s := newScribe(t)
	here := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+notePath, strings.NewReader(`{"bytes":3145729}`))
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
	if len(got.Body) != beyond || got.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("there are %d bytes of %s", len(got.Body), got.Header.Get("Content-Type"))
	}
}

func TestALargeResultTakesALogin(t *testing.T) {
	s := newScribe(t)
	for _, media := range []string{mediaJSON, mediaText} {
		var told problem.Document
		a := s.post(http.StatusUnauthorized, "", notedInput{Bytes: beyond}, "Accept", media)
		if err := json.Unmarshal(a.Body, &told); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(told.Detail, "Log in to get a link") || a.Header.Get("WWW-Authenticate") != "Bearer" || a.Header.Get("ETag") != "" {
			t.Errorf("nobody is told %q, %v", told.Detail, a.Header)
		}
	}
}
