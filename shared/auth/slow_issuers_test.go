package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"assay/shared/auth"
)

// slow is a network in which every document of the issuer takes as long as delay says.
func (i *issuer) slow(delay func() time.Duration) *http.Client {
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(delay()):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		w := httptest.NewRecorder()
		i.serve(w, r)
		return w.Result(), nil
	})}
}

// Each document has a time of its own, and one that has arrived is not asked for again with the next.
func TestVerify_WaitsForIssuersThatAreSlow(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	synctest.Test(t, func(t *testing.T) {
		delay := 3 * time.Second
		v, err := auth.New(auth.Config{Issuer: i.url, Audience: audience, Now: i.clock.now, Client: i.slow(func() time.Duration { return delay })})
		if err != nil {
			t.Fatal(err)
		}
		token := k.sign(t, i.claims(map[string]any{"exp": i.clock.now().Add(time.Hour).Unix()}))
		accepts(t, v, token)
		i.clock.advance(stale)
		i.requests.Store(0)
		accepts(t, v, k.sign(t, i.claims(nil)))
		if n := i.requests.Load(); n != 1 {
			t.Errorf("%d documents were asked for, want the keys alone", n)
		}
	})
}

// A function is frozen between its requests, with what it was asking the issuer for.
func TestVerify_AsksAgainAfterItWasFrozen(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	synctest.Test(t, func(t *testing.T) {
		delay := time.Hour
		v, err := auth.New(auth.Config{Issuer: i.url, Audience: audience, Now: i.clock.now, Client: i.slow(func() time.Duration { return delay })})
		if err != nil {
			t.Fatal(err)
		}
		v.Begin()
		synctest.Wait()
		i.clock.advance(time.Minute)
		delay = 0
		accepts(t, v, k.sign(t, i.claims(nil)))
	})
}

// An issuer that no longer answers is asked once, for both documents, and not until the request is over.
func TestVerify_WaitsOnceForAnIssuerThatIsGone(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	synctest.Test(t, func(t *testing.T) {
		delay, start := time.Duration(0), time.Now()
		now := func() time.Time { return i.clock.now().Add(time.Since(start)) }
		v, err := auth.New(auth.Config{Issuer: i.url, Audience: audience, Now: now, Client: i.slow(func() time.Duration { return delay })})
		if err != nil {
			t.Fatal(err)
		}
		accepts(t, v, k.sign(t, i.claims(nil)))
		time.Sleep(25 * time.Hour)
		delay, start = time.Hour, start.Add(25*time.Hour)
		i.clock.advance(25 * time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		asked := time.Now()
		_, err = v.Verify(ctx, k.sign(t, i.claims(nil)))
		if took := time.Since(asked); err != nil || took > 11*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

func TestBegin_HasTheKeysBeforeTheFirstToken(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	v.Begin()
	eventually(t, "a fetch", func() bool { return i.fetches.Load() == 1 })
	accepts(t, v, k.sign(t, i.claims(nil)))
	i.expectFetches(t, 1)
}

func TestCheckIssuer_NamesBothIssuers(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	if err := i.verifier(t).CheckIssuer(t.Context()); err != nil {
		t.Errorf("an issuer that is right: %v", err)
	}
	i.expectFetches(t, 1)
	i.change(func() { i.name = i.url + "/" })
	err := i.verifier(t).CheckIssuer(t.Context())
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", i.url)) || !strings.Contains(err.Error(), fmt.Sprintf("%q", i.url+"/")) {
		t.Errorf("another issuer's discovery: %v", err)
	}
	i.change(func() { i.get = down })
	if err := i.verifier(t).CheckIssuer(t.Context()); err != nil {
		t.Errorf("an issuer that may answer later: %v", err)
	}
}
