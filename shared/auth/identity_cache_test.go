package auth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"assay/shared/problem"
)

func TestRememberedTokenExpires(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	token := k.sign(t, i.claims(map[string]any{"exp": i.clock.now().Add(10 * time.Minute).Unix()}))
	for range 2 {
		accepts(t, v, token)
	}
	i.clock.advance(11 * time.Minute)
	accepts(t, v, token) // the clocks may be apart by that much
	i.clock.advance(time.Second)
	refuses(t, v, token, problem.InvalidToken, "expired at")
}

func TestRememberedGroupsAreEachCallersOwn(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	token := k.sign(t, i.claims(map[string]any{"groups": []string{"users"}}))
	for range 3 {
		id := accepts(t, v, token)
		if id.Groups[0] != "users" {
			t.Fatalf("one caller has changed what another gets: %q", id.Groups)
		}
		id.Groups[0] = "admins"
	}
}

func TestManyTokensStayApart(t *testing.T) {
	k := newKey(t, jose.EdDSA, "1")
	i := newIssuer(t, k.public())
	v := i.verifier(t)
	tokens := make([]string, 300)
	for n := range tokens {
		tokens[n] = k.sign(t, i.claims(map[string]any{"sub": fmt.Sprint(n)}))
	}
	for range 2 {
		for n, token := range tokens {
			if id := accepts(t, v, token); id.Subject != fmt.Sprint(n) {
				t.Fatalf("token of %d is taken for one of %s", n, id.Subject)
			}
		}
	}
}
