package service_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"testing"

	"assay/functions"
	"assay/shared/edge/api/apitest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/health"
	"assay/shared/storage/blob"

	"go.yaml.in/yaml/v3"
)

func TestDocument_PassesTheLinter(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	doc := s.Want(http.StatusOK, nil, "", http.MethodGet, "/openapi.json", nil)
	for _, fault := range apitest.Lint(t, doc.Body)[0] {
		t.Error(fault)
	}
}

// The server serves the committed document. Each compressed form decompresses to the uncompressed text.
func TestDocument_IsServedInEveryForm(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	texts := map[string][]byte{}
	for path, mediaType := range map[string]string{
		"/openapi.json": "application/json", "/openapi.yaml": "application/yaml", "/docs": "text/html; charset=utf-8",
	} {
		plain := s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept-Encoding", "identity")
		packed := s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept-Encoding", "gzip")
		if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Content-Type") != mediaType {
			t.Fatalf("%s has the headers %v", path, packed.Header)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed.Body))
		if err != nil {
			t.Fatal(err)
		}
		if unpacked, err := io.ReadAll(r); err != nil || !bytes.Equal(unpacked, plain.Body) {
			t.Errorf("%s is packed as another text (%v)", path, err)
		}
		texts[path] = plain.Body
	}
	committed, err := os.ReadFile("openapi.json")
	if err != nil || !bytes.Equal(texts["/openapi.json"], committed) {
		t.Errorf("the served document is not the committed one (%v)", err)
	}
	var fromJSON, fromYAML any
	if err := errors.Join(yaml.Unmarshal(committed, &fromJSON), yaml.Unmarshal(texts["/openapi.yaml"], &fromYAML)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fromJSON, fromYAML) {
		t.Error("the document as YAML says something else than as JSON")
	}
}

// The page has every operation, is well-formed, and has spaces between elements, which templates easily lose.
func TestReference_HasEveryOperation(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	page := s.Want(http.StatusOK, nil, "", http.MethodGet, "/docs", nil, "Accept", "text/html").Body
	for _, op := range functions.Operations() {
		if !bytes.Contains(page, []byte(`id="`+op.ID+`"`)) {
			t.Errorf("the page does not show %s", op.ID)
		}
	}
	if joint := regexp.MustCompile(`[^<>]*</(code|a|span)>(<(code|a)\b|[\pL\pN(])[^<>]*`).Find(page); joint != nil {
		t.Errorf("the page runs words together: %s", joint)
	}
	for _, open := range []struct{ in, closed string }{ // elements that HTML leaves open and XML must close
		{`<(meta|link|input)\b[^>]*`, "$0/"},
		{`\s(hidden|data-entry)\b`, ` $1=""`},
		{`(?s)<(script|style)>.*?</[a-z]+>`, ""},
	} {
		page = regexp.MustCompile(open.in).ReplaceAll(page, []byte(open.closed))
	}
	for d := xml.NewDecoder(bytes.NewReader(page)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestHealth_FollowsTheStore(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Want(http.StatusOK, nil, "", http.MethodGet, "/health", nil)
	if err := s.Store.(interface{ Close() error }).Close(); err != nil {
		t.Fatal(err)
	}
	s.Want(http.StatusServiceUnavailable, nil, "", http.MethodGet, "/health", nil)
	s.Want(http.StatusOK, nil, "", http.MethodGet, "/health/live", nil)
}

// deadObjects is an object store that does not answer.
type deadObjects struct{ blob.Store }

func (deadObjects) Stat(context.Context, string) (blob.Object, error) {
	return blob.Object{}, errors.New("connection refused")
}

// A part whose failure does not stop the service makes it warn. The answer keeps the words of the object store to itself.
func TestHealth_Warns(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	for want, monitor := range map[string]*health.Monitor{
		`{"status":"pass","checks":{"store":{"status":"pass"}}}`:                           nil,
		`{"status":"pass","checks":{"files":{"status":"pass"},"store":{"status":"pass"}}}`: {Objects: s.Files, Log: s.Log},
		`{"status":"warn","checks":{"files":{"status":"warn","output":"The object store does not answer, so nobody can upload or download ` +
			`files, and no run is evaluated. The server's log has the error."},"store":{"status":"pass"}}}`: {Objects: deadObjects{}, Log: s.Log},
	} {
		s.Health = monitor
		if got := s.Want(http.StatusOK, nil, "", http.MethodGet, "/health", nil).Body; string(bytes.TrimSpace(got)) != want {
			t.Errorf("health is %s, want %s", got, want)
		}
	}
}
