package auth_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/edge/auth"
	"assay/shared/language/problem"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const audience = "assay"

// start is the time at which a synctest bubble begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// issuer is an OpenID Connect issuer within the test process. Tests can change all of its parts.
type issuer struct {
	url string
	// fetches counts the fetches of the keys, and requests all requests.
	fetches, requests atomic.Int32
	frozen            atomic.Int64 // how long the process was frozen; its timers did not advance meanwhile

	mu      sync.Mutex
	keys    []any                              // of the key set, each a jose.JSONWebKey or other JSON
	name    string                             // issuer in the discovery document
	delay   time.Duration                      // of each answer
	respond func(path string) (int, io.Reader) // answers instead, unless it is nil or returns status 0
}

func newIssuer(keys ...any) *issuer {
	const url = "https://login.test"
	return &issuer{url: url, name: url, keys: keys}
}

// RoundTrip implements http.RoundTripper.
func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.requests.Add(1)
	i.mu.Lock()
	keys := i.keys
	name := i.name
	delay := i.delay
	respond := i.respond
	i.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	status, body := 0, io.Reader(nil)
	if respond != nil {
		status, body = respond(r.URL.Path)
	}
	if status == 0 {
		document := map[string]any{"issuer": name, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/authorize",
			"token_endpoint": i.url + "/token", "scopes_supported": []string{"openid"}}
		if r.URL.Path == "/keys" {
			i.fetches.Add(1)
			document = map[string]any{"keys": keys}
		}
		content, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		status, body = http.StatusOK, bytes.NewReader(content)
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body),
		Request: r,
	}, nil
}

// change changes the issuer while it serves.
func (i *issuer) change(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

func down(string) (int, io.Reader) { return http.StatusBadGateway, http.NoBody }

// now returns the wall-clock time, which includes the frozen time.
func (i *issuer) now() time.Time { return time.Now().Add(time.Duration(i.frozen.Load())) }

func (i *issuer) verifier(t testing.TB) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Config{Issuer: i.url, Audience: audience, Now: i.now, Transport: i})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// withIssuer runs a test in a synctest bubble. It provides a key, an issuer that publishes the key, and a verifier that trusts the issuer.
func withIssuer(t *testing.T, test func(t *testing.T, k key, i *issuer, v *auth.Verifier)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := newKey(t, jose.ES256, "1")
		i := newIssuer(k.public())
		test(t, k, i, i.verifier(t))
		time.Sleep(time.Minute) // until a running fetch has ended
	})
}

// claims returns the claims of a valid token with the changes. A nil value removes a claim.
func (i *issuer) claims(changes map[string]any) map[string]any {
	now := i.now()
	claims := map[string]any{
		"iss": i.url, "aud": audience, "sub": "alice", "name": "Alice", "email": "alice@example.org", "email_verified": true,
		"groups": []string{"workers", "admins"}, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// key is a private key with the algorithm and id of its entry in a key set.
type key struct {
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
	id        string
}

func (k key) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Algorithm: string(k.algorithm), Use: "sig"}
}

func (k key) sign(t testing.TB, claims map[string]any) string {
	t.Helper()
	return sign(t, k.algorithm, jose.JSONWebKey{Key: k.private, KeyID: k.id}, claims)
}

func sign(t testing.TB, algorithm jose.SignatureAlgorithm, private any, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: private}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func newKey(t testing.TB, algorithm jose.SignatureAlgorithm, id string) key {
	t.Helper()
	var private crypto.Signer
	var err error
	switch algorithm {
	case jose.ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case jose.EdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key{algorithm, private, id}
}

func accepts(t *testing.T, v *auth.Verifier, token string) auth.Identity {
	t.Helper()
	id, err := v.Verify(t.Context(), token)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return id
}

// refuses expects a problem of the kind. Its detail must contain says and nothing of its cause.
func refuses(t *testing.T, v *auth.Verifier, token string, kind *problem.Kind, says string) {
	t.Helper()
	id, err := v.Verify(t.Context(), token)
	var p *problem.Error
	if !errors.As(err, &p) || p.Kind != kind || !strings.Contains(p.Detail, says) {
		t.Fatalf("got %+v, %v; want a problem %s that says %q", id, err, kind.Slug, says)
	}
	if cause := errors.Unwrap(p); cause != nil && strings.Contains(p.Detail, cause.Error()) {
		t.Errorf("the detail has the cause: %s", p.Detail)
	}
	if (kind == problem.Unavailable) != (p.RetryAfter > 0) {
		t.Errorf("RetryAfter is %s", p.RetryAfter)
	}
}
