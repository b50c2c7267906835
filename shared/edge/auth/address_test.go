package auth_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/shared/edge/auth"

	"github.com/go-jose/go-jose/v4"
)

// An address counts if its issuer confirms it with the claim. Without the claim, the setting of the operator decides. Only a single plain
// address counts.
func TestVerify_ReadsConfirmedAddresses(t *testing.T) {
	const address = "alice@example.org"
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(k.public())
	silent, vouched := i.verifier(t), i.verifier(t)
	vouched.VerifiesEmail = true
	for _, test := range []struct {
		email, verified   any
		counts, isVouched bool // without and with VerifiesEmail
	}{
		{address, true, true, true},
		{address, "true", true, true},
		{address, nil, false, true},
		{address, false, false, false},
		{address, "false", false, false},
		{address, json.RawMessage("null"), false, true},
		{address, 1, false, false},
		{address, []bool{true}, false, false},
		{"Alice <alice@example.org>", true, false, false},
		{"alice@example.org, eve@example.org", true, false, false},
		{"alice@example.org\r\nBcc: eve@example.org", true, false, false},
		{"alice\u202e@example.org", true, false, false},
		{"\"al ice\"@example.org", true, false, false},
		{"alice@[127.0.0.1]", true, false, false},
		{"alice", true, false, false},
		{strings.Repeat("a", 64) + "@" + strings.Repeat("b.", 100) + "example", true, false, false},
		{nil, true, false, false},
	} {
		token := k.sign(t, i.claims(map[string]any{"email": test.email, "email_verified": test.verified}))
		for v, counts := range map[*auth.Verifier]bool{silent: test.counts, vouched: test.isVouched} {
			who := accepts(t, v, token).Caller()
			if (who.Email == address) != counts || who.EmailRefused != (test.email != nil && !counts) || !counts && who.Email != "" {
				t.Errorf("%q with email_verified %v, vouched for %v: %q, refused %v", test.email, test.verified, v.VerifiesEmail, who.Email,
					who.EmailRefused)
			}
		}
	}
}
