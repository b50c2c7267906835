//go:build browser

package main

import (
	"context"
	"slices"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/edge/auth"
	"assay/shared/edge/auth/providertest"
	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_SignsInAnyName signs in with a name with spaces at the development issuer.
func TestConsole_SignsInAnyName(t *testing.T) {
	t.Parallel()
	p := useShared(t).signedIn(t, "Olivia Müller", "/me")
	p.Sees("Olivia Müller" + p.users + " Sign out")
}

// TestConsole_SignsInAtAnIssuer signs in at a real issuer with the token that the server's audience requires, gets the next token with a
// refresh token, and signs out.
func TestConsole_SignsInAtAnIssuer(t *testing.T) {
	t.Parallel()
	issuer := providertest.Start(t)
	for name, flags := range map[string][]string{"ID token": nil, "access token": {"-audience", "assay-api"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, append([]string{"-issuer", issuer.URL, "-client-id", "assay"}, flags...)...)
			p := s.open(t, "/", browsertest.PhoneLight)
			p.Press("Open the console")
			p.Press("Sign in")
			p.Press("Sign in at")
			providertest.SignIn(p.Page, "root")
			p.Sees("Sign out")
			p.keepsNothing()
			var user struct {
				Name, Email string
				Roles       []string
			}
			s.get(t, p.token(), "/v1/user", &user)
			if name == "ID token" &&
				(user.Name != "root of the lab" || user.Email != "root@lab.example" || !slices.Equal(user.Roles, []string{"admin"})) {
				t.Errorf("the token is of %+v", user)
			}
			// Within a second the issuer signs the same token again.
			browsertest.Evaluate[any](p.Page, `sessionStorage.setItem("session", JSON.stringify({...JSON.parse(sessionStorage.getItem("session")),
token: "of nobody", expiresAt: Date.now()})); location.reload()`)
			p.Await(`JSON.parse(sessionStorage.getItem("session"))?.expiresAt > Date.now() + 60_000`)
			s.get(t, p.token(), "/v1/user", &user)
			browsertest.Evaluate[any](p.Page, `window.before = true`)
			p.Press("Sign out")
			p.Await(`!window.before`) // Signing out reloads the page. Pressing before would have no effect.
			p.Press("Sign in")
			if p.token() != "" {
				t.Error("the tab keeps a token after it signed out")
			}
			p.Press("Sign in at")
			providertest.SignIn(p.Page, "ada") // The issuer asks for a login despite its own session.
			p.Sees("Sign out")
			s.get(t, p.token(), "/v1/user", &user)
			if user.Name == "root of the lab" {
				t.Error("the second user is signed in as the first")
			}
		})
	}
}

// An answer of the issuer that the tab did not request, or that is refused, begins no session, and the page says what to do.
func TestConsole_RefusesAnswersThatItDidNotAskFor(t *testing.T) {
	t.Parallel()
	issuer := providertest.Start(t)
	s := start(t, "-issuer", issuer.URL, "-client-id", "assay")
	refuses := func(t *testing.T, p *consolePage, says string) {
		t.Helper()
		p.Sees(says)
		p.keepsNothing()
		if p.token() != "" {
			t.Error("a session began")
		}
	}
	// attempt is the record of a tab about a sign-in that it began.
	const attempt = `sessionStorage.setItem("sign-in", JSON.stringify({state: "s", nonce: "n", verifier: "v".repeat(43), hash: "#/"}));`
	answers := func(name, first, query, says string) {
		t.Run(name, func(t *testing.T) {
			p := s.open(t, "/console", browsertest.PhoneDark)
			browsertest.Evaluate[any](p.Page, first+`location.assign("/console`+query+`")`)
			refuses(t, p, says)
		})
	}
	answers("a state of nobody", "", "?code=c&state=s", "belongs to no sign-in")
	answers("another state", attempt, "?code=c&state=t", "belongs to no sign-in")
	answers("no state", attempt, "?code=c", "belongs to no sign-in")
	answers("a text of nobody", "", "?error=x&error_description=Call+us", "belongs to no sign-in")
	answers("a code of nobody", attempt, "?code=c&state=s", "The issuer refused: invalid_grant")
	answers("another issuer", attempt, "?code=c&state=s&iss=https://elsewhere.example", "is of another sign-in")
	answers("an error of the issuer", attempt, "?error=access_denied&error_description=<b>No</b>&state=s",
		"The issuer refused: access_denied (<b>No</b>). Sign in again.")
	for member, says := range map[string]string{
		"state": "belongs to no sign-in", "nonce": "is of another sign-in", "verifier": "The issuer refused: invalid_grant",
	} {
		t.Run("another "+member+" than the issuer got", func(t *testing.T) {
			p := s.open(t, "/console#/sign-in", browsertest.PhoneLight)
			browsertest.Evaluate[any](p.Page, `{ const set = Storage.prototype.setItem; Storage.prototype.setItem = function(key, value) {
set.call(this, key, JSON.stringify({...JSON.parse(value), `+member+`: "x".repeat(43)})); } }`)
			p.Press("Sign in at")
			providertest.SignIn(p.Page, "ada")
			refuses(t, p, says)
		})
	}
	t.Run("another audience", func(t *testing.T) {
		s.program.env.Verify = verifierOf(t, issuer.URL, "other")
		p := s.open(t, "/console#/sign-in", browsertest.PhoneLight)
		p.Press("Sign in at")
		providertest.SignIn(p.Page, "ada")
		refuses(t, p, "The token is meant for another audience")
	})
	if err := issuer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	answers("no answer of the issuer", attempt, "?code=c&state=s", "(CORS)")
}

// verifierOf verifies tokens for the audience.
func verifierOf(t *testing.T, issuer, audience string) func(context.Context, string) (access.Caller, error) {
	t.Helper()
	v, err := auth.New(auth.Config{Issuer: issuer, Audience: audience})
	if err != nil {
		t.Fatal(err)
	}
	return v.Caller
}

// TestConsole_SharesTheSessionOfItsTabs opens a second tab, which must be signed in. It refuses the token of both and signs in again in the
// second tab; the first tab must be unchanged. Then it signs out of both.
func TestConsole_SharesTheSessionOfItsTabs(t *testing.T) {
	t.Parallel()
	const expire = `sessionStorage.setItem("session", JSON.stringify({...JSON.parse(sessionStorage.getItem("session")), token: "of nobody"}));`
	signIn := func(p *consolePage) {
		p.t.Helper()
		p.Fill("As an administrator of this server", "true")
		p.signIn("bob")
	}
	p := useShared(t).open(t, "/console#/sign-in", browsertest.DeskLight)
	signIn(p)
	p.Sees("Admin")
	second := p.openTab("/console#/", browsertest.DeskLight)
	second.Sees("Sign out")
	if second.token() != p.token() {
		t.Error("the second tab has another token")
	}
	browsertest.Evaluate[any](second.Page, `{ const late = new BroadcastChannel("assay"); late.postMessage({answer:
{...JSON.parse(sessionStorage.getItem("session")), token: "a former one"}}); late.postMessage({asks: true}) }`)
	p.Sees("Admin")
	if second.token() != p.token() {
		t.Error("the first tab took a former token")
	}
	browsertest.Evaluate[any](p.Page, expire+`location.hash = "#/me"; location.reload()`)
	p.Sees("Your session has ended.")
	browsertest.Evaluate[any](second.Page, expire+`location.reload()`)
	second.Sees("Your session has ended.")
	signIn(second)
	p.Await(`!document.body.innerText.includes("Your session has ended.") && document.body.innerText.includes("bob")`)
	second.Press("Sign out")
	p.Await(`[...document.querySelectorAll("a")].some(a => a.textContent === "Sign in")`)
	if p.token() != "" {
		t.Error("the first tab is still signed in")
	}
}
