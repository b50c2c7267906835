//go:build browser && !windows

package main

import (
	"syscall"
	"testing"

	"assay/shared/edge/auth/providertest"
	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_DoesNotWaitForASilentIssuer stops the answers of the issuer when the next token is due. The current token must stay in use.
func TestConsole_DoesNotWaitForASilentIssuer(t *testing.T) {
	t.Parallel()
	issuer := providertest.Start(t)
	s := start(t, "-issuer", issuer.URL, "-client-id", "assay")
	p := s.open(t, "/console#/sign-in", browsertest.PhoneLight)
	p.Press("Sign in at")
	providertest.SignIn(p.Page, "ada")
	p.Sees("Sign out")
	if err := issuer.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Process.Signal(syscall.SIGCONT) })
	browsertest.Evaluate[any](p.Page, `sessionStorage.setItem("session", JSON.stringify({...JSON.parse(sessionStorage.getItem("session")),
expiresAt: Date.now() + 50_000})); location.hash = "#/me"; location.reload()`)
	p.Sees("ada@lab.example")
	p.Visit("#/runs")
	p.Sees("There is no run of yours or of your teams yet.")
}
