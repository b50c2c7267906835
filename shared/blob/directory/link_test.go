package directory

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"assay/shared/blob"
	"assay/shared/blob/blobtest"

	"pgregory.net/rapid"
)

// TestLink_HasWhatWasSigned signs arbitrary links and reads them back as the handler does.
func TestLink_HasWhatWasSigned(t *testing.T) {
	s := reopen(t, t.TempDir())
	now := time.Now()
	s.Now = func() time.Time { return now }
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9_-]{1,20}(/[A-Za-z0-9_-]{1,20}){0,3}`).Draw(t, "key")
		expires := now.Add(time.Duration(rapid.Int64Range(1, int64(blob.MaxLinkLife)).Draw(t, "life")))
		filename := rapid.String().Draw(t, "filename")
		o := blob.Object{Key: key, Size: rapid.Int64Range(0, blob.MaxSize).Draw(t, "size"), MediaType: "text/csv",
			SHA256: rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "digest")}

		link, err := s.SignPut(t.Context(), o, expires)
		if err != nil {
			t.Fatal(err)
		}
		query := verifyURL(t, s, link)
		if got := upload(key, query); got != o || !expiry(query).Equal(expires) || !link.ExpiresAt.Equal(expires) {
			t.Fatalf("signed %+v until %s, read %+v until %s", o, expires, got, expiry(query))
		}
		link, err = s.SignGet(t.Context(), key, filename, "text/csv", expires)
		if err != nil {
			t.Fatal(err)
		}
		query = verifyURL(t, s, link)
		if query.Get(paramFilename) != filename || query.Get(paramMediaType) != "text/csv" {
			t.Fatalf("signed %q, read %v", filename, query)
		}
		if _, _, err := mime.ParseMediaType(blob.Disposition(query.Get(paramFilename))); err != nil {
			t.Fatal(err)
		}
	})
}

func verifyURL(t *rapid.T, s *Store, link blob.Link) url.Values {
	u, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	query, err := s.verify(link.Method, strings.TrimPrefix(u.Path, "/files/"), u.RawQuery)
	if err != nil {
		t.Fatalf("%s is refused: %v", link.URL, err)
	}
	return query
}

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

// FuzzLink looks for a request that is let through although no link for it was signed.
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
