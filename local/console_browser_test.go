//go:build browser

package main

import (
	"testing"

	"assay/functions/testing/consoletest"
	"assay/shared/edge/auth/providertest"
	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_FromNothingToABoard follows an organizer and a team over the embedded store, with a real issuer. Then an anonymous user opens
// the leaderboard.
func TestConsole_FromNothingToABoard(t *testing.T) {
	s := start(t, "-issuer", providertest.Start(t).URL, "-client-id", "assay", "-demo=false")
	board := consoletest.FromNothingToABoard(t, consoletest.Setup{URL: s.url, SignIn: func(p *browsertest.Page, user string) {
		p.Press("Sign in at")
		providertest.SignIn(p, user)
	}})
	p := browsertest.Open(t, board, browsertest.DeskDark)
	p.Sees("Otters")
	p.Sees("Baseline of lakes")
	p.Check(s.url + "/")
}
