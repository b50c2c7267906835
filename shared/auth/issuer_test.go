package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"assay/shared/auth"
	"assay/shared/problem"
)

const audience = "assay"

// clock is a clock that stands until it is moved.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(c.at.Load(), 0) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d / time.Second)) }

// issuer is an OpenID Connect issuer behind a real HTTP server, whose every part a test can change.
type issuer struct {
	url   string
	clock *clock
	// fetches counts how often its keys were fetched, requests every request.
	fetches, requests atomic.Int32

	mu   sync.Mutex
	keys []any                                                // of the key set, each a jose.JSONWebKey or other JSON
	get  func(http.ResponseWriter, *http.Request) (goOn bool) // when not nil, goes before every answer
	name string                                               // what discovery says that it is called
}

func newIssuer(t testing.TB, keys ...any) *issuer {
	t.Helper()
	i := &issuer{clock: new(clock), keys: keys}
	i.clock.at.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	server := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(server.Close)
	i.url, i.name = server.URL, server.URL
	return i
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.requests.Add(1)
	i.mu.Lock()
	get, keys, name := i.get, i.keys, i.name
	i.mu.Unlock()
	if get != nil && !get(w, r) {
		return
	}
	var document any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		document = map[string]string{"issuer": name, "jwks_uri": i.url + "/keys"}
	case "/keys":
		i.fetches.Add(1)
		document = map[string]any{"keys": keys}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(document); err != nil {
		panic(err)
	}
}

// change changes the issuer while it serves.
func (i *issuer) change(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

func down(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusBadGateway)
	return false
}

func (i *issuer) verifier(t testing.TB) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Config{Issuer: i.url, Audience: audience, Now: i.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claims are those of a token that is in order, with some of them changed; nil removes one.
func (i *issuer) claims(changes map[string]any) map[string]any {
	now := i.clock.now()
	claims := map[string]any{
		"iss": i.url, "aud": audience, "sub": "alice", "name": "Alice", "email": "alice@example.org",
		"groups": []string{"workers", "admins"}, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// key is a private key with its place in a key set.
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

// refuses expects a problem of the kind that tells the caller about something, and tells nothing of its cause.
func refuses(t *testing.T, v *auth.Verifier, token string, kind *problem.Kind, says string) {
	t.Helper()
	id, err := v.Verify(t.Context(), token)
	var p *problem.Error
	if !errors.As(err, &p) || p.Kind != kind || !strings.Contains(p.Detail, says) {
		t.Fatalf("got %+v, %v; want a problem %s that says %q", id, err, kind.Slug, says)
	}
	if cause := errors.Unwrap(p); cause != nil && strings.Contains(p.Detail, cause.Error()) {
		t.Errorf("the caller is told the cause: %s", p.Detail)
	}
	if (kind == problem.Unavailable) != (p.RetryAfter > 0) {
		t.Errorf("RetryAfter is %s", p.RetryAfter)
	}
}
