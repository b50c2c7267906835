//go:build browser

package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"

	"assay/shared/access"
	"assay/shared/auth"
	"assay/shared/programtest"
	"assay/shared/webpage/browsertest"
)

// startIssuer starts a real issuer, oidc-provider, with a client that may return to the console of the server at the address.
func startIssuer(t *testing.T, server string) (issuer string, node *exec.Cmd) {
	t.Helper()
	folder, address := t.TempDir(), programtest.FreeAddress(t)
	if err := os.CopyFS(folder, os.DirFS("testdata/issuer")); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund")
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm cannot install the issuer: %v\n%s", err, out)
	}
	node = exec.Command("node", "issuer.mjs", "http://"+address, "assay", "http://"+server+"/console")
	node.Dir = folder
	programtest.Serve(t, node, address)
	return "http://" + address, node
}

// consolePage is the console of a server, in a browser.
type consolePage struct {
	*browsertest.Page
	*testServer
	t *testing.T
}

// open opens an address of the server in a tab of its own.
func (s *testServer) open(t *testing.T, b *browsertest.Browser, path string, v browsertest.View) *consolePage {
	t.Helper()
	return &consolePage{b.Open(t, s.url+path, v), s, t}
}

// lead fills the forms of the issuer, which returns to the console.
func (p *consolePage) lead(user string) {
	p.t.Helper()
	p.Await(`document.querySelector("[name=login]") !== null`)
	p.Type("[name=login]", user)
	p.Type("[name=password]", "any")
	browsertest.Evaluate[any](p.Page, `document.querySelector("form").submit()`)
	p.Await(`document.querySelector("[name=prompt][value=consent]") !== null`)
	browsertest.Evaluate[any](p.Page, `document.querySelector("form").submit()`)
}

// token is that of the session.
func (p *consolePage) token() string {
	p.t.Helper()
	return browsertest.Evaluate[string](p.Page, `JSON.parse(sessionStorage.getItem("session"))?.token ?? ""`)
}

// keepsNothing checks that neither the address nor the browser, beyond its tab's session, keeps anything of the sign-in.
func (p *consolePage) keepsNothing() {
	p.t.Helper()
	if kept := browsertest.Evaluate[string](p.Page,
		`location.search + (/code|state|token|secret/.exec(location.hash) ?? "") + JSON.stringify(localStorage) + document.cookie +
Object.keys(sessionStorage).filter(key => key !== "session")`); kept != "{}" {
		p.t.Errorf("the browser keeps %s", kept)
	}
}

// TestConsole_SignsInAnyName enters a name as people write theirs, where the server is its own issuer.
func TestConsole_SignsInAnyName(t *testing.T) {
	p := start(t, "-demo=false").signedIn(t, browsertest.Start(t), "Olivia Müller", "/me")
	p.Sees("Olivia Müller Sign out")
}

// TestConsole_SignsInAtAnIssuer signs in at a real issuer, with the token that the server's audience asks for, gets the next one by a
// refresh token, and signs out.
func TestConsole_SignsInAtAnIssuer(t *testing.T) {
	address := programtest.FreeAddress(t)
	issuer, _ := startIssuer(t, address)
	for name, flags := range map[string][]string{"ID token": nil, "access token": {"-audience", "assay-api"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, append([]string{"-addr", address, "-issuer", issuer, "-client-id", "assay"}, flags...)...)
			p := s.open(t, browsertest.Start(t), "/", browsertest.Views[0]) // each has cookies of its own
			p.Press("Open the console")
			p.Press("Sign in")
			p.Press("Sign in at")
			p.lead("root")
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
			p.Await(`!window.before`) // it loads the page again, which a press meanwhile would come before
			p.Press("Sign in")
			if p.token() != "" {
				t.Error("the tab keeps a token after it signed out")
			}
			p.Press("Sign in at")
			p.lead("ada") // the issuer asks who it is, although it has a session of its own
			p.Sees("Sign out")
			if s.get(t, p.token(), "/v1/user", &user); user.Name == "root of the lab" {
				t.Error("the second user is signed in as the first")
			}
		})
	}
}

// What comes to the console without having been asked for in its tab, or is refused, begins no session and says what to do.
func TestConsole_RefusesAnswersThatItDidNotAskFor(t *testing.T) {
	address, browser := programtest.FreeAddress(t), browsertest.Start(t)
	issuer, node := startIssuer(t, address)
	s := start(t, "-addr", address, "-issuer", issuer, "-client-id", "assay")
	refuses := func(t *testing.T, p *consolePage, says string) {
		t.Helper()
		p.Sees(says)
		p.keepsNothing()
		if p.token() != "" {
			t.Error("a session began")
		}
	}
	// attempt is what a tab remembers of a sign-in that it began.
	const attempt = `sessionStorage.setItem("sign-in", JSON.stringify({state: "s", nonce: "n", verifier: "v".repeat(43), hash: "#/"}));`
	answers := func(name, first, query, says string) {
		t.Run(name, func(t *testing.T) {
			p := s.open(t, browser, "/console", browsertest.Views[1])
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
			p := s.open(t, browsertest.Start(t), "/console#/sign-in", browsertest.Views[0])
			browsertest.Evaluate[any](p.Page, `{ const set = Storage.prototype.setItem; Storage.prototype.setItem = function(key, value) {
set.call(this, key, JSON.stringify({...JSON.parse(value), `+member+`: "x".repeat(43)})); } }`)
			p.Press("Sign in at")
			p.lead("ada")
			refuses(t, p, says)
		})
	}
	t.Run("another audience", func(t *testing.T) {
		s.program.env.Verify = verifierOf(t, issuer, "other")
		p := s.open(t, browsertest.Start(t), "/console#/sign-in", browsertest.Views[0])
		p.Press("Sign in at")
		p.lead("ada")
		refuses(t, p, "The token is meant for another audience")
	})
	if err := node.Process.Kill(); err != nil {
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

// TestConsole_SharesTheSessionOfItsTabs opens a second tab, which is signed in; has the token of both refused, signs in again in the
// second, and finds the first as it was left; and signs out of both.
func TestConsole_SharesTheSessionOfItsTabs(t *testing.T) {
	s, browser := start(t), browsertest.Start(t)
	const expire = `sessionStorage.setItem("session", JSON.stringify({...JSON.parse(sessionStorage.getItem("session")), token: "of nobody"}));`
	signIn := func(p *consolePage) {
		p.Fill("User", "bob")
		p.Fill("As an administrator of this server", "true")
		p.Press("signs in any name > Sign in")
	}
	for _, v := range browsertest.Views {
		p := s.open(t, browser, "/console#/sign-in", v)
		p.Sees("signs in any name")
		p.Check(s.url + "/console/")
		p.Screenshot("sign-in-" + v.String())
		signIn(p)
		p.Sees("Operate")
		second := s.open(t, browser, "/console#/", v)
		second.Sees("Sign out")
		if second.token() != p.token() {
			t.Error("the second tab has another token")
		}
		browsertest.Evaluate[any](second.Page, `{ const late = new BroadcastChannel("assay"); late.postMessage({answer:
{...JSON.parse(sessionStorage.getItem("session")), token: "a former one"}}); late.postMessage({asks: true}) }`)
		p.Sees("Operate")
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
		second.Close()
		p.Close()
	}
}
