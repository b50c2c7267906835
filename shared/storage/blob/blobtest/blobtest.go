// Package blobtest is the conformance suite of blob.Store. All drivers pass it, so that callers need not know which driver they use.
package blobtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"assay/shared/storage/blob"
)

// Run runs the suite. open returns an empty store with reachable links, and cleans up after its test.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, test := range map[string]func(*testing.T, blob.Store){
		"RoundTrip":    roundTrip,
		"Replace":      replace,
		"Mismatch":     mismatch,
		"BrokenReader": brokenReader,
		"Cancelled":    cancelled,
		"Invalid":      invalid,
		"DistinctKeys": distinctKeys,
		"Delete":       deletes,
		"OpenReader":   openReader,
		"List":         list,
		"NoTornRead":   noTornRead,

		"Upload":           upload,
		"UploadOtherBytes": uploadOtherBytes,
		"UploadUndeclared": uploadUndeclared,
		"UploadAborted":    uploadAborted,
		"Download":         download,
		"DownloadRanges":   downloadRanges,
		"DownloadMissing":  downloadMissing,
		"AlteredLinks":     alteredLinks,
		"ExpiredLinks":     expiredLinks,
		"LinkLife":         linkLife,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Declare declares a file under key with the content.
func Declare(key, content string) blob.Object {
	sum := sha256.Sum256([]byte(content))
	return blob.Object{Key: key, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain"}
}

// Zeros is an endless reader of zeros.
type Zeros struct{}

// Read implements io.Reader.
func (Zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func put(t *testing.T, s blob.Store, key, content string) blob.Object {
	t.Helper()
	o := Declare(key, content)
	if err := s.Put(t.Context(), o, strings.NewReader(content)); err != nil {
		t.Fatalf("Put %s: %v", key, err)
	}
	return o
}

func expect(t *testing.T, s blob.Store, want blob.Object, content string) {
	t.Helper()
	if got, err := s.Stat(t.Context(), want.Key); err != nil || got != want {
		t.Errorf("Stat %s: %+v, %v; want %+v", want.Key, got, err, want)
	}
	r, err := s.Open(t.Context(), want.Key)
	if err != nil {
		t.Fatalf("Open %s: %v", want.Key, err)
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(got) != content {
		t.Errorf("%s has %d bytes %.40q, %v; want %d bytes %.40q", want.Key, len(got), got, err, len(content), content)
	}
}

func expectNothing(t *testing.T, s blob.Store, key string) {
	t.Helper()
	if o, err := s.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Stat %s: %+v, %v; want ErrNotFound", key, o, err)
	}
	if _, err := s.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Open %s: %v, want ErrNotFound", key, err)
	}
}

func roundTrip(t *testing.T, s blob.Store) {
	for _, size := range []int{0, 1, 4 << 10, 256<<10 - 1, 256 << 10, 256<<10 + 1, 9 << 20} {
		content := strings.Repeat("0123456\n", size/8+1)[:size]
		o := Declare("runs/1/output", content)
		// A slow network delivers few bytes at a time, and a pipe implements only Read.
		r := io.Reader(strings.NewReader(content))
		if size <= 4<<10 {
			r = iotest.OneByteReader(r)
		}
		if err := s.Put(t.Context(), o, struct{ io.Reader }{r}); err != nil {
			t.Fatalf("Put %d bytes: %v", size, err)
		}
		expect(t, s, o, content)
	}
	o := Declare("untyped", "")
	o.MediaType = ""
	if err := s.Put(t.Context(), o, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	o.MediaType = blob.DefaultMediaType
	expect(t, s, o, "")
}

func replace(t *testing.T, s blob.Store) {
	put(t, s, "a", "the former, which is longer")
	o := put(t, s, "a", "the new")
	expect(t, s, o, "the new")
}

func mismatch(t *testing.T, s blob.Store) {
	content := "twelve bytes"
	former := put(t, s, "present", "former")
	for name, change := range map[string]func(*blob.Object){
		"too short":    func(o *blob.Object) { o.Size++ },
		"too long":     func(o *blob.Object) { o.Size-- },
		"not empty":    func(o *blob.Object) { o.Size = 0 },
		"other digest": func(o *blob.Object) { o.SHA256 = Declare("", "other bytes!").SHA256 },
	} {
		for _, key := range []string{"absent", "present"} {
			o := Declare(key, content)
			change(&o)
			if err := s.Put(t.Context(), o, strings.NewReader(content)); !errors.Is(err, blob.ErrMismatch) {
				t.Errorf("%s: Put returned %v, want ErrMismatch", name, err)
			}
		}
	}
	expectNothing(t, s, "absent")
	expect(t, s, former, "former")
}

func brokenReader(t *testing.T, s blob.Store) {
	former := put(t, s, "a", "former")
	content := strings.Repeat("x", 1<<20)
	broken := errors.New("connection lost")
	err := s.Put(t.Context(), Declare("a", content), io.MultiReader(strings.NewReader(content[:len(content)/2]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("Put returned %v, want the reader's error", err)
	}
	expect(t, s, former, "former")
}

func cancelled(t *testing.T, s blob.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	content := strings.Repeat("x", 1<<20)
	r := io.MultiReader(strings.NewReader(content[:1]), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }),
		strings.NewReader(content[1:]))
	if err := s.Put(ctx, Declare("a", content), r); !errors.Is(err, context.Canceled) {
		t.Errorf("Put returned %v, want context.Canceled", err)
	}
	expectNothing(t, s, "a")
}

type readerFunc func([]byte) (int, error)

// Read calls f once and then returns io.EOF, so that f can be part of an io.MultiReader.
func (f readerFunc) Read(p []byte) (int, error) {
	if _, err := f(p); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

func invalid(t *testing.T, s blob.Store) {
	ctx, soon := t.Context(), time.Now().Add(time.Minute)
	put(t, s, "etc/passwd", "inside")
	for _, key := range []string{"", "/", "../etc/passwd", "a/../etc/passwd", "/etc/passwd", "etc//passwd", `..\x`, "a\x00", "a b",
		strings.Repeat("k", 513)} {
		o := Declare(key, "")
		_, getErr := s.SignGet(ctx, key, "x", "", soon)
		_, putErr := s.SignPut(ctx, o, soon)
		_, openErr := s.Open(ctx, key)
		_, statErr := s.Stat(ctx, key)
		for method, err := range map[string]error{
			"Put": s.Put(ctx, o, strings.NewReader("")), "Delete": s.Delete(ctx, "etc/passwd", key),
			"Open": openErr, "Stat": statErr, "SignGet": getErr, "SignPut": putErr,
		} {
			if err == nil || errors.Is(err, blob.ErrNotFound) {
				t.Errorf("%s with key %q returned %v", method, key, err)
			}
		}
	}
	o := Declare("a", "")
	o.SHA256 = strings.ToUpper(o.SHA256)
	if err := s.Put(ctx, o, strings.NewReader("")); err == nil {
		t.Error("Put took an upper-case digest")
	}
	if _, err := s.SignPut(ctx, o, soon); err == nil {
		t.Error("SignPut took an upper-case digest")
	}
	if _, err := s.SignGet(ctx, "a", "x", "text/html\r\nX-Evil: 1", soon); err == nil {
		t.Error("SignGet took a media type with a line break")
	}
	for _, prefix := range []string{"a", "../", "/"} {
		for _, err := range s.List(ctx, prefix, "", soon) {
			if err == nil {
				t.Errorf("List took the prefix %q", prefix)
			}
		}
	}
	expect(t, s, Declare("etc/passwd", "inside"), "inside")
}

func distinctKeys(t *testing.T, s blob.Store) {
	keys := []string{"a", "A", "a/b", "a/b/c", "a.b", "a-b", "...", ".a", "con", strings.Repeat("k", 512), strings.Repeat("k/", 255) + "k"}
	for _, key := range keys {
		put(t, s, key, "content of "+key)
	}
	for _, key := range keys {
		expect(t, s, Declare(key, "content of "+key), "content of "+key)
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	expect(t, s, Declare("a/b", "content of a/b"), "content of a/b")
}

func deletes(t *testing.T, s blob.Store) {
	for _, key := range []string{"a", "b", "c"} {
		put(t, s, key, key)
	}
	if err := s.Delete(t.Context()); err != nil {
		t.Errorf("Delete of nothing: %v", err)
	}
	if err := s.Delete(t.Context(), "a", "missing", "c", "a"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	expectNothing(t, s, "a")
	expectNothing(t, s, "c")
	expectNothing(t, s, "missing")
	expect(t, s, Declare("b", "b"), "b")
}

func openReader(t *testing.T, s blob.Store) {
	content := strings.Repeat("former\n", 1<<17)
	for name, change := range map[string]func() error{
		"Put":    func() error { return s.Put(t.Context(), Declare("a", "new"), strings.NewReader("new")) },
		"Delete": func() error { return s.Delete(t.Context(), "a") },
	} {
		put(t, s, "a", content)
		r, err := s.Open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		start := make([]byte, 10)
		if _, err := io.ReadFull(r, start); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || string(start)+string(rest) != content {
			t.Errorf("a %s disturbed a reader: %d bytes, %v", name, len(start)+len(rest), err)
		}
	}
}

func list(t *testing.T, s blob.Store) {
	keys := []string{"runs/1/a", "runs/1/b", "runs/10/a", "runs", "tasks/1"}
	for _, key := range keys {
		put(t, s, key, key)
	}
	for prefix, want := range map[string][]string{
		"":         {"runs", "runs/1/a", "runs/1/b", "runs/10/a", "tasks/1"},
		"runs/":    {"runs/1/a", "runs/1/b", "runs/10/a"},
		"runs/1/":  {"runs/1/a", "runs/1/b"},
		"nothing/": nil,
	} {
		var got []string
		for key, err := range s.List(t.Context(), prefix, "", time.Now().Add(time.Hour)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, key)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("List of %q: %q, want %q", prefix, got, want)
		}
	}
	for key, err := range s.List(t.Context(), "", "", time.Now().Add(-time.Hour)) {
		t.Errorf("%q, %v was stored an hour ago", key, err)
	}
	// If the sequence continued after the break, the range loop would panic.
	for _, err := range s.List(t.Context(), "", "", time.Now().Add(time.Hour)) {
		if err != nil {
			t.Error(err)
		}
		break
	}
}

// noTornRead has writers that keep replacing and deleting a file. A reader must see either one complete version or no file.
func noTornRead(t *testing.T, s blob.Store) {
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		content := strings.Repeat(string(rune('a'+i)), 100<<10+i)
		writers.Go(func() {
			for round := range 20 {
				if err := s.Put(t.Context(), Declare("a", content), strings.NewReader(content)); err != nil {
					t.Errorf("Put: %v", err)
				}
				if round%5 == i {
					if err := s.Delete(t.Context(), "a"); err != nil {
						t.Errorf("Delete: %v", err)
					}
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				r, err := s.Open(t.Context(), "a")
				if errors.Is(err, blob.ErrNotFound) {
					continue
				}
				if err != nil {
					t.Errorf("Open: %v", err)
					return
				}
				content, err := io.ReadAll(r)
				err = errors.Join(err, r.Close())
				if i := len(content) - 100<<10; err != nil || i < 0 || i > 3 ||
					string(content) != strings.Repeat(string(rune('a'+i)), len(content)) {
					t.Errorf("read %d bytes that nobody wrote: %v", len(content), err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}
