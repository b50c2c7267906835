package auth_test

import (
	"fmt"
	"testing"
	"time"

	"assay/shared/auth"
	"assay/shared/problem"
)

func TestIdentityCache_TokenExpires(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		token := k.sign(t, i.claims(map[string]any{"exp": start.Add(10 * time.Minute).Unix()}))
		for range 2 {
			accepts(t, v, token)
		}
		time.Sleep(11 * time.Minute)
		accepts(t, v, token) // the clocks may be apart by that much
		time.Sleep(time.Second)
		refuses(t, v, token, problem.InvalidToken, "expired at")
	})
}

func TestIdentityCache_GroupsAreEachCallersOwn(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		token := k.sign(t, i.claims(map[string]any{"groups": []string{"users"}}))
		for range 3 {
			id := accepts(t, v, token)
			if id.Groups[0] != "users" {
				t.Fatalf("one caller has changed what another gets: %q", id.Groups)
			}
			id.Groups[0] = "admins"
		}
	})
}

func TestIdentityCache_ManyTokensStayApart(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
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
	})
}
