package service_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"testing"

	"assay/functions"
	"assay/shared/api/apitest"
	"assay/shared/api/servertest"
)

func TestDocument_PassesTheLinter(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	doc := s.Want(http.StatusOK, nil, "", http.MethodGet, "/openapi.json", nil)
	for _, fault := range apitest.Lint(t, doc.Body)[0] {
		t.Error(fault)
	}
}

// The page has every operation, is well-formed, and has the spaces between elements that are easily lost in a template.
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
	for _, open := range []struct{ in, closed string }{ // what HTML leaves open and XML does not
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
