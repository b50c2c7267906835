package service_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
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

func referencePage(t *testing.T) []byte {
	s := servertest.New(t, functions.Operations()...)
	return s.Want(http.StatusOK, nil, "", http.MethodGet, "/docs", nil, "Accept", "text/html").Body
}

func TestReference_HasEveryOperation(t *testing.T) {
	page := string(referencePage(t))
	for _, op := range functions.Operations() {
		if !strings.Contains(page, `id="`+op.ID+`"`) {
			t.Errorf("the page does not show %s", op.ID)
		}
	}
	if strings.Contains(page, "://") && strings.Contains(page, "src=") {
		t.Error("the page asks for something from elsewhere")
	}
}

// Spaces between elements are easily lost in a template, and names then run together.
func TestReference_HasSpacesBetweenElements(t *testing.T) {
	if joint := regexp.MustCompile(`[^<>]*</(code|a|span)>(<(code|a)\b|[\pL\pN(])[^<>]*`).Find(referencePage(t)); joint != nil {
		t.Errorf("the page runs words together: %s", joint)
	}
}

func TestReference_IsWellFormed(t *testing.T) {
	page := referencePage(t)
	for _, open := range []struct{ in, closed string }{ // what HTML leaves open and XML does not
		{`<(meta|link|input)\b[^>]*`, "$0/"},
		{`\s(hidden|data-entry)\b`, ` $1=""`},
		{`(?s)<(script|style)>.*?</[a-z]+>`, ""},
	} {
		page = regexp.MustCompile(open.in).ReplaceAll(page, []byte(open.closed))
	}
	d := xml.NewDecoder(bytes.NewReader(page))
	for {
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
}
