package auth_test

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/edge/auth"
	"assay/shared/language/problem"

	"github.com/go-jose/go-jose/v4"
)

// Times after which the verifier fetches the keys again, with a small margin.
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

func TestKeys_AreFetchedOnce(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		i.expectFetches(t, 0)
		var callers sync.WaitGroup
		for n := range 50 {
			callers.Go(func() {
				token := k.sign(t, i.claims(map[string]any{"sub": fmt.Sprint(n)}))
				if id, err := v.Verify(t.Context(), token); err != nil || id.Subject != fmt.Sprint(n) {
					t.Errorf("%+v, %v", id, err)
				}
			})
		}
		callers.Wait()
		i.expectFetches(t, 1)
	})
}

func TestKeys_Rotate(t *testing.T) {
	withIssuer(t, func(t *testing.T, former key, i *issuer, v *auth.Verifier) {
		next := newKey(t, jose.ES256, "next")
		token := former.sign(t, i.claims(map[string]any{"exp": start.Add(24 * time.Hour).Unix()}))
		accepts(t, v, token)

		i.change(func() { i.keys = []any{next.public(), former.public()} })
		time.Sleep(tryAgain)
		accepts(t, v, next.sign(t, i.claims(nil)))
		accepts(t, v, token)
		i.expectFetches(t, 2)

		i.change(func() { i.keys = []any{next.public()} })
		accepts(t, v, token)
		time.Sleep(refresh)
		accepts(t, v, next.sign(t, i.claims(nil))) // also starts a fetch in the background
		synctest.Wait()
		i.expectFetches(t, 3)
		refuses(t, v, token, problem.InvalidToken, "not signed by")
		accepts(t, v, next.sign(t, i.claims(nil)))
	})
}

// The issuer neither gives its keys ids nor announces a new key.
func TestKeys_RotateWithoutIDs(t *testing.T) {
	withIssuer(t, func(t *testing.T, _ key, i *issuer, v *auth.Verifier) {
		former, next := newKey(t, jose.ES256, ""), newKey(t, jose.ES256, "")
		i.keys = []any{newKey(t, jose.RS256, "").public(), newKey(t, jose.ES256, "").public(), former.public()}
		accepts(t, v, former.sign(t, i.claims(nil)))
		i.change(func() { i.keys = []any{next.public()} })
		time.Sleep(tryAgain)
		accepts(t, v, next.sign(t, i.claims(nil)))
		refuses(t, v, former.sign(t, i.claims(nil)), problem.InvalidToken, "not signed by")
	})
}

// A flood of tokens with unpublished keys does not flood the issuer.
func TestKeys_FloodOfUnknownKeysIsFetchedForOnce(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		unpublished := newKey(t, jose.ES256, "")
		flood := func(round int) {
			var callers sync.WaitGroup
			for n := range 8 {
				callers.Go(func() {
					for m := range 25 {
						for _, id := range []string{fmt.Sprint(round, n, m), "1"} {
							forged := key{jose.ES256, unpublished.private, id}
							if _, err := v.Verify(t.Context(), forged.sign(t, i.claims(nil))); !problem.InvalidToken.Is(err) {
								t.Errorf("got %v", err)
							}
						}
					}
				})
			}
			callers.Wait()
		}
		flood(0)
		i.expectFetches(t, 1)
		accepts(t, v, k.sign(t, i.claims(nil)))
		for round := range int32(3) {
			time.Sleep(tryAgain)
			flood(int(round) + 1)
			i.expectFetches(t, round+2)
		}
		next := newKey(t, jose.ES256, "next")
		i.change(func() { i.keys = append(i.keys, next.public()) })
		flood(4)
		time.Sleep(tryAgain)
		accepts(t, v, next.sign(t, i.claims(nil)))
	})
}

func TestKeys_BadSignatureOfKnownKeyFetchesNothing(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		accepts(t, v, k.sign(t, i.claims(nil)))
		time.Sleep(tryAgain)
		refuses(t, v, newKey(t, jose.ES256, "1").sign(t, i.claims(nil)), problem.InvalidToken, "not signed by")
		i.expectFetches(t, 1)
	})
}

func TestKeys_ServeOnWhileTheIssuerIsDown(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		unknown := newKey(t, jose.ES256, "2")
		i.change(func() { i.respond = down })
		token := func() string { return k.sign(t, i.claims(nil)) }
		for range 10 {
			refuses(t, v, token(), problem.Unavailable, i.url+" does not hand out its keys")
		}
		refuses(t, v, "garbage", problem.InvalidToken, "not a JSON Web Token")
		if got := i.requests.Load(); got != 1 {
			t.Errorf("an issuer that is down was asked %d times at once", got)
		}

		i.change(func() { i.respond = nil })
		refuses(t, v, token(), problem.Unavailable, "Try again soon")
		time.Sleep(tryAgain)
		accepts(t, v, token())

		i.change(func() { i.respond = down })
		for range 3 {
			time.Sleep(tryAgain)
			accepts(t, v, token())
			refuses(t, v, unknown.sign(t, i.claims(nil)), problem.Unavailable, "does not hand out its keys")
		}
		for _, later := range []time.Duration{refresh, 72 * time.Hour} {
			before := i.requests.Load()
			time.Sleep(later)
			for range 10 {
				accepts(t, v, token())
			}
			synctest.Wait()
			// One request for the keys, and one for discovery if that is due.
			if asked := i.requests.Load() - before; asked < 1 || asked > 2 {
				t.Errorf("keys of %s had the issuer asked %d times at once", later, asked)
			}
		}

		i.change(func() { i.respond, i.keys = nil, []any{unknown.public()} })
		time.Sleep(tryAgain)
		accepts(t, v, unknown.sign(t, i.claims(nil)))
		refuses(t, v, token(), problem.InvalidToken, "not signed by")
	})
}

// A process that was frozen for hours asks its issuer before it trusts its keys.
func TestKeys_StaleOnesAreFetchedAgain(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		token := k.sign(t, i.claims(map[string]any{"exp": start.Add(24 * time.Hour).Unix()}))
		accepts(t, v, token)
		i.change(func() { i.keys = []any{newKey(t, jose.ES256, "2").public()} })
		time.Sleep(stale)
		refuses(t, v, token, problem.InvalidToken, "not signed by")
	})
}

// Each key set contains the test's key or no usable key.
func TestKeys_OfKeySets(t *testing.T) {
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
			i := newIssuer(test.keys...)
			if test.kind == nil {
				accepts(t, i.verifier(t), k.sign(t, i.claims(nil)))
			} else {
				refuses(t, i.verifier(t), k.sign(t, i.claims(nil)), test.kind, i.url)
			}
		})
	}
}

// endless is a document without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestKeys_OfBrokenIssuers(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	for name, breakIt := range map[string]func(*issuer){
		"called otherwise": func(i *issuer) { i.name = "https://login.example" },
		"not JSON": func(i *issuer) {
			i.respond = func(string) (int, io.Reader) { return http.StatusOK, strings.NewReader("<html>") }
		},
		"keys with an error": func(i *issuer) {
			i.respond = func(path string) (int, io.Reader) {
				if path == "/keys" {
					return http.StatusInternalServerError, http.NoBody
				}
				return 0, nil
			}
		},
		"endless": func(i *issuer) {
			i.respond = func(string) (int, io.Reader) { return http.StatusOK, endless{} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(k.public())
			breakIt(i)
			refuses(t, i.verifier(t), k.sign(t, i.claims(nil)), problem.Unavailable, i.url)
		})
	}
}

func TestBegin_FetchesTheKeysBeforeTheFirstToken(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		v.Begin()
		synctest.Wait()
		i.expectFetches(t, 1)
		accepts(t, v, k.sign(t, i.claims(nil)))
		i.expectFetches(t, 1)
	})
}

func TestCheckIssuer_NamesBothIssuers(t *testing.T) {
	i := newIssuer(newKey(t, "ES256", "1").public())
	if err := i.verifier(t).CheckIssuer(t.Context()); err != nil {
		t.Errorf("an issuer that is right: %v", err)
	}
	i.expectFetches(t, 1)
	i.change(func() { i.name = i.url + "/" })
	err := i.verifier(t).CheckIssuer(t.Context())
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", i.url)) || !strings.Contains(err.Error(), fmt.Sprintf("%q", i.url+"/")) {
		t.Errorf("another issuer's discovery: %v", err)
	}
	i.change(func() { i.respond = down })
	if err := i.verifier(t).CheckIssuer(t.Context()); err != nil {
		t.Errorf("an issuer that may answer later: %v", err)
	}
}

// Sign-in fails while the issuer does not answer, and works again afterwards.
func TestEndpoints_AreThoseOfDiscovery(t *testing.T) {
	withIssuer(t, func(t *testing.T, _ key, i *issuer, v *auth.Verifier) {
		i.respond = down
		if e, err := v.Endpoints(t.Context()); !problem.Unavailable.Is(err) {
			t.Errorf("of an issuer that is down: %+v %v", e, err)
		}
		time.Sleep(tryAgain)
		i.change(func() { i.respond = nil })
		want := auth.Endpoints{Authorization: i.url + "/authorize", Token: i.url + "/token", Scopes: []string{"openid"}}
		for range 2 {
			if e, err := v.Endpoints(t.Context()); err != nil || !reflect.DeepEqual(e, want) {
				t.Errorf("%+v %v, want %+v", e, err, want)
			}
			time.Sleep(refresh)
			i.change(func() { i.respond = down })
		}
	})
}
