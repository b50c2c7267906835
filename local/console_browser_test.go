//go:build browser

package main

import (
	"testing"

	"assay/functions/consoletest"
	"assay/shared/programtest"
	"assay/shared/webpage/browsertest"
)

// TestConsole_FromNothingToABoard walks the stories of an organizer and of a team over the embedded store, signed in by a real issuer, and
// has somebody who is not signed in look at the board.
func TestConsole_FromNothingToABoard(t *testing.T) {
	address := programtest.FreeAddress(t)
	issuer, _ := startIssuer(t, address)
	s := start(t, "-addr", address, "-issuer", issuer, "-client-id", "assay", "-demo=false")
	board := consoletest.FromNothingToABoard(t, consoletest.Setup{URL: s.url, SignIn: func(p *browsertest.Page, user string) {
		p.Press("Sign in at")
		(&consolePage{p, s, t}).lead(user)
	}})
	p := browsertest.Start(t).Open(t, board, browsertest.Views[3])
	p.Sees("Otters")
	p.Sees("Baseline of lakes")
	p.Check(s.url + "/")
}
