package auth_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/edge/auth"
	"assay/shared/language/problem"
)

// Each document has a timeout of its own. Later fetches of the keys do not repeat the discovery.
func TestVerify_WaitsForSlowIssuer(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		i.change(func() { i.delay = 3 * time.Second })
		accepts(t, v, k.sign(t, i.claims(nil)))
		time.Sleep(stale)
		i.requests.Store(0)
		accepts(t, v, k.sign(t, i.claims(nil)))
		if n := i.requests.Load(); n != 1 {
			t.Errorf("%d documents were asked for, want the keys alone", n)
		}
	})
}

// Lambda freezes a function between requests, even while it waits for the issuer.
func TestVerify_AsksAgainAfterFreeze(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		i.change(func() { i.delay = time.Hour })
		v.Begin()
		synctest.Wait()
		i.frozen.Store(int64(time.Minute))
		i.change(func() { i.delay = 0 })
		accepts(t, v, k.sign(t, i.claims(nil)))
	})
}

// If the issuer stops answering, a request waits for only one fetch, and then uses the stale keys.
func TestVerify_WaitsOnceForDeadIssuer(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		accepts(t, v, k.sign(t, i.claims(nil)))
		time.Sleep(25 * time.Hour)
		i.change(func() { i.delay = time.Hour })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		asked := time.Now()
		_, err := v.Verify(ctx, k.sign(t, i.claims(nil)))
		if took := time.Since(asked); err != nil || took > 10*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

func TestVerify_GivesUpAfterTimeout(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		i.change(func() { i.delay = time.Hour })
		refuses(t, v, k.sign(t, i.claims(nil)), problem.Unavailable, "does not hand out its keys")
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("gave up after %s", took)
		}
	})
}

// If a caller's context ends, the fetch continues for the others.
func TestVerify_EndsWithItsContext(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		i.change(func() { i.delay = time.Second })
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			if _, err := v.Verify(ctx, k.sign(t, i.claims(nil))); !problem.Unavailable.Is(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a caller who cannot wait: %v", err)
			}
			cancel()
			i.frozen.Add(int64(tryAgain)) // long enough for another fetch, if none were running
		}
		accepts(t, v, k.sign(t, i.claims(nil)))
		if got := i.requests.Load(); got != 2 {
			t.Errorf("the issuer was sent %d requests, want one for discovery and one for the keys", got)
		}
	})
}

// While there are stale keys, no request waits for an issuer that has failed.
func TestVerify_DoesNotWaitForFailingIssuer(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		token := k.sign(t, i.claims(map[string]any{"exp": start.Add(24 * time.Hour).Unix()}))
		accepts(t, v, token)
		i.change(func() { i.respond = down })
		time.Sleep(stale)
		accepts(t, v, token)
		i.change(func() { i.delay = time.Hour })
		time.Sleep(tryAgain)
		asked, before := time.Now(), i.requests.Load()
		accepts(t, v, token)
		if took := time.Since(asked); took > 0 {
			t.Errorf("a request waited for %s", took)
		}
		synctest.Wait()
		if i.requests.Load() == before {
			t.Error("the issuer was not asked again")
		}
	})
}
