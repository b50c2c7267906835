//go:build browser

package main

import (
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_KeepsUsersApart signs in as bob in the browser of ada: in another of her tabs, and after her token has expired. Her data and
// drafts must disappear, and requests must be sent as bob.
func TestConsole_KeepsUsersApart(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	const asBob = `!document.querySelector("[aria-label=You]")?.textContent.includes("ada") &&
document.querySelector("[aria-label=You]")?.textContent.includes("bob") && !JSON.stringify(sessionStorage).includes("Lab of Ada")`
	drafts := func(t *testing.T) *consolePage {
		t.Helper()
		p := s.signedIn(t, "ada", "/organizers/new")
		p.Fill("Name", "Lab of Ada")
		p.Await(`JSON.stringify(sessionStorage).includes("Lab of Ada")`)
		return p
	}
	t.Run("in another tab", func(t *testing.T) {
		p := drafts(t)
		second := p.openTab("/console#/sign-in?closes=1", browsertest.DeskLight)
		second.signIn("bob")
		second.Await(asBob)
		p.Await(asBob)
		if p.token() != second.token() {
			t.Error("the first tab has another token")
		}
	})
	t.Run("after the token has expired", func(t *testing.T) {
		p := drafts(t)
		browsertest.Evaluate[any](p.Page, `sessionStorage.setItem("session",
JSON.stringify({...JSON.parse(sessionStorage.getItem("session")), token: "of nobody"})); location.reload()`)
		p.Sees("Your session has ended.")
		p.signIn("bob")
		p.Await(asBob)
	})
}

// TestConsole_KeepsInputOfUsersWhoSignOutElsewhere signs out in another tab while a form has input. The form is hidden until its user signs
// in again, and gone if somebody else does, or if somebody discards it.
func TestConsole_KeepsInputOfUsersWhoSignOutElsewhere(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	const kept = `JSON.stringify(sessionStorage).includes("Lab of Ada")`
	const hidden = `!document.body.innerText.includes("Lab of Ada") &&
![...document.querySelectorAll("input")].some(i => i.value === "Lab of Ada" && i.checkVisibility())`
	setAside := func(t *testing.T) *consolePage {
		t.Helper()
		p := s.signedIn(t, "ada", "/organizers/new")
		p.Fill("Name", "Lab of Ada")
		p.Await(kept)
		second := p.openTab("/console#/", browsertest.DeskLight)
		second.Sees("Sign out")
		second.Press("Sign out")
		p.Sees("You signed out in another tab.")
		p.Await(kept + " && " + hidden)
		if p.token() != "" {
			t.Error("the tab keeps its token")
		}
		return p
	}
	t.Run("the same user signs in", func(t *testing.T) {
		p := setAside(t)
		p.signIn("ada")
		p.Await(`[...document.querySelectorAll("input")].some(i => i.value === "Lab of Ada" && i.checkVisibility())`)
		p.Sees("Sign out")
	})
	t.Run("another user signs in", func(t *testing.T) {
		p := setAside(t)
		p.signIn("bob")
		p.Await(`document.querySelector("[aria-label=You]")?.textContent.includes("bob") && !` + kept)
	})
	t.Run("the input is discarded", func(t *testing.T) {
		p := setAside(t)
		p.Press("Discard the input")
		p.Await(`document.querySelector("h1") !== null && !` + kept + " && " + hidden)
	})
}

// TestConsole_SignsOutTabsThatShowOtherPages signs out in one tab while another signed-in tab shows a public page.
func TestConsole_SignsOutTabsThatShowOtherPages(t *testing.T) {
	t.Parallel()
	p := useShared(t).signedIn(t, "ada", "/runs")
	browsertest.Evaluate[any](p.Page, `location.assign("/")`)
	p.Sees("Open the console")
	second := p.openTab("/console#/sign-in", browsertest.DeskLight)
	second.signIn("ada")
	second.Sees("Sign out")
	second.Press("Sign out")
	second.Await(`document.querySelector("[aria-label=You]") === null && document.querySelector("h1") !== null`)
	browsertest.Evaluate[any](p.Page, `history.back()`)
	p.Await(`document.querySelector("h1") !== null && document.querySelector("nav[aria-label=Console]") !== null`)
	p.Await(`document.querySelector("[aria-label=You]") === null`)
	if p.token() != "" {
		t.Error("the tab keeps its token")
	}
}

// TestConsole_KeepsNoTokenThatWasRefused pastes a token that the server refuses. The browser must not store it as a draft.
func TestConsole_KeepsNoTokenThatWasRefused(t *testing.T) {
	t.Parallel()
	p := useShared(t).open(t, "/console#/sign-in", browsertest.DeskLight)
	p.Press("Use an access token instead")
	p.Fill("Access token", "of-somebody")
	p.Press("Use this token")
	p.Await(`document.querySelector("main .failure") !== null`)
	if said := browsertest.Evaluate[string](p.Page, `document.querySelector("main .failure").innerText`); !strings.Contains(said, "token") {
		t.Errorf("the refusal says %q", said)
	}
	p.keepsNothing()
}

// TestConsole_WorksByAnotherNameOfTheServer opens the console at localhost, where links to files have the server's own address.
func TestConsole_WorksByAnotherNameOfTheServer(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	page := browsertest.Open(t, strings.Replace(s.url, "127.0.0.1", "localhost", 1)+"/console#/sign-in", browsertest.DeskLight)
	p := &consolePage{page, s, t}
	p.signIn("ada")
	p.Sees("Sign out")
	if status := browsertest.Evaluate[int](page, `fetch("`+s.url+`/files/none", { method: "PUT" }).then(a => a.status)`); status < 400 {
		t.Errorf("the files answer %d", status)
	}
}
