//go:build browser

// Package providertest runs oidc-provider, a third-party OpenID Connect issuer, for tests that sign in with a browser.
package providertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"assay/shared/edge/webpage/browsertest"
	"assay/shared/testing/programtest"
)

// folder contains the issuer, relative to the root of the module.
const folder = "shared/edge/auth/providertest/testdata/issuer"

// Issuer is a running issuer. It may redirect its client, assay, to /console and /callback at any port of 127.0.0.1.
type Issuer struct {
	URL     string
	Process *os.Process
}

// Start starts an issuer, which ends with the test.
func Start(t testing.TB) Issuer {
	t.Helper()
	address := programtest.FreeAddress(t)
	node := exec.CommandContext(context.Background(), "node", "issuer.mjs", "http://"+address) //nolint:gosec // a free address
	node.Dir = filepath.Join(programtest.Root(t), folder)
	if _, err := os.Stat(filepath.Join(node.Dir, "node_modules")); err != nil {
		t.Fatalf("oidc-provider is not installed: run `npm ci --prefix %s` (make test-browser does): %v", folder, err)
	}
	programtest.Serve(t, node, address)
	return Issuer{"http://" + address, node.Process}
}

// SignIn fills in the issuer's forms on the page. The issuer then redirects to the client. It accepts any name.
func SignIn(p *browsertest.Page, user string) {
	p.Await(`document.querySelector("[name=login]") !== null`)
	p.Type("[name=login]", user)
	p.Type("[name=password]", "any")
	browsertest.Evaluate[any](p, `document.querySelector("form").submit()`)
	p.Await(`document.querySelector("[name=prompt][value=consent]") !== null`)
	browsertest.Evaluate[any](p, `document.querySelector("form").submit()`)
}
