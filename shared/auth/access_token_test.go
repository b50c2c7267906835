package auth_test

import (
	"context"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/auth"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
	"assay/shared/store/embedded"
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

// noIssuer refuses every token.
func noIssuer(context.Context, string) (access.Caller, error) {
	return access.Caller{}, problem.InvalidToken.New("of no issuer")
}

func TestAuthenticator_ReadsAnAccessTokenOnceInAWhile(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	secret, now := newAccessToken(t, s), time.Now()
	a := auth.NewAuthenticator(noIssuer, s, func() time.Time { return now })
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

// A function without a table serves what is open to everyone: it takes what may be a token, and nothing else.
func TestAuthenticator_WithoutStoreTakesWholeTokens(t *testing.T) {
	secret, _ := auth.NewAccessToken(recordtest.UserID("ann"))
	a := auth.NewAuthenticator(noIssuer, nil, time.Now)
	if c, err := a.Caller(t.Context(), secret); err != nil || !c.Anonymous() {
		t.Errorf("%+v %v", c, err)
	}
	for _, token := range []string{"", "assay_", secret[:len(secret)-1], secret + "A", "assay_" + secret, "assay_0" + secret[7:64] + "a"} {
		if c, err := a.Caller(t.Context(), token); !problem.InvalidToken.Is(err) {
			t.Errorf("%q: %+v %v", token, c, err)
		}
	}
}

// FuzzAuthenticator_TakesNoOtherSecret: no text but the secret itself is taken.
func FuzzAuthenticator_TakesNoOtherSecret(f *testing.F) {
	secret, _ := auth.NewAccessToken(recordtest.UserID("ann"))
	other, _ := auth.NewAccessToken(recordtest.UserID("bob"))
	for _, seed := range []string{secret, other, "assay_", secret[:64], secret + " "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		s := recordtest.OpenStore(t, embedded.Options{})
		if c, err := auth.NewAuthenticator(noIssuer, s, time.Now).Caller(t.Context(), token); !problem.InvalidToken.Is(err) {
			t.Errorf("%q: %+v %v", token, c, err)
		}
	})
}
