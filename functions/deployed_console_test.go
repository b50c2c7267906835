//go:build s3 && browser

package functions_test

import (
	"testing"

	"assay/functions/testing/consoletest"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/webpage/browsertest"
)

// TestDeployed_ConsoleFromNothingToABoard plays the stories of an organizer and of a team in the console of the functions,
// compiled for Lambda. Files are in a bucket of another origin. People sign in by pasting a token.
func TestDeployed_ConsoleFromNothingToABoard(t *testing.T) {
	d := deploy(t, build(t), false)
	consoletest.FromNothingToABoard(t, consoletest.Setup{URL: d.url, Files: d.filesOrigin, SignIn: func(p *browsertest.Page, user string) {
		token, err := d.issuer.Token(devissuer.User{User: user, Name: user + " of the lab"})
		if err != nil {
			t.Fatal(err)
		}
		p.Fill("Access token", token)
		p.Press("Use this token")
	}})
}
