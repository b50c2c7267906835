package devissuer_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/auth"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/language/problem"

	"github.com/coreos/go-oidc/v3/oidc"
)

const audience = "assay"

func open(t *testing.T, keyFile, url string) *devissuer.Issuer {
	t.Helper()
	i, err := devissuer.Open(keyFile, url, audience)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func verifier(t *testing.T, i *devissuer.Issuer, url string) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Config{Issuer: url, Audience: audience, Transport: i})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// answer renders a problem like package api.
func answer(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem.Error
	if !errors.As(err, &p) {
		panic(err)
	}
	w.Header().Set("Content-Type", problem.MediaType)
	w.WriteHeader(p.Kind.Status)
	if err := json.NewEncoder(w).Encode(p.Document(r.URL.Path, "")); err != nil {
		panic(err)
	}
}

func do(t *testing.T, i *devissuer.Issuer, method, url, contentType, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	i.Handler(answer).ServeHTTP(w, r)
	return w
}

type tokenResponse struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
}

func TestToken_IsVerifiedAsARealOne(t *testing.T) {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	url := server.URL + "/dev"
	i := open(t, filepath.Join(t.TempDir(), "dev.key"), url)
	mux.Handle("/dev/", i.Handler(answer))
	w := do(t, i, http.MethodPost, url+"/token", "application/json; charset=utf-8",
		`{"user": "alice", "name": "Alice Ångström", "email": "alice@example.org", "groups": ["workers", "admins"]}`)
	var g tokenResponse
	if err := json.Unmarshal(w.Body.Bytes(), &g); err != nil || w.Code != http.StatusOK || g.TokenType != "Bearer" || g.ExpiresIn != 12*60*60 {
		t.Fatalf("%d %s, %v", w.Code, w.Body, err)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", w.Header())
	}

	overHTTP, err := auth.New(auth.Config{Issuer: url, Audience: audience})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]*auth.Verifier{"over HTTP": overHTTP, "in process": verifier(t, i, url)} {
		got, err := v.Verify(t.Context(), g.AccessToken)
		if left := time.Until(got.Expires); left < 12*time.Hour-time.Minute || left > 12*time.Hour {
			t.Errorf("%s: expires in %s", name, left)
		}
		got.Expires = time.Time{}
		want := auth.Identity{Issuer: url, Subject: "alice", Name: "Alice Ångström", Email: "alice@example.org", Groups: []string{
			"admins", "workers"}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}

	// Another OpenID Connect client accepts the token too.
	provider, err := oidc.NewProvider(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if token, err := provider.Verifier(&oidc.Config{ClientID: audience}).Verify(t.Context(), g.AccessToken); err != nil ||
		token.Subject != "alice" {
		t.Errorf("go-oidc: %+v, %v", token, err)
	}
}

// TestToken_IsForAnyName requests tokens for names as people write them. Each name is a separate user.
func TestToken_IsForAnyName(t *testing.T) {
	const url = "http://127.0.0.1:8080/dev"
	i := open(t, "", url)
	v := verifier(t, i, url)
	names := map[string]string{}
	for _, name := range []string{"Nora Berg", "Nora.Berg", "Ada Ångström", "李雷", "王芳", strings.Repeat("n", 200)} {
		var g tokenResponse
		w := do(t, i, http.MethodPost, url+"/token", "application/json", `{"user": "`+name+`"}`)
		if err := json.Unmarshal(w.Body.Bytes(), &g); err != nil || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s, %v", name, w.Code, w.Body, err)
			continue
		}
		got, err := v.Verify(t.Context(), g.AccessToken)
		if err != nil || got.Subject != name || got.Name != name {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if other := names[got.UserID()]; other != "" {
			t.Errorf("%s and %s are one user", name, other)
		}
		names[got.UserID()] = name
	}
}

func TestToken_OutlivesRestart(t *testing.T) {
	const url = "http://127.0.0.1:8080/dev"
	keyFile := filepath.Join(t.TempDir(), "dev.key")
	token, err := open(t, keyFile, url).Token(devissuer.User{User: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := verifier(t, open(t, keyFile, url), url).Verify(t.Context(), token)
	if err != nil || got.Subject != "alice" || got.Name != "alice" || got.Email != "" || got.Groups != nil {
		t.Errorf("after a restart a token without a name is of %+v, %v", got, err)
	}
	info, err := os.Stat(keyFile)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v; want permissions 0600", info, err)
	}
	entries, err := os.ReadDir(filepath.Dir(keyFile))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	if _, err := verifier(t, open(t, keyFile, url), url).Verify(t.Context(), token); !problem.InvalidToken.Is(err) {
		t.Errorf("with a new key: %v", err)
	}
}

func TestOpen_RefusesBrokenKeyFiles(t *testing.T) {
	for name, content := range map[string]string{
		"empty":   "",
		"no key":  "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"garbage": "garbage",
		"Ed25519": "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIHcHbQpzGKV9PBbBclGyZkXfTC+H68CZKrF3+6UduSwq\n-----END PRIVATE KEY-----\n",
	} {
		keyFile := filepath.Join(t.TempDir(), "dev.key")
		if err := os.WriteFile(keyFile, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := devissuer.Open(keyFile, "http://127.0.0.1/dev", audience); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := devissuer.Open(filepath.Join(t.TempDir(), "missing", "dev.key"), "http://127.0.0.1/dev", audience); err == nil {
		t.Error("a key file in a folder that is not there")
	}
	for _, url := range []string{"", "dev", "http://127.0.0.1/dev/"} {
		if _, err := devissuer.Open(filepath.Join(t.TempDir(), "dev.key"), url, audience); err == nil {
			t.Errorf("opened with the URL %q", url)
		}
	}
}

func TestHandler_AnswersWithProblems(t *testing.T) {
	const url = "http://127.0.0.1:8080/dev"
	i := open(t, filepath.Join(t.TempDir(), "dev.key"), url)
	for name, test := range map[string]struct {
		method, path, contentType, body string
		status                          int
		says                            string
	}{
		"no JSON type":        {"POST", "/token", "text/plain", `{"user":"a"}`, 415, "application/json"},
		"another charset":     {"POST", "/token", "application/json; charset=utf-16", `{"user":"a"}`, 415, "UTF-8"},
		"not JSON":            {"POST", "/token", "application/json", `user`, 400, "JSON document"},
		"null":                {"POST", "/token", "application/json", `null`, 422, "must be an object"},
		"too long":            {"POST", "/token", "application/json", `{"user":"` + strings.Repeat("a", 20000) + `"}`, 413, "at most"},
		"no user":             {"POST", "/token", "application/json", `{}`, 422, "/user"},
		"user is no string":   {"POST", "/token", "application/json", `{"user":1}`, 422, "/user must be a text"},
		"user before a space": {"POST", "/token", "application/json", `{"user":"a "}`, 422, "/user"},
		"user with a break":   {"POST", "/token", "application/json", `{"user":"a\nb"}`, 422, "/user"},
		"unseen user":         {"POST", "/token", "application/json", `{"user":"\u200b"}`, 422, "/user"},
		"long user":           {"POST", "/token", "application/json", `{"user":"` + strings.Repeat("a", 201) + `"}`, 422, "/user"},
		"name with a break":   {"POST", "/token", "application/json", `{"user":"a","name":"a\nb"}`, 422, "/name"},
		"long name":           {"POST", "/token", "application/json", `{"user":"a","name":"` + strings.Repeat("a", 201) + `"}`, 422, "/name"},
		"no address":          {"POST", "/token", "application/json", `{"user":"a","email":"a"}`, 422, "/email"},
		"address with a name": {"POST", "/token", "application/json", `{"user":"a","email":"A <a@b.c>"}`, 422, "/email"},
		"groups no array": {"POST", "/token", "application/json", `{"user":"a","groups":"admins"}`, 422,
			"/groups must be a list"},
		"empty group": {"POST", "/token", "application/json", `{"user":"a","groups":["b",""]}`, 422, "/groups/1"},
		"many groups": {"POST", "/token", "application/json", `{"user":"a","groups":["b"` + strings.Repeat(`,"b"`, 20) + `]}`, 422,
			"at most 20"},
		"unknown member":   {"POST", "/token", "application/json", `{"user":"a","a/b":1}`, 422, "/a~1b is not a member"},
		"two faults":       {"POST", "/token", "application/json", `{"name":"\u0000","groups":[" "]}`, 422, "/groups/0"},
		"GET of the token": {"GET", "/token", "", ``, 405, "POST"},
		"POST of the keys": {"POST", "/jwks.json", "application/json", `{}`, 405, "GET or HEAD"},
		"part of a method": {"HEA", "/jwks.json", "", ``, 405, "GET or HEAD"},
		"unknown path":     {"GET", "/authorize", "", ``, 404, "/dev/token"},
	} {
		t.Run(name, func(t *testing.T) {
			w := do(t, i, test.method, url+test.path, test.contentType, test.body)
			var p problem.Document
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != problem.MediaType {
				t.Fatalf("%d %s is no problem: %v", w.Code, w.Body, err)
			}
			says := p.Detail
			for _, f := range p.Errors {
				says += "\n" + f.Pointer + " " + f.Detail
			}
			if w.Code != test.status || !strings.Contains(says, test.says) {
				t.Errorf("%d %s, want %d that says %q", w.Code, says, test.status, test.says)
			}
			if allow := w.Header().Get("Allow"); (w.Code == http.StatusMethodNotAllowed) != (allow != "") {
				t.Errorf("Allow is %q", allow)
			}
		})
	}
	if w := do(t, i, http.MethodHead, url+"/jwks.json", "", ""); w.Code != http.StatusOK {
		t.Errorf("HEAD of the keys: %d", w.Code)
	}
}

func TestHandler_PublishesNoSecret(t *testing.T) {
	const url = "http://127.0.0.1:8080/dev"
	w := do(t, open(t, filepath.Join(t.TempDir(), "dev.key"), url), http.MethodGet, url+"/jwks.json", "", "")
	var set struct{ Keys []map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil || len(set.Keys) != 1 {
		t.Fatalf("%s, %v", w.Body, err)
	}
	for _, member := range []string{"kty", "kid", "crv", "x", "y", "use", "alg"} {
		if set.Keys[0][member] == nil {
			t.Errorf("the key lacks %s", member)
		}
	}
	if set.Keys[0]["d"] != nil {
		t.Error("the private key is published")
	}
}

// A page under another host name that resolves to this machine gets no token (DNS rebinding).
func TestHandler_GivesTokensUnderItsOwnHostAlone(t *testing.T) {
	for _, c := range []struct {
		issuer, host string
		given        bool
	}{
		{"http://127.0.0.1:8080/dev", "127.0.0.1:8080", true},
		{"http://127.0.0.1:8080/dev", "localhost:8080", true},
		{"http://127.0.0.1:8080/dev", "[::1]:8080", true},
		{"http://127.0.0.1:8080/dev", "evil.example:8080", false},
		{"http://127.0.0.1:8080/dev", "127.0.0.1.evil.example:8080", false},
		{"https://lab.example/dev", "evil.example", false},
		{"http://127.0.0.1:8080/dev", "", false},
		{"https://lab.example/dev", "LAB.example", true},
		{"http://[::]:8080/dev", "192.0.2.7:8080", true},
		{"http://127.0.0.1:8080/dev", "localhost", false},
		{"http://127.0.0.1:8080/dev", "127.0.0.2:8080", true},
		{"http://127.0.0.1:8080/dev", "localhost.evil.example:8080", false},
		{"http://127.0.0.1:8080/dev", "192.0.2.7:8080", false},
		{"http://127.0.0.1:80/dev", "localhost", true},
		{"http://lab.example/dev", "lab.example:80", true},
		{"http://lab.example/dev", "lab.example:81", false},
		{"https://lab.example/dev", "localhost:443", true},
		{"https://lab.example/dev", "localhost:80", false},
		{"http://[::]:8080/dev", "localhost:8080", true},
		{"http://[::]:8080/dev", "[2001:db8::7]:8080", true},
		{"http://[::]:8080/dev", "192.0.2.7:80", false},
		{"http://[::]:8080/dev", "evil.example:8080", false},
	} {
		i, err := devissuer.Open(filepath.Join(t.TempDir(), "key"), c.issuer, "assay")
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/dev/token", strings.NewReader(`{"user":"alice"}`))
		r.Host = c.host
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		var refused error
		i.Handler(func(_ http.ResponseWriter, _ *http.Request, err error) { refused = err }).ServeHTTP(w, r)
		if given := strings.Contains(w.Body.String(), "access_token"); given != c.given || !given && !problem.Forbidden.Is(refused) {
			t.Errorf("%s, asked as %q: %s, %v", c.issuer, c.host, w.Body, refused)
		}
		if !c.given && (refused == nil || !strings.Contains(refused.Error(), c.issuer+"/token")) {
			t.Errorf("%s, asked as %q: the refusal does not say which address to use: %v", c.issuer, c.host, refused)
		}
	}
}

// Programs that encode a whole user send null for missing members.
func TestToken_TakesNullForWhatIsMissing(t *testing.T) {
	const url = "http://127.0.0.1:8080/dev"
	w := do(t, open(t, "", url), http.MethodPost, url+"/token", "application/json", `{"user":"a","name":null,"email":null,"groups":null}`)
	if w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
