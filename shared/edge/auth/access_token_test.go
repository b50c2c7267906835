package auth_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/auth"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// newAccessToken stores an access token of ann, and returns its secret.
func newAccessToken(t *testing.T, s store.Store) string {
	t.Helper()
	secret, digest := auth.NewAccessToken(recordtest.UserID("ann"))
	recordtest.New(t, s).Put(&record.AccessTokenItem{UserID: recordtest.UserID("ann"), Digest: digest, AccessToken: record.AccessToken{
		Meta:             record.NewMeta(time.Now()),
		AccessTokenDraft: record.AccessTokenDraft{Scopes: []string{"submit"}, ExpiresAt: new(record.At(time.Now().Add(time.Hour)))}}})
	return secret
}

// noIssuer is an issuer that refuses every token.
func noIssuer(context.Context, string) (access.Caller, error) {
	return access.Caller{}, problem.InvalidToken.New("of no issuer")
}

func TestAuthenticator_ReadsAnAccessTokenOnceInAWhile(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	secret, now := newAccessToken(t, s), time.Now()
	a := auth.NewAuthenticator(noIssuer, s, func() time.Time { return now }, nil)
	var used store.Usage
	ctx := store.WithUsage(t.Context(), &used)
	for i, want := range []int64{1, 1, 2} {
		c, err := a.Caller(ctx, secret)
		if err != nil || c.ID != recordtest.UserID("ann") || c.Admin || c.Worker || c.Token.Scopes != access.ScopeSubmit {
			t.Fatalf("%+v %v", c, err)
		}
		if got := used.Calls.Load(); got != want {
			t.Errorf("after request %d: %d reads, want %d", i, got, want)
		}
		if i == 1 {
			now = now.Add(10 * time.Second)
		}
	}
}

func TestAuthenticator_RefusesTokensThatAreNotWhole(t *testing.T) {
	secret, _ := auth.NewAccessToken(recordtest.UserID("ann"))
	a := auth.NewAuthenticator(noIssuer, nil, time.Now, nil)
	for _, token := range []string{"", "assay_", secret[:len(secret)-1], secret + "A", "assay_" + secret, "assay_0" + secret[7:64] + "a"} {
		if c, err := a.Caller(t.Context(), token); !problem.InvalidToken.Is(err) {
			t.Errorf("%q: %+v %v", token, c, err)
		}
	}
}

// Anybody can make up tokens with correct checksums, and each of them costs a read.
func TestAuthenticator_BoundsTokensThatAnAddressMakesUp(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	known := newAccessToken(t, s)
	other := newAccessToken(t, s)
	now := time.Now()
	const burst = 3
	a := auth.NewAuthenticator(noIssuer, s, func() time.Time { return now },
		ratelimit.New(ratelimit.Rates{Token: ratelimit.Policy{PerSecond: 1, Burst: burst}}, ""))
	var used store.Usage
	attacker := auth.WithAddress(store.WithUsage(t.Context(), &used), "192.0.2.1")
	if _, err := a.Caller(attacker, known); err != nil {
		t.Fatal(err)
	}
	for range burst - 1 {
		forged, _ := auth.NewAccessToken(recordtest.UserID("ann"))
		if _, err := a.Caller(attacker, forged); !problem.InvalidToken.Is(err) {
			t.Errorf("a forged token: %v", err)
		}
	}
	for range 10 {
		forged, _ := auth.NewAccessToken(recordtest.UserID("ann"))
		_, err := a.Caller(attacker, forged)
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Kind != problem.Unavailable || p.RetryAfter != time.Second {
			t.Errorf("one more forged token: %v", err)
		}
	}
	if got := used.Calls.Load(); got != burst {
		t.Errorf("%d reads, want %d", got, burst)
	}
	now = now.Add(500 * time.Millisecond) // too short to allow another lookup
	if _, err := a.Caller(attacker, other); !problem.Unavailable.Is(err) {
		t.Errorf("a token that was not seen: %v", err)
	}
	if _, err := a.Caller(auth.WithAddress(t.Context(), "192.0.2.2"), other); err != nil {
		t.Errorf("a token from another address: %v", err)
	}
	now = now.Add(10 * time.Second) // the cached grants have expired
	for range 2 * burst {
		forged, _ := auth.NewAccessToken(recordtest.UserID("ann"))
		_, _ = a.Caller(attacker, forged)
	}
	if _, err := a.Caller(attacker, known); err != nil {
		t.Errorf("a token that was seen before: %v", err)
	}
}

// stalledStore is a store whose Get does not return.
type stalledStore struct {
	store.Store
	waiting atomic.Int32
}

func (s *stalledStore) Get(ctx context.Context, _ store.Consistency, _ ...store.Key) ([]store.Item, error) {
	s.waiting.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAuthenticator_BoundsLookUpsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalledStore{}
		a := auth.NewAuthenticator(noIssuer, s, time.Now, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		var refused atomic.Int32
		for range 100 {
			go func() {
				secret, _ := auth.NewAccessToken(recordtest.UserID("ann"))
				if _, err := a.Caller(ctx, secret); problem.Unavailable.Is(err) {
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		if got := s.waiting.Load(); got != 64 {
			t.Errorf("%d tokens are looked up at a time, want 64", got)
		}
		<-ctx.Done()
		synctest.Wait()
		if got := refused.Load(); got < 36 {
			t.Errorf("%d were asked to try again, want at least the other 36", got)
		}
	})
}

// FuzzAuthenticator_TakesNoOtherSecret checks that only the secret itself is accepted.
func FuzzAuthenticator_TakesNoOtherSecret(f *testing.F) {
	secret, _ := auth.NewAccessToken(recordtest.UserID("ann"))
	other, _ := auth.NewAccessToken(recordtest.UserID("bob"))
	for _, seed := range []string{secret, other, "assay_", secret[:64], secret + " "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		s := recordtest.OpenStore(t, embedded.Options{})
		if c, err := auth.NewAuthenticator(noIssuer, s, time.Now, nil).Caller(t.Context(), token); !problem.InvalidToken.Is(err) {
			t.Errorf("%q: %+v %v", token, c, err)
		}
	})
}
