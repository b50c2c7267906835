package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// refreshAge is the age from which keys are fetched again in the background.
	refreshAge = 15 * time.Minute
	// staleAge is the age from which requests wait for newer keys. If the fetch fails, the old keys remain in use.
	staleAge = time.Hour
	// minFetchInterval is the least time between the starts of two fetches. Tokens with unknown keys cannot shorten it.
	minFetchInterval = 5 * time.Second
	// documentTimeout bounds the download of each document of the issuer.
	documentTimeout = 5 * time.Second
	// discoveryAge is the age from which the discovery document is read again for the address of the keys.
	discoveryAge = 24 * time.Hour
	// maxDocumentBytes bounds each document of the issuer.
	maxDocumentBytes = 1 << 20
)

var (
	errUnknownKey = errors.New("signed with a key that the issuer does not publish")
	errNoKeys     = errors.New("the issuer publishes no key that tokens can be signed with")
)

// published are the keys that the issuer published at one time.
type published struct {
	keys    []jose.JSONWebKey
	fetched time.Time
}

// claims verifies the token with these keys and returns its claims. It returns errSignature if the token is forged, and errUnknownKey if
// the keys do not decide that.
func (p *published) claims(token *jwt.JSONWebToken) (claims, error) {
	header := token.Headers[0] // a compact JWS has exactly one
	failure := errUnknownKey
	for _, key := range p.keys {
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" &&
			canonicalAlgorithm(key.Algorithm) != canonicalAlgorithm(header.Algorithm) {
			continue
		}
		var c claims
		err := token.Claims(verificationKey(&key, header.Algorithm), &c)
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, jose.ErrCryptoFailure) {
			return claims{}, err
		}
		if header.KeyID != "" {
			failure = errSignature
		}
	}
	return claims{}, failure
}

// canonicalAlgorithm returns EdDSA (RFC 8037) for Ed25519 (RFC 9864), and other algorithms unchanged. EdDSA also stands for Ed448, whose
// keys go-jose does not support.
func canonicalAlgorithm(algorithm string) string {
	if algorithm == ed25519Name {
		return string(jose.EdDSA)
	}
	return algorithm
}

// verificationKey returns a key that go-jose verifies with. go-jose does not know the algorithm name Ed25519.
func verificationKey(key *jose.JSONWebKey, algorithm string) any {
	if public, ok := key.Key.(ed25519.PublicKey); ok && algorithm == ed25519Name {
		return ed25519Verifier(public)
	}
	return key
}

// ed25519Verifier implements jose.OpaqueVerifier.
type ed25519Verifier ed25519.PublicKey

func (v ed25519Verifier) VerifyPayload(payload, signature []byte, _ jose.SignatureAlgorithm) error {
	if !ed25519.Verify(ed25519.PublicKey(v), payload, signature) {
		return jose.ErrCryptoFailure
	}
	return nil
}

// keySet holds the keys of an issuer. It fetches them when they are first needed, when they are old, and when a token is signed with an
// unknown key. At most one fetch runs at a time, and fetches start at least minFetchInterval apart. The address of the keys is kept from
// the first discovery on, so that fetches also succeed if both documents of the issuer are slow.
type keySet struct {
	issuer    string
	client    *http.Client
	now       func() time.Time
	latest    atomic.Pointer[published] // nil before the first success
	endpoints atomic.Pointer[Endpoints] // set before latest

	keysURL    string    // of the last discovery; only fetch uses keysURL and discovered
	discovered time.Time // when the last discovery succeeded

	mu          sync.Mutex
	flight      chan struct{} // closed when the running fetch ends; nil: no fetch is running
	lastAttempt time.Time     // start of the last fetch
	err         error         // of the last fetch that ended
}

// fresh returns the held keys without waiting; nil: there are none, or they are stale.
func (k *keySet) fresh() *published {
	p := k.latest.Load()
	if p == nil || k.since(p.fetched, staleAge) {
		return nil
	}
	if k.since(p.fetched, refreshAge) {
		k.refresh()
	}
	return p
}

// current returns the keys to use. It prefers fresh keys to stale ones. It fails only if there are no keys.
func (k *keySet) current(ctx context.Context) (*published, error) {
	if p := k.fresh(); p != nil {
		return p, nil
	}
	if p := k.latest.Load(); p != nil && k.failing() {
		k.refresh() // requests do not wait again for an issuer that just failed
		return p, nil
	}
	err := k.wait(ctx)
	if p := k.latest.Load(); p != nil {
		return p, nil
	}
	return nil, err
}

// failure returns the error of the last fetch.
func (k *keySet) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *keySet) failing() bool { return k.failure() != nil }

// newer returns keys that were fetched after p, or p itself if it is too early to fetch again. It fails if the fetch fails, because then
// it is unknown whether the issuer has newer keys.
func (k *keySet) newer(ctx context.Context, p *published) (*published, error) {
	if held := k.latest.Load(); held != p {
		return held, nil
	}
	err := k.wait(ctx)
	return k.latest.Load(), err
}

// wait waits for a fetch and returns its error. If a fetch fails after more time than its two documents may take, Lambda had frozen the
// process and its connections were lost. Then wait waits for another fetch.
func (k *keySet) wait(ctx context.Context) error {
	for {
		flight, started := k.refresh()
		if flight != nil {
			select {
			case <-flight:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := k.failure(); err == nil || flight == nil || !k.since(started, 3*documentTimeout) {
			return err
		}
	}
}

// refresh starts a fetch, unless one is running or it is too early for another. It returns the start of the last fetch, and a channel that
// is closed when the running fetch ends. The channel is nil if no fetch is running.
func (k *keySet) refresh() (flight <-chan struct{}, started time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.flight == nil && k.since(k.lastAttempt, minFetchInterval) {
		k.lastAttempt = k.now().Round(0)
		k.flight = make(chan struct{})
		go k.fetch()
	}
	return k.flight, k.lastAttempt
}

// since reports whether age has passed since t by the wall clock. Monotonic clocks may stand still while a function is frozen. If the wall
// clock was set back, since reports true.
func (k *keySet) since(t time.Time, age time.Duration) bool {
	d := k.now().Round(0).Sub(t)
	return d < 0 || d >= age
}

// fetch downloads the keys. It has no context of a request, because several requests may wait for it.
func (k *keySet) fetch() {
	keys, err := k.download()
	if err == nil {
		k.latest.Store(&published{keys, k.now().Round(0)})
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
	close(k.flight)
	k.flight = nil
}

func (k *keySet) download() ([]jose.JSONWebKey, error) {
	if k.keysURL == "" || k.since(k.discovered, discoveryAge) {
		if err := k.discover(); err != nil && k.keysURL == "" {
			return nil, err
		}
	}
	body, err := k.get(k.keysURL)
	if err != nil {
		return nil, fmt.Errorf("fetch keys of %s: %w", k.issuer, err)
	}
	keys, err := signingKeys(body)
	if err != nil {
		return nil, fmt.Errorf("fetch keys of %s: %s: %w", k.issuer, k.keysURL, err)
	}
	return keys, nil
}

// discover asks the issuer for the address of its keys (OpenID Connect Discovery 1.0, section 4).
func (k *keySet) discover() error {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.Background(), k.client), documentTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, k.issuer)
	if err != nil {
		return fmt.Errorf("discover issuer %s: %w", k.issuer, err)
	}
	var metadata struct {
		JWKSURI string `json:"jwks_uri"`
		Endpoints
	}
	if err := provider.Claims(&metadata); err != nil {
		return fmt.Errorf("discover issuer %s: %w", k.issuer, err)
	}
	k.keysURL, k.discovered = metadata.JWKSURI, k.now().Round(0)
	k.endpoints.Store(&metadata.Endpoints)
	return nil
}

func (k *keySet) get(url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), documentTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := k.client.Do(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, res.Status)
	}
	return body, nil
}

// signingKeys reads a JSON Web Key Set (RFC 7517, section 5). It ignores unsupported keys, as that section asks.
func signingKeys(document []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, err
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) != nil || key.Use != "" && key.Use != "sig" {
			continue
		}
		switch key.Key.(type) {
		case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey:
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errNoKeys
	}
	return keys, nil
}

// boundedTransport fails for documents longer than maxDocumentBytes.
type boundedTransport struct{ base http.RoundTripper }

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxDocumentBytes)
	return res, nil
}
