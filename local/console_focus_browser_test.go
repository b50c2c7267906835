//go:build browser

package main

import (
	"fmt"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// awaitFocus waits until an element with the label, the class or the id has the focus.
func (p *consolePage) awaitFocus(at string) {
	p.t.Helper()
	p.Await(fmt.Sprintf(`(e => e.getAttribute("aria-label") ?? (e.className || e.id))(document.activeElement) === %q`, at))
}

// pressFocused focuses a button, like a keyboard, and presses it.
func (p *consolePage) pressFocused(label string) {
	p.t.Helper()
	browsertest.Evaluate[any](p.Page, `{ const all = [...document.querySelectorAll("main button")];
const it = all.find(b => (b.getAttribute("aria-label") ?? b.textContent).startsWith("`+label+`")); it.focus(); it.click(); }`)
}

// TestConsole_KeepsTheFocus presses buttons that stay, that disappear with their row, and that send a refused form. The focus must stay,
// move to the heading, and move to the fault.
func TestConsole_KeepsTheFocus(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := strings.TrimPrefix(s.task(t, owner, "Lakes"), "/v1")
	p := s.signedIn(t, "owner", "/me")
	p.Press("Make an access token")
	p.Sees("Revoke")
	p.pressFocused("Revoke")
	p.pressFocused("Yes, go on")
	p.Sees("within 10 seconds")
	p.awaitFocus("terminal") // The row of the button has disappeared.
	p.Visit(task + "/webhooks")
	p.Fill("Address", "https://assay.example/hook")
	p.Press("Make a webhook")
	p.Sees("All events")
	p.pressFocused("New secret")
	p.pressFocused("Yes, go on")
	p.Sees("this once")
	p.awaitFocus("New secret for https://assay.example/hook")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = request => request.method === "POST"
? Promise.resolve(Response.json({detail: "This is refused."}, {status: 403})) : real(request); }`)
	p.Fill("Address", "https://assay.example/other")
	p.pressFocused("Make a webhook")
	p.Sees("This is refused.")
	p.awaitFocus("failure")
}

// TestConsole_DescribesCheckboxes checks that the hint of a checkbox describes it for screen readers.
func TestConsole_DescribesCheckboxes(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task := s.task(t, s.token(t, "owner"), "Lakes")
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/join")
	p.Sees("Stay anonymous")
	if said := browsertest.Evaluate[string](p.Page, `(() => { const box = document.querySelector("main input[type=checkbox]");
return document.getElementById(box.getAttribute("aria-describedby"))?.textContent ?? "" })()`); !strings.Contains(said, "sees an alias") {
		t.Errorf("the checkbox is described by %q", said)
	}
}
