package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"assay/shared/auth"
	"assay/shared/problem"
)

// Spans that the verifier keeps, and a little more.
const (
	tryAgain = 6 * time.Second
	refresh  = 16 * time.Minute
	stale    = 61 * time.Minute
)

func (i *issuer) expectFetches(t *testing.T, want int32) {
	t.Helper()
	if got := i.fetches.Load(); got != want {
		t.Errorf("the keys were fetched %d times, want %d", got, want)
	}
}

// eventually waits for what happens in the background.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func TestKeysAreFetchedOnce(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	i.expectFetches(t, 0)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			token := k.sign(t, i.claims(map[string]any{"sub": fmt.Sprint(n)}))
			if id, err := v.Verify(t.Context(), token); err != nil || id.Subject != fmt.Sprint(n) {
				t.Errorf("%+v, %v", id, err)
			}
		})
	}
	wg.Wait()
	i.expectFetches(t, 1)
}

func TestRotation(t *testing.T) {
	old, young := newKey(t, jose.ES256, "old"), newKey(t, jose.ES256, "young")
	i := newIssuer(t, old.public())
	v := i.verifier(t)
	oldToken := old.sign(t, i.claims(map[string]any{"exp": i.clock.now().Add(24 * time.Hour).Unix()}))
	accepts(t, v, oldToken)

	i.change(func() { i.keys = []any{young.public(), old.public()} })
	i.clock.advance(tryAgain)
	accepts(t, v, young.sign(t, i.claims(nil)))
	accepts(t, v, oldToken)
	i.expectFetches(t, 2)

	i.change(func() { i.keys = []any{young.public()} })
	accepts(t, v, oldToken)
	i.clock.advance(refresh)
	accepts(t, v, young.sign(t, i.claims(nil))) // and has the keys fetched in the background
	eventually(t, "a refresh", func() bool { return i.fetches.Load() == 3 })
	eventually(t, "the end of the withdrawn key", func() bool {
		_, err := v.Verify(t.Context(), oldToken)
		return problem.InvalidToken.Is(err)
	})
	accepts(t, v, young.sign(t, i.claims(nil)))
}

// TestRotationWithoutKeyIDs has an issuer that neither names its keys nor announces a new one.
func TestRotationWithoutKeyIDs(t *testing.T) {
	old, young := newKey(t, jose.ES256, ""), newKey(t, jose.ES256, "")
	i := newIssuer(t, newKey(t, jose.RS256, "").public(), newKey(t, jose.ES256, "").public(), old.public())
	v := i.verifier(t)
	accepts(t, v, old.sign(t, i.claims(nil)))
	i.change(func() { i.keys = []any{young.public()} })
	i.clock.advance(tryAgain)
	accepts(t, v, young.sign(t, i.claims(nil)))
	refuses(t, v, old.sign(t, i.claims(nil)), problem.InvalidToken, "not signed by")
}

// TestStorm sends tokens with keys that nobody has, as fast as it can.
func TestStorm(t *testing.T) {
	k, stranger := newKey(t, jose.ES256, "1"), newKey(t, jose.ES256, "")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	storm := func(round int) {
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				for m := range 25 {
					stranger := stranger
					stranger.id = fmt.Sprint(round, n, m)
					_, err := v.Verify(t.Context(), stranger.sign(t, i.claims(nil)))
					if !problem.InvalidToken.Is(err) {
						t.Errorf("got %v", err)
					}
					wrong := stranger
					wrong.id = "1"
					if _, err := v.Verify(t.Context(), wrong.sign(t, i.claims(nil))); !problem.InvalidToken.Is(err) {
						t.Errorf("got %v", err)
					}
				}
			})
		}
		wg.Wait()
	}
	storm(0)
	i.expectFetches(t, 1)
	accepts(t, v, k.sign(t, i.claims(nil)))
	for round := range int32(3) {
		i.clock.advance(tryAgain)
		storm(int(round) + 1)
		i.expectFetches(t, round+2)
	}
	// A key that is new in the storm is found all the same.
	young := newKey(t, jose.ES256, "young")
	i.change(func() { i.keys = append(i.keys, young.public()) })
	storm(4)
	i.clock.advance(tryAgain)
	accepts(t, v, young.sign(t, i.claims(nil)))
}

// TestKnownKeyAsksNobody shows that a bad signature alone is no reason to ask the issuer.
func TestKnownKeyAsksNobody(t *testing.T) {
	k, stranger := newKey(t, jose.ES256, "1"), newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	accepts(t, v, k.sign(t, i.claims(nil)))
	i.clock.advance(tryAgain)
	refuses(t, v, stranger.sign(t, i.claims(nil)), problem.InvalidToken, "not signed by")
	i.expectFetches(t, 1)
}

func TestIssuerDown(t *testing.T) {
	k, stranger := newKey(t, jose.ES256, "1"), newKey(t, jose.ES256, "2")
	i := newIssuer(t, k.public())
	i.change(func() { i.get = down })
	v := i.verifier(t)
	token := func() string {
		return k.sign(t, i.claims(map[string]any{"exp": i.clock.now().Add(time.Hour).Unix()}))
	}
	for range 10 {
		refuses(t, v, token(), problem.Unavailable, i.url+" does not hand out its keys")
	}
	refuses(t, v, "garbage", problem.InvalidToken, "not a JSON Web Token")
	if got := i.requests.Load(); got != 1 {
		t.Errorf("an issuer that is down was asked %d times at once", got)
	}

	i.change(func() { i.get = nil })
	refuses(t, v, token(), problem.Unavailable, "Try again soon")
	i.clock.advance(tryAgain)
	accepts(t, v, token())

	i.change(func() { i.get = down })
	for range 3 {
		i.clock.advance(tryAgain)
		accepts(t, v, token())
		refuses(t, v, stranger.sign(t, i.claims(nil)), problem.Unavailable, "does not hand out its keys")
	}
	for _, later := range []time.Duration{refresh, 72 * time.Hour} {
		before := i.requests.Load()
		i.clock.advance(later)
		accepts(t, v, token())
		eventually(t, "a try", func() bool { return i.requests.Load() > before })
		for range 10 {
			accepts(t, v, token())
		}
		if after := i.requests.Load(); after > before+2 { // discovery and, where they were when that was read last, the keys
			t.Errorf("keys of %s had the issuer asked %d times at once", later, after-before)
		}
	}

	i.change(func() { i.get, i.keys = nil, []any{stranger.public()} })
	i.clock.advance(tryAgain)
	accepts(t, v, stranger.sign(t, i.claims(nil)))
	refuses(t, v, token(), problem.InvalidToken, "not signed by")
}

// TestStaleKeysAreNotTrustedWhileTheIssuerIsUp has a server sleep for hours, as functions do.
func TestStaleKeysAreNotTrustedWhileTheIssuerIsUp(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	token := k.sign(t, i.claims(map[string]any{"exp": i.clock.now().Add(24 * time.Hour).Unix()}))
	accepts(t, v, token)
	i.change(func() { i.keys = []any{newKey(t, jose.ES256, "2").public()} })
	i.clock.advance(stale)
	refuses(t, v, token, problem.InvalidToken, "not signed by")
}

func TestIssuerHangs(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	release := make(chan struct{})
	i.change(func() { i.get = func(http.ResponseWriter, *http.Request) bool { <-release; return true } })
	v := i.verifier(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := v.Verify(ctx, k.sign(t, i.claims(nil))); !problem.Unavailable.Is(err) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller who can't wait: %v", err)
	}
	i.clock.advance(tryAgain)
	if _, err := v.Verify(ctx, k.sign(t, i.claims(nil))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second one: %v", err)
	}
	close(release)
	accepts(t, v, k.sign(t, i.claims(nil))) // by the fetch that the first caller has started
	if got := i.requests.Load(); got != 2 {
		t.Errorf("the issuer was sent %d requests, want one for discovery and one for the keys", got)
	}
}

// TestNobodyWaitsForAnIssuerThatFails has an issuer fail once and then hang, while stale keys are at hand.
func TestNobodyWaitsForAnIssuerThatFails(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	begun, givenUp := make(chan struct{}), make(chan struct{})
	hangs := false
	v, err := auth.New(auth.Config{Issuer: i.url, Audience: audience, Now: i.clock.now, Client: &http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			if !hangs {
				return http.DefaultTransport.RoundTrip(r)
			}
			close(begun)
			<-r.Context().Done()
			close(givenUp)
			return nil, r.Context().Err()
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	token := k.sign(t, i.claims(map[string]any{"exp": i.clock.now().Add(24 * time.Hour).Unix()}))
	accepts(t, v, token)
	i.change(func() { i.get = down })
	i.clock.advance(stale)
	accepts(t, v, token)

	hangs = true
	i.clock.advance(tryAgain)
	accepts(t, v, token)
	<-begun
	select {
	case <-givenUp:
		t.Error("a request waited until the fetch was given up")
	default:
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestFetchIsGivenUp runs in a bubble, where the seconds until the fetch is given up pass at once.
func TestFetchIsGivenUp(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	synctest.Test(t, func(t *testing.T) {
		v, err := auth.New(auth.Config{Issuer: i.url, Audience: audience, Now: i.clock.now, Client: &http.Client{Transport: transport(silent)}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		refuses(t, v, k.sign(t, i.claims(nil)), problem.Unavailable, "does not hand out its keys")
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("gave up after %s", took)
		}
	})
}

// silent is a network in which every packet is lost.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestKeySets are what issuers publish. Each has the test's key in it, or none that can be used.
func TestKeySets(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	encryption := k.public()
	encryption.Use = "enc"
	other := k.public()
	other.Algorithm = "ES384"
	private := jose.JSONWebKey{Key: k.private, KeyID: "1"}
	for name, test := range map[string]struct {
		keys []any
		kind *problem.Kind
	}{
		"none":                  {[]any{}, problem.Unavailable},
		"null":                  {nil, problem.Unavailable},
		"only a secret":         {[]any{map[string]string{"kty": "oct", "k": "c2VjcmV0", "kid": "1"}}, problem.Unavailable},
		"only for encryption":   {[]any{encryption}, problem.Unavailable},
		"only a private key":    {[]any{private}, problem.Unavailable},
		"only a broken one":     {[]any{map[string]string{"kty": "EC", "kid": "1", "crv": "P-256", "x": "AA", "y": "AA"}}, problem.Unavailable},
		"for another algorithm": {[]any{other}, problem.InvalidToken},
		"among unknown ones": {[]any{map[string]string{"kty": "OKP", "crv": "Ed448", "x": "AA", "kid": "1"},
			map[string]string{"kty": "AKP", "alg": "ML-DSA-44", "kid": "1"}, 1, "x", k.public()}, nil},
		"twice the id": {[]any{newKey(t, jose.ES256, "1").public(), k.public()}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t, test.keys...)
			v := i.verifier(t)
			if test.kind == nil {
				accepts(t, v, k.sign(t, i.claims(nil)))
			} else {
				refuses(t, v, k.sign(t, i.claims(nil)), test.kind, i.url)
			}
		})
	}
}

func TestBrokenIssuers(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	for name, breakIt := range map[string]func(*issuer){
		"called otherwise": func(i *issuer) { i.name = "https://login.example" },
		"not JSON": func(i *issuer) {
			i.get = func(w http.ResponseWriter, _ *http.Request) bool {
				_, err := w.Write([]byte("<html>"))
				return err != nil
			}
		},
		"keys with an error": func(i *issuer) {
			i.get = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/keys" {
					w.WriteHeader(http.StatusInternalServerError)
				}
				return true
			}
		},
		"endless": func(i *issuer) {
			i.get = func(w http.ResponseWriter, _ *http.Request) bool {
				for range 1 << 10 {
					if _, err := w.Write(make([]byte, 1<<20)); err != nil {
						return false
					}
				}
				t.Error("a document of 1 GiB was read")
				return false
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t, k.public())
			i.change(func() { breakIt(i) })
			refuses(t, i.verifier(t), k.sign(t, i.claims(nil)), problem.Unavailable, i.url)
		})
	}
}
