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
	// refreshAge is the age at which keys are fetched again while they still serve.
	refreshAge = 15 * time.Minute
	// staleAge is the age at which requests wait for newer keys. When these can't be had the old ones serve on.
	staleAge = time.Hour
	// minFetchInterval is the least time between the starts of two fetches, whatever tokens come.
	minFetchInterval = 5 * time.Second
	// documentTimeout bounds the download of each document of the issuer.
	documentTimeout = 5 * time.Second
	// discoveryAge is the age at which discovery is asked again where the issuer publishes its keys.
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

// claims verifies the token with these keys and returns its claims. The error is errUnknownKey when these can't tell whether the
// token is genuine, errSignature when it is not.
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

// canonicalAlgorithm is the algorithm by the name that RFC 8037 gave it: Ed25519 (RFC 9864) is one of two that EdDSA stands for, and
// keys for the other one are not understood here.
func canonicalAlgorithm(algorithm string) string {
	if algorithm == ed25519Name {
		return string(jose.EdDSA)
	}
	return algorithm
}

// verificationKey returns the key for go-jose, which does not know the algorithm by the name Ed25519.
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

// keySet holds the keys of an issuer. They are fetched when first needed, and again when they have aged or a token is
// signed with an unknown one; never by two at once, and never more often than every minFetchInterval. The address of the keys
// is kept from the first discovery on, so that an issuer whose documents are both slow is not given up.
type keySet struct {
	issuer    string
	client    *http.Client
	now       func() time.Time
	latest    atomic.Pointer[published] // nil before the first success
	endpoints atomic.Pointer[Endpoints] // set before latest

	keysURL    string // of the last discovery; fetch alone has both, of which one runs at a time
	discovered time.Time

	mu          sync.Mutex
	flight      chan struct{} // closed when the fetch under way ends; nil when there is none
	lastAttempt time.Time     // when the last fetch was started
	err         error         // how the last fetch ended
}

// fresh returns the keys held, or nil when there are none or they are stale. It doesn't wait.
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

// current returns the keys to use: fresh ones, or else stale ones. It fails when there are none at all.
func (k *keySet) current(ctx context.Context) (*published, error) {
	if p := k.fresh(); p != nil {
		return p, nil
	}
	if p := k.latest.Load(); p != nil && k.failing() {
		k.refresh() // no request waits again for what has just failed
		return p, nil
	}
	err := k.wait(ctx)
	if p := k.latest.Load(); p != nil {
		return p, nil
	}
	return nil, err
}

// failure is how the last fetch ended.
func (k *keySet) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *keySet) failing() bool { return k.failure() != nil }

// newer returns keys that were fetched after p, or p itself when it is too early to ask again. It fails when
// the issuer could not be asked, so that nobody knows whether it has newer ones.
func (k *keySet) newer(ctx context.Context, p *published) (*published, error) {
	if held := k.latest.Load(); held != p {
		return held, nil
	}
	err := k.wait(ctx)
	return k.latest.Load(), err
}

// wait waits for a fetch and returns how it ended. A fetch that fails after more time than its two documents may take was
// frozen together with its function, and its connections are lost: then it waits for another.
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

// refresh starts a fetch, unless one is under way or it is too early for another. It returns a channel
// that is closed when the fetch ends, or nil when there is none, and when the last one was started.
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

// since reports whether age has passed since t, by the clock on the wall: another one may stand still while a
// function is frozen. A clock that was set back counts as if it had passed.
func (k *keySet) since(t time.Time, age time.Duration) bool {
	d := k.now().Round(0).Sub(t)
	return d < 0 || d >= age
}

// fetch downloads the keys. Requests wait for it, so it does not end with the one that started it.
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

// discover asks the issuer where its keys are (OpenID Connect Discovery 1.0, section 4).
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

// signingKeys reads a JSON Web Key Set (RFC 7517, section 5). As section 5 asks, keys that are not understood are left out.
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

// boundedTransport cuts off documents that are larger than any issuer's.
type boundedTransport struct{ base http.RoundTripper }

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxDocumentBytes)
	return res, nil
}
