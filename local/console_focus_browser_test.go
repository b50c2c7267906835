//go:build browser

package main

import (
	"strings"
	"testing"

	"assay/shared/webpage/browsertest"
)

// focused says where the focus is, once it is anywhere.
func (p *consolePage) focused() string {
	p.t.Helper()
	return browsertest.Evaluate[string](p.Page, `new Promise(done => setTimeout(() => {
const at = document.activeElement; done(at.getAttribute("aria-label") ?? (at.className || at.id || at.tagName + " " + at.textContent)); }, 500))`)
}

// pressFocused focuses a button, as the keyboard does, and presses it.
func (p *consolePage) pressFocused(label string) {
	p.t.Helper()
	browsertest.Evaluate[any](p.Page, `{ const all = [...document.querySelectorAll("main button")];
const it = all.find(b => (b.getAttribute("aria-label") ?? b.textContent).startsWith("`+label+`")); it.focus(); it.click(); }`)
}

// TestConsole_KeepsTheFocus presses buttons that stay, that go with their row, and that send what is refused: the focus stays, goes to the
// heading, and goes to what is wrong.
func TestConsole_KeepsTheFocus(t *testing.T) {
	s := start(t, "-demo=false")
	owner := s.token(t, "owner")
	task := strings.TrimPrefix(s.task(t, owner, "Lakes"), "/v1")
	p := s.signedIn(t, browsertest.Start(t), "owner", "/me")
	p.Press("Make an access token")
	p.Sees("Revoke")
	p.pressFocused("Revoke")
	p.pressFocused("Yes, go on")
	p.Sees("no longer works")
	if at := p.focused(); at != "terminal" {
		t.Errorf("after its row has gone the focus is at %q", at)
	}
	browsertest.Evaluate[any](p.Page, `location.hash = "`+task+`/webhooks"`)
	p.Fill("Address", "https://assay.example/hook")
	p.Press("Make a webhook")
	p.Sees("All events")
	p.pressFocused("New secret")
	p.pressFocused("Yes, go on")
	p.Sees("this once")
	if at := p.focused(); at != "New secret for https://assay.example/hook" {
		t.Errorf("after an action the focus is at %q", at)
	}
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = request => request.method === "POST"
? Promise.resolve(Response.json({detail: "This is refused."}, {status: 403})) : real(request); }`)
	p.Fill("Address", "https://assay.example/other")
	p.pressFocused("Make a webhook")
	p.Sees("This is refused.")
	if at := p.focused(); at != "failure" {
		t.Errorf("after a form was refused the focus is at %q", at)
	}
}

// TestConsole_DescribesCheckboxes looks at a checkbox with a hint, which is what it is described by.
func TestConsole_DescribesCheckboxes(t *testing.T) {
	s := start(t, "-demo=false")
	task := s.task(t, s.token(t, "owner"), "Lakes")
	p := s.signedIn(t, browsertest.Start(t), "ada", strings.TrimPrefix(task, "/v1")+"/join")
	p.Sees("Stay anonymous")
	if said := browsertest.Evaluate[string](p.Page, `(() => { const box = document.querySelector("main input[type=checkbox]");
return document.getElementById(box.getAttribute("aria-describedby"))?.textContent ?? "" })()`); !strings.Contains(said, "sees an alias") {
		t.Errorf("the checkbox is described by %q", said)
	}
}
