package console_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/auth"
	"assay/shared/language/problem"
)

// The page knows how users sign in. Its policy allows requests only to this server, the issuer's token endpoint, and the object store.
func TestShell_FollowsTheIssuer(t *testing.T) {
	const issuer, none = "https://login.example.org", "connect-src 'self';"
	s := servertest.New(t, functions.Operations()...)
	for name, tt := range map[string]struct {
		issuer, client, files, token string
		has, connect                 string
	}{
		"no client":           {issuer, "", "", "", `&#34;issuer&#34;:&#34;` + issuer + `&#34;,&#34;development&#34;:false`, none},
		"development":         {s.URL + "/dev", "", "", "", `&#34;development&#34;:true`, none},
		"files elsewhere":     {issuer, "", "https://files.example", "", issuer, "connect-src 'self' https://files.example;"},
		"a client":            {issuer, "assay", "", "https://tokens.example/token?p=1", `&#34;client_id&#34;:&#34;assay&#34;`, "connect-src 'self' https://tokens.example;"},
		"scopes":              {issuer, "assay", "", issuer + "/token", `[&#34;openid&#34;,&#34;groups&#34;]`, "connect-src 'self' " + issuer + ";"},
		"silent":              {issuer, "assay", "", "silent", "does not answer", none},
		"no address":          {issuer, "assay", "", "", "or that for tokens", none},
		"nowhere to sign in":  {issuer, "assay", "", issuer + "/token", "or that for tokens", none},
		"no host":             {issuer, "assay", "", "https:///token", "or that for tokens", none},
		"no web address":      {issuer, "assay", "", "javascript:alert(1)", "or that for tokens", none},
		"a policy of its own": {issuer, "assay", "", "https://a.example;script-src/", "or that for tokens", none},
	} {
		s.Info.Issuer = tt.issuer
		s.Info.ClientID = tt.client
		s.Info.FilesOrigin = tt.files
		s.Endpoints = func(context.Context) (auth.Endpoints, error) {
			if tt.token == "silent" {
				return auth.Endpoints{}, problem.Unavailable.New("The issuer does not answer.")
			}
			authorize := issuer + "/authorize"
			if name == "nowhere to sign in" {
				authorize = "javascript:alert(1)"
			}
			return auth.Endpoints{Authorization: authorize, Token: tt.token, Scopes: []string{"openid", "groups"}}, nil
		}
		a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/console?code=c&state=s&x=1&x=2", nil, "Accept", "text/html,*/*;q=0.8")
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(string(a.Body), tt.has) || !strings.Contains(policy, tt.connect) ||
			!strings.Contains(policy, "require-trusted-types-for 'script'; trusted-types 'none'") {
			t.Errorf("%s: the policy is %q, and the page is\n%s", name, policy, a.Body)
		}
		info := servertest.Get[struct {
			SignIn   string `json:"signIn"`
			ClientID string `json:"clientId"`
		}](s, "", "/info")
		if works := name != "no client" && name != "files elsewhere"; (info.SignIn == "/console") != works || info.ClientID != tt.client {
			t.Errorf("%s: /info has %q and %q", name, info.SignIn, info.ClientID)
		}
	}
}

// The policy of a page that is opened by another name of the server has both names. A name with other characters is left out.
func TestShell_WorksByOtherNamesOfTheServer(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Info.URL = "https://assay.example"
	for host, want := range map[string][2]string{
		"assay.example":  {"script-src assay.example/console/;", "connect-src 'self';"},
		"localhost:8080": {"script-src assay.example/console/ localhost:8080/console/;", "connect-src 'self' https://assay.example;"},
		"a;b":            {"script-src assay.example/console/;", "connect-src 'self';"},
		"*":              {"script-src assay.example/console/;", "connect-src 'self';"},
		"'unsafe-eval'":  {"script-src assay.example/console/;", "connect-src 'self';"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/console", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, want[0]) || !strings.Contains(policy, strings.Replace(want[0], "script", "style", 1)) ||
			!strings.Contains(policy, want[1]) {
			t.Errorf("%s: the policy is %q", host, policy)
		}
	}
}

// Every file that the page names exists, may be cached for ever, and is allowed by the policy. Other files are missing.
func TestFiles_AreThoseThatThePageNames(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	page := s.Want(http.StatusOK, nil, "", http.MethodGet, "/console", nil)
	source := "script-src " + strings.TrimPrefix(s.URL, "http://") + "/console/;"
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, source) {
		t.Errorf("the policy is %q", policy)
	}
	named := regexp.MustCompile(`(?:src|href)="(/console/[^"]+)"`).FindAllSubmatch(page.Body, -1)
	if len(named) < 2 {
		t.Fatalf("the page names %d files", len(named))
	}
	for _, n := range named {
		path, mediaType := string(n[1]), "text/javascript; charset=utf-8"
		if strings.HasSuffix(path, ".css") {
			mediaType = "text/css; charset=utf-8"
		}
		a := s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "*/*")
		if a.Header.Get("Cache-Control") != "public, max-age=31536000" || a.Header.Get("Content-Type") != mediaType {
			t.Errorf("%s has %v", path, a.Header)
		}
	}
	for _, path := range []string{"/console/missing.js", "/console/..%2Fbundle_test.go", "/console/%2E"} {
		s.Want(http.StatusNotFound, nil, "", http.MethodGet, path, nil)
	}
}
