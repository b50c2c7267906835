package service_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"assay/functions"
	"assay/functions/service"
	"assay/shared/api/apitest"
	"assay/shared/api/servertest"
	"assay/shared/auth"
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

// Without a client the page says where tokens come from; with one, its script may ask this server and the issuer's address for tokens.
func TestSignIn_FollowsTheIssuer(t *testing.T) {
	const issuer = "https://login.example.org"
	s := servertest.New(t, functions.Operations()...)
	for name, tt := range map[string]struct {
		issuer, client, token string
		status                int
		has, connect          string
	}{
		"no client":           {issuer, "", "", 200, "Get a token from the OpenID Connect issuer <code>" + issuer, ""},
		"development":         {s.URL + "/dev", "", "", 200, `name="user"`, "connect-src 'self'"},
		"a client":            {issuer, "assay", "https://tokens.example.org/token?p=1", 200, `{&#34;client_id&#34;:&#34;assay&#34;,&#34;authorization_endpoint&#34;:&#34;`, "connect-src 'self' https://tokens.example.org"},
		"a client of scopes":  {issuer, "assay", issuer + "/token", 200, `[&#34;openid&#34;,&#34;groups&#34;]`, "connect-src 'self' " + issuer},
		"no address":          {issuer, "assay", "", 503, "no address for tokens", ""},
		"no web address":      {issuer, "assay", "javascript:alert(1)", 503, "no address for tokens", ""},
		"a policy of its own": {issuer, "assay", "https://a.example;script-src/", 503, "no address for tokens", ""},
	} {
		s.Info.Issuer, s.Info.ClientID = tt.issuer, tt.client
		s.Endpoints = func(context.Context) (auth.Endpoints, error) {
			e := auth.Endpoints{Authorization: issuer + "/authorize", Token: tt.token, Scopes: []string{"openid", "groups"}}
			return e, nil
		}
		a := s.Want(tt.status, nil, "", http.MethodGet, "/sign-in?code=c&state=s&x=1&x=2", nil, "Accept", "text/html,*/*;q=0.8")
		_, connect, _ := strings.Cut(a.Header.Get("Content-Security-Policy"), "; connect-src ")
		if !strings.Contains(string(a.Body), tt.has) || connect != strings.TrimPrefix(tt.connect, "connect-src ") {
			t.Errorf("%s: the policy allows %q, and the page is\n%s", name, connect, a.Body)
		}
		info := servertest.Get[service.Info](s, "", "/info")
		links := string(s.Want(200, nil, "", http.MethodGet, "/", nil, "Accept", "text/html").Body)
		if works := name != "no client"; (info.SignIn == "/sign-in") != works || strings.Contains(links, `href="/sign-in"`) != works ||
			info.ClientID != tt.client {
			t.Errorf("%s: /info has %q and %q", name, info.SignIn, info.ClientID)
		}
	}
}
