package api_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
)

// serveStatic serves the document at /v1/static.
func serveStatic(t *testing.T, mediaType string, render func() ([]byte, error)) *servertest.Server {
	return servertest.New(t, api.Document(api.Spec{ID: "static", Path: "/v1/static", May: access.Anyone}, []string{mediaType},
		api.NewStatic(mediaType, render).Answer))
}

// Requests that arrive before the document exists share one rendering.
func TestStatic_IsMadeOnceForConcurrentRequests(t *testing.T) {
	const text = "a line of a document that is long enough\n"
	var rendered atomic.Int32
	s := serveStatic(t, "text/plain", func() ([]byte, error) {
		rendered.Add(1)
		return []byte(strings.Repeat(text, 1000)), nil
	})
	answers := make([]servertest.Answer, 16)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = s.Do("", http.MethodGet, "/v1/static", nil, "Accept-Encoding", []string{"gzip", "identity"}[i%2])
		})
	}
	all.Wait()
	for i, a := range answers {
		coded := a.Header.Get("Content-Encoding") == "gzip"
		if a.Status != http.StatusOK || coded != (i%2 == 0) || a.Header.Get("ETag") != answers[i%2].Header.Get("ETag") {
			t.Errorf("answer %d: %d with %v", i, a.Status, a.Header)
		}
		if got := gunzipped(t, a); got != strings.Repeat(text, 1000) {
			t.Errorf("answer %d has another text, of %d bytes", i, len(got))
		}
		if !bytes.Equal(a.Body, answers[i%2].Body) {
			t.Errorf("answer %d has other bytes than the first of its coding", i)
		}
	}
	if n := rendered.Load(); n != 1 {
		t.Errorf("the document was rendered %d times", n)
	}
}

// Static documents behave like other documents: entity tags by coding, 304, HEAD, and no compression without a gain.
func TestStatic_IsNegotiatedLikeOtherDocuments(t *testing.T) {
	body := strings.Repeat("x", 4<<10)
	static := serveStatic(t, "text/plain", func() ([]byte, error) { return []byte(body), nil })
	other := servertest.New(t, api.Document(api.Spec{ID: "other", Path: "/v1/static", May: access.Anyone}, []string{"text/plain"},
		func(_ context.Context, c *api.Call) error { return c.WriteDocument("text/plain", []byte(body)) }))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, accept := range []string{"gzip", "identity", "gzip, identity;q=0", "br", "identity;q=0"} {
			tag := ""
			for range 2 {
				headers := []string{"Accept-Encoding", accept, "If-None-Match", tag}
				got := static.Do("", method, "/v1/static", nil, headers...)
				want := other.Do("", method, "/v1/static", nil, headers...)
				if got.Status != want.Status || got.Status < 400 && !bytes.Equal(got.Body, want.Body) {
					t.Errorf("%s with %q and the tag %q: %d with %d bytes, want %d with %d", method, accept, tag,
						got.Status, len(got.Body), want.Status, len(want.Body))
				}
				for _, name := range []string{"ETag", "Content-Encoding", "Content-Length", "Content-Type", "Vary", "Cache-Control"} {
					if got.Status < 400 && got.Header.Get(name) != want.Header.Get(name) {
						t.Errorf("%s with %q: %s is %q, want %q", method, accept, name, got.Header.Get(name), want.Header.Get(name))
					}
				}
				tag = want.Header.Get("ETag")
			}
		}
	}
	image := serveStatic(t, "image/png", func() ([]byte, error) { return []byte(body), nil })
	if a := image.Do("", http.MethodGet, "/v1/static", nil, "Accept-Encoding", "gzip"); a.Header.Get("Content-Encoding") != "" {
		t.Errorf("an image is coded: %v", a.Header)
	}
}

func TestStatic_ThatCannotBeRenderedIsAnInternalError(t *testing.T) {
	s := serveStatic(t, "text/plain", func() ([]byte, error) { return nil, errors.New("broken") })
	for range 2 {
		s.Want(http.StatusInternalServerError, nil, "", http.MethodGet, "/v1/static", nil)
	}
}
