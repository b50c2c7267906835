//go:build browser

package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"assay/shared/access"
	"assay/shared/auth"
	"assay/shared/programtest"
	"assay/shared/webpage/browsertest"
)

// startIssuer starts a real issuer, oidc-provider, with a client that may return to the page to sign in of the server at the address.
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
	node = exec.Command("node", "issuer.mjs", "http://"+address, "assay", "http://"+server+"/sign-in")
	node.Dir = folder
	programtest.Serve(t, node, address)
	return "http://" + address, node
}

// signInPage is the page to sign in of a server, in a browser.
type signInPage struct {
	*browsertest.Page
	*testServer
	t *testing.T
}

const (
	enter = `document.querySelector("#begin button").click()`
	shown = `document.getElementById("lines")?.checkVisibility() ?? false`
)

// open opens an address of the server in a tab of its own.
func (s *testServer) open(t *testing.T, b *browsertest.Browser, path string, v browsertest.View) *signInPage {
	t.Helper()
	return &signInPage{b.Open(t, s.url+path, v), s, t}
}

// lead fills the forms of the issuer, which returns to the page.
func (p *signInPage) lead(user string) {
	p.t.Helper()
	browsertest.Evaluate[any](p.Page, enter)
	p.Await(`document.querySelector("[name=login]") !== null`)
	p.Type("[name=login]", user)
	p.Type("[name=password]", "any")
	browsertest.Evaluate[any](p.Page, `document.querySelector("form").submit()`)
	p.Await(`document.querySelector("[name=prompt][value=consent]") !== null`)
	browsertest.Evaluate[any](p.Page, `document.querySelector("form").submit()`)
}

// says waits until the page says the text.
func (p *signInPage) says(text string) {
	p.t.Helper()
	p.Await(`[...document.querySelectorAll("[role=status]")].some(e => e.textContent.includes(` + "`" + text + "`))")
}

// token is the value of ASSAY_TOKEN in the element's lines.
func (p *signInPage) token(id string) string {
	p.t.Helper()
	_, token, _ := strings.Cut(browsertest.Evaluate[string](p.Page, `document.getElementById("`+id+`").textContent`), "ASSAY_TOKEN=")
	return token
}

// leavesNothing checks that neither the address nor the browser's storage keeps anything of the sign-in.
func (p *signInPage) leavesNothing() {
	p.t.Helper()
	if kept := browsertest.Evaluate[string](p.Page,
		`location.search + location.hash + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie`); kept != "{}{}" {
		p.t.Errorf("the browser keeps %s", kept)
	}
}

// TestSignInPage_EndsWithAWorkingToken signs in at a real issuer, in a real browser, with the token that the server's audience asks for.
func TestSignInPage_EndsWithAWorkingToken(t *testing.T) {
	address := programtest.FreeAddress(t)
	issuer, _ := startIssuer(t, address)
	for name, flags := range map[string][]string{"ID token": nil, "access token": {"-audience", "assay-api"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, append([]string{"-addr", address, "-issuer", issuer, "-client-id", "assay"}, flags...)...)
			p := s.open(t, browsertest.Start(t), "/", browsertest.Views[0]) // each has cookies of its own
			browsertest.Evaluate[any](p.Page, `document.querySelector("a[href='/sign-in']").click()`)
			p.Await(`document.getElementById("begin")?.checkVisibility() ?? false`)
			p.lead("root")
			p.Await(shown)
			p.leavesNothing()
			p.Screenshot("sign-in-token-" + name)
			var user struct {
				Name, Email string
				Roles       []string
			}
			s.get(t, p.token("lines"), "/v1/user", &user)
			if name == "ID token" {
				p.says("Signed in as root of the lab. The token lasts until")
				if user.Name != "root of the lab" || user.Email != "root@lab.example" || !slices.Equal(user.Roles, []string{"admin"}) {
					t.Errorf("the token is of %+v", user)
				}
				s.checkMade(t, p)
			}
		})
	}
}

// checkMade makes an access token on the page, which may read and not more.
func (s *testServer) checkMade(t *testing.T, p *signInPage) {
	t.Helper()
	browsertest.Evaluate[any](p.Page, `document.getElementById("scope").value = "read";
document.getElementById("days").value = "7"; document.querySelector("#own button").click()`)
	p.says("Made the access token terminal, which lasts until")
	secret := p.token("secret")
	s.get(t, secret, "/v1/user", nil)
	if got := s.send(t, secret, http.MethodPost, "/v1/organizers", map[string]any{"name": "Lab"}); got.status != http.StatusForbidden {
		t.Errorf("the access token made an organizer: %d %s", got.status, got.body)
	}
	p.leavesNothing()
	p.Screenshot("sign-in-made")
}

// What comes to the page without having been asked for in its tab, or is refused, gives no token and says what to do.
func TestSignInPage_RefusesWhatItDidNotAskFor(t *testing.T) {
	address, browser := programtest.FreeAddress(t), browsertest.Start(t)
	issuer, node := startIssuer(t, address)
	s := start(t, "-addr", address, "-issuer", issuer, "-client-id", "assay")
	refuses := func(t *testing.T, p *signInPage, says string) {
		t.Helper()
		p.says(says)
		p.leavesNothing()
		if browsertest.Evaluate[bool](p.Page, shown) {
			t.Error("the page shows a token")
		}
	}
	s.open(t, browser, "/sign-in", browsertest.Views[0]).Check()
	// attempt is what a tab remembers of a sign-in that it began.
	const attempt = `sessionStorage.setItem("sign-in", JSON.stringify({state: "s", nonce: "n", verifier: "v".repeat(43)}));`
	answers := func(name, first, query, says string) {
		t.Run(name, func(t *testing.T) {
			p := s.open(t, browser, "/sign-in", browsertest.Views[1])
			browsertest.Evaluate[any](p.Page, first+`location.assign("/sign-in`+query+`")`)
			refuses(t, p, says)
		})
	}
	answers("a state of nobody", "", "?code=c&state=s", "belongs to no sign-in")
	answers("another state", attempt, "?code=c&state=t", "belongs to no sign-in")
	answers("no state", attempt, "?code=c", "belongs to no sign-in")
	answers("a text of nobody", "", "?error=x&error_description=Call+us", "belongs to no sign-in")
	answers("a code of nobody", attempt, "?code=c&state=s&more=1&more=2", "The issuer refused: invalid_grant")
	answers("an error of the issuer", attempt, "?error=access_denied&error_description=<b>No</b>&state=s",
		"The issuer refused: access_denied (<b>No</b>). Sign in again.")
	for member, says := range map[string]string{
		"state": "belongs to no sign-in", "nonce": "is of another sign-in", "verifier": "The issuer refused: invalid_grant",
	} {
		t.Run("another "+member+" than the issuer got", func(t *testing.T) {
			p := s.open(t, browsertest.Start(t), "/sign-in", browsertest.Views[0])
			browsertest.Evaluate[any](p.Page, `{ const set = Storage.prototype.setItem; Storage.prototype.setItem = function(key, value) {
set.call(this, key, JSON.stringify({...JSON.parse(value), `+member+`: "x".repeat(43)})); } }`)
			p.lead("ada")
			refuses(t, p, says)
		})
	}
	t.Run("another audience", func(t *testing.T) {
		s.program.env.Verify = verifierOf(t, issuer, "other")
		p := s.open(t, browsertest.Start(t), "/sign-in", browsertest.Views[0])
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

// TestSignInPage_OfTheDevelopmentIssuer gives a token for a chosen user, without leaving the page.
func TestSignInPage_OfTheDevelopmentIssuer(t *testing.T) {
	s, browser := start(t), browsertest.Start(t)
	for _, v := range browsertest.Views {
		p := s.open(t, browser, "/sign-in", v)
		p.Check()
		p.Screenshot("sign-in-development-" + v.String())
		browsertest.Evaluate[any](p.Page, `document.getElementById("user").value = "bob"; document.querySelector("[name=groups]").click(); `+enter)
		p.says("Signed in as bob.")
		var user struct{ Roles []string }
		if s.get(t, p.token("lines"), "/v1/user", &user); !slices.Equal(user.Roles, []string{"admin"}) {
			t.Errorf("the token has the roles %q", user.Roles)
		}
		browsertest.Evaluate[any](p.Page, `document.querySelector("#own button").click()`)
		p.says("Made the access token terminal")
		browsertest.Evaluate[any](p.Page, `document.querySelector("[data-copy=lines]").click()`)
		p.Await(`["Copied", "Selected: copy it by keys"].includes(document.querySelector("[data-copy=lines]").textContent)`)
		p.Check(s.url+"/dev/token", s.url+"/v1/user")
		p.leavesNothing()
		p.Screenshot("sign-in-made-" + v.String())
	}
}

// TestSignInPage_ShowsWhatOneJoins shows what an invitation is to, and the terms, and joins once they are accepted.
func TestSignInPage_ShowsWhatOneJoins(t *testing.T) {
	s, browser := start(t), browsertest.Start(t)
	olga := s.token(t, "olga")
	var made struct{ Link string }
	organizer := s.post(t, olga, "/v1/organizers", map[string]any{"name": "Lake Lab"})
	task := s.post(t, olga, "/v1/tasks", map[string]any{"organizerId": organizer[len("/v1/organizers/"):], "name": "Birds",
		"visibility": "private", "terms": map[string]any{"text": "Be kind."}})
	s.call(t, olga, http.MethodPost, task+"/invitations", map[string]any{}, &made)
	p := s.open(t, browser, strings.TrimPrefix(made.Link, s.url), browsertest.Views[0])
	browsertest.Evaluate[any](p.Page, enter)
	p.says("You are invited to take part in the task Birds of Lake Lab, with a team of yours.")
	p.Await(`document.getElementById("terms-text").textContent === "Be kind." && document.getElementById("accept").checkVisibility()`)
	browsertest.Evaluate[any](p.Page, `document.getElementById("team").value = "Otters"; document.querySelector("#join button").click()`)
	browsertest.Evaluate[any](p.Page, `document.getElementById("accept").click(); document.querySelector("#join button").click()`)
	p.says("You have joined: ")
}
