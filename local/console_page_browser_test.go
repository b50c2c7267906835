//go:build browser

package main

import (
	"fmt"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// consolePage is the console of a server, in a browser.
type consolePage struct {
	*browsertest.Page
	*testServer
	t *testing.T
}

// open opens an address of the server in a new browser.
func (s *testServer) open(t *testing.T, path string, v browsertest.View) *consolePage {
	t.Helper()
	return &consolePage{browsertest.Open(t, s.url+path, v), s, t}
}

// openTab opens an address of the server in another tab of the same browser.
func (p *consolePage) openTab(path string, v browsertest.View) *consolePage {
	p.t.Helper()
	return &consolePage{p.OpenTab(p.url+path, v), p.testServer, p.t}
}

// signIn fills the form of the development issuer.
func (p *consolePage) signIn(user string) {
	p.t.Helper()
	p.Fill("User", user+p.users)
	p.Press("signs in any name > Sign in")
}

// signedIn opens an address of the console for a user of the development issuer.
func (s *testServer) signedIn(t *testing.T, user, hash string) *consolePage {
	t.Helper()
	p := s.open(t, "/console#/sign-in", browsertest.DeskLight)
	p.signIn(user)
	p.Sees("Sign out")
	p.Visit(hash)
	return p
}

// adopt begins a session with a token, and shows an address of the console.
func (p *consolePage) adopt(token, hash string) {
	p.t.Helper()
	browsertest.Evaluate[any](p.Page, fmt.Sprintf(`sessionStorage.setItem("session", JSON.stringify({token: %q}));
location.hash = %q; location.reload()`, token, hash))
}

// token is the token of the session.
func (p *consolePage) token() string {
	p.t.Helper()
	return browsertest.Evaluate[string](p.Page, `JSON.parse(sessionStorage.getItem("session"))?.token ?? ""`)
}

// keepsNothing checks that the address and the browser store nothing of the sign-in, except the session of the tab.
func (p *consolePage) keepsNothing() {
	p.t.Helper()
	if kept := browsertest.Evaluate[string](p.Page,
		`location.search + (/code|state|token|secret/.exec(location.hash) ?? "") + JSON.stringify(localStorage) + document.cookie +
Object.keys(sessionStorage).filter(key => key !== "session")`); kept != "{}" {
		p.t.Errorf("the browser keeps %s", kept)
	}
}
