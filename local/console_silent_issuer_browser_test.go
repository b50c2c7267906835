//go:build browser && !windows

package main

import (
	"syscall"
	"testing"

	"assay/shared/programtest"
	"assay/shared/webpage/browsertest"
)

// TestConsole_DoesNotWaitForASilentIssuer has the issuer fall silent when the next token is due: the one that is there goes on.
func TestConsole_DoesNotWaitForASilentIssuer(t *testing.T) {
	address := programtest.FreeAddress(t)
	issuer, node := startIssuer(t, address)
	s := start(t, "-addr", address, "-issuer", issuer, "-client-id", "assay")
	p := s.open(t, browsertest.Start(t), "/console#/sign-in", browsertest.Views[0])
	p.Press("Sign in at")
	p.lead("ada")
	p.Sees("Sign out")
	if err := node.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Process.Signal(syscall.SIGCONT) })
	browsertest.Evaluate[any](p.Page, `sessionStorage.setItem("session", JSON.stringify({...JSON.parse(sessionStorage.getItem("session")),
expiresAt: Date.now() + 50_000})); location.hash = "#/me"; location.reload()`)
	p.Sees("ada@lab.example")
	browsertest.Evaluate[any](p.Page, `location.hash = "#/runs"`)
	p.Sees("You have no runs yet.")
}
