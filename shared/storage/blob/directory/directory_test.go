package directory

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/shared/storage/blob"
	"assay/shared/storage/blob/blobtest"
)

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store {
		s := serve(t)
		t.Cleanup(func() {
			if left, err := os.ReadDir(s.uploads); err != nil || len(left) > 0 {
				t.Errorf("uploads holds %v, %v after the test", left, err)
			}
		})
		return s
	})
}

func put(t testing.TB, s *Store, key, content string) {
	t.Helper()
	if err := s.Put(t.Context(), blobtest.Declare(key, content), strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

func reopen(t testing.TB, root string) *Store {
	t.Helper()
	s, err := Open(root, "http://127.0.0.1/files")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpen_KeepsFilesAndLinks(t *testing.T) {
	root := filepath.Join(t.TempDir(), "made", "on", "demand")
	s := reopen(t, root)
	put(t, s, "a", "content")
	link, err := s.SignGet(t.Context(), "a", "a", "", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	s = reopen(t, root)
	if got, err := s.Stat(t.Context(), "a"); err != nil || got != blobtest.Declare("a", "content") {
		t.Errorf("after opening again: %+v, %v", got, err)
	}
	if _, err := s.verify(http.MethodGet, "a", link.URL[strings.Index(link.URL, "?")+1:]); err != nil {
		t.Errorf("after opening again, a link is refused: %v", err)
	}
	info, err := os.Stat(filepath.Join(root, "link.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v; want permissions 0600", info, err)
	}

	if err := os.WriteFile(filepath.Join(root, "link.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(root, "http://127.0.0.1/files"); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("with an empty key file: %v", err)
	}
}

func TestOpen_ChecksTheBaseURL(t *testing.T) {
	for baseURL, valid := range map[string]bool{
		"http://127.0.0.1:8080/files": true, "https://assay.example": true, "https://assay.example/files/": true,
		"": false, "/files": false, "127.0.0.1:8080": false, "ftp://x/": false, "http://x/?a=b": false, "http://x/#a": false,
	} {
		s, err := Open(t.TempDir(), baseURL)
		if (err == nil) != valid {
			t.Errorf("base URL %q: %v, want valid %v", baseURL, err, valid)
		}
		if err != nil {
			continue
		}
		link, err := s.SignGet(t.Context(), "a/b", "a", "", time.Now().Add(time.Hour))
		if err != nil || !strings.HasPrefix(link.URL, strings.TrimSuffix(baseURL, "/")+"/a/b?") {
			t.Errorf("base URL %q gives %q, %v", baseURL, link.URL, err)
		}
	}
}

func TestOpen_RemovesAbandonedUploads(t *testing.T) {
	root := t.TempDir()
	s := reopen(t, root)
	abandon := func(name string, age time.Duration) string {
		path := filepath.Join(s.uploads, name)
		if err := os.WriteFile(path, []byte("half a file"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}

	old, young := abandon("old", 2*time.Hour), abandon("young", 10*time.Minute)
	reopen(t, root)
	if there(old) || !there(young) {
		t.Errorf("after Open: old %v, young %v; want only the young, which may still be growing", there(old), there(young))
	}

	old = abandon("old", 2*time.Hour)
	put(t, s, "a", "soon after Open")
	if !there(old) {
		t.Error("a Put soon after the last look through uploads looked again")
	}
	s.Now = func() time.Time { return time.Now().Add(abandonedAfter + time.Minute) }
	put(t, s, "a", "long after Open")
	if there(old) || there(young) {
		t.Errorf("after a later Put: old %v, young %v; want none", there(old), there(young))
	}
}

func TestStat_FindsDamagedFiles(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut off":         func(b []byte) []byte { return b[:len(b)-1] },
		"grown":           func(b []byte) []byte { return append(b, 'x') },
		"emptied":         func([]byte) []byte { return nil },
		"without header":  func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] },
		"endless header":  func([]byte) []byte { return bytes.Repeat([]byte(" "), 1<<20) },
		"another program": func([]byte) []byte { return []byte("\x7fELF\n\x00\x00") },
	} {
		t.Run(name, func(t *testing.T) {
			s := reopen(t, t.TempDir())
			put(t, s, "a", "content")
			whole, err := os.ReadFile(s.path("a"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.path("a"), damage(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			if o, err := s.Stat(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("Stat: %+v, %v", o, err)
			}
			if _, err := s.Open(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("Open: %v", err)
			}
			put(t, s, "a", "uploaded again")
			if got, err := s.Stat(t.Context(), "a"); err != nil || got != blobtest.Declare("a", "uploaded again") {
				t.Errorf("after another Put: %+v, %v", got, err)
			}
		})
	}
}

func TestPut_TakesTheLongestHeader(t *testing.T) {
	s := reopen(t, t.TempDir())
	o := blobtest.Declare(strings.Repeat("k", blob.MaxKeyBytes), "")
	o.Size = 0
	o.MediaType = `text/plain; a="` + strings.Repeat("<", blob.MaxMediaTypeBytes-16) + `"`
	if err := s.Put(t.Context(), o, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Stat(t.Context(), o.Key); err != nil || got != o {
		t.Errorf("%+v, %v", got, err)
	}
}

func BenchmarkPut(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 64 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s := reopen(b, b.TempDir())
			content := strings.Repeat("x", size)
			o := blobtest.Declare("a", content)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Put(b.Context(), o, strings.NewReader(content)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStat(b *testing.B) {
	s := reopen(b, b.TempDir())
	put(b, s, "a", "content")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Stat(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDownload(b *testing.B) {
	s := reopen(b, b.TempDir())
	put(b, s, "a", strings.Repeat("x", 16<<20))
	link, err := s.SignGet(b.Context(), "a", "a", "", time.Now().Add(time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	handler := http.StripPrefix("/files", s.Handler(recorded, expected, answer))
	b.SetBytes(16 << 20)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(discard{http.Header{}}, httptest.NewRequest(http.MethodGet, link.URL, nil))
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(p []byte) (int, error) { return len(p), nil }

func TestLink_ExpiresAtItsInstant(t *testing.T) {
	s := reopen(t, t.TempDir())
	now := time.Now()
	expires := now.Add(time.Minute + time.Nanosecond)
	link, err := s.SignGet(t.Context(), "a", "a", "", expires)
	if err != nil {
		t.Fatal(err)
	}
	_, query, _ := strings.Cut(link.URL, "?")
	for _, test := range []struct {
		at   time.Time
		want error
	}{{now, nil}, {expires.Add(-1), nil}, {expires, errExpired}, {expires.Add(1), errExpired}} {
		s.Now = func() time.Time { return test.at }
		if _, err := s.verify(http.MethodGet, "a", query); !errors.Is(err, test.want) {
			t.Errorf("at %s: %v, want %v", test.at.Sub(now), err, test.want)
		}
	}
}

func TestLink_IsOfOneKey(t *testing.T) {
	a, b := reopen(t, t.TempDir()), reopen(t, t.TempDir())
	link, err := a.SignGet(t.Context(), "a", "a", "", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	_, query, _ := strings.Cut(link.URL, "?")
	if _, err := b.verify(http.MethodGet, "a", query); !errors.Is(err, errSignature) {
		t.Errorf("a link of another store: %v, want %v", err, errSignature)
	}
}

// FuzzLink searches for a request that is accepted although no link for it was signed.
func FuzzLink(f *testing.F) {
	s := reopen(f, f.TempDir())
	copy(s.key, "the same key in every process of a fuzzing run")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return now }
	get, err := s.SignGet(f.Context(), "runs/1", "run.txt", "text/plain", now.Add(time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	put, err := s.SignPut(f.Context(), blobtest.Declare("runs/1", "content"), now.Add(time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	signed := map[string]url.Values{}
	for _, link := range []blob.Link{get, put} {
		u, err := url.Parse(link.URL)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(link.Method, "runs/1", u.RawQuery)
		f.Add(link.Method, "runs/1", u.RawQuery+"&size=1")
		f.Add(link.Method+"\nruns", "1", u.RawQuery)
		signed[link.Method] = u.Query()
		signed[link.Method].Del(paramSignature)
	}
	f.Add("GET", "../link.key", "signature=")
	f.Add("GET", "runs/1", "signature=;expires=9999999999999999999")
	f.Fuzz(func(t *testing.T, method, key, rawQuery string) {
		query, err := s.verify(method, key, rawQuery)
		if err != nil {
			return
		}
		want, ok := signed[method]
		if !ok || key != "runs/1" || query.Encode() != want.Encode() {
			t.Errorf("%s %s?%s is let through", method, key, rawQuery)
		}
	})
}
