//go:build browser

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/local/cli/signin"
	"assay/shared/edge/auth/providertest"
	"assay/shared/edge/webpage/browsertest"
	"assay/shared/testing/waittest"
)

// await waits until the output matches the pattern, and returns the match.
func (w *watched) await(t *testing.T, pattern string) []string {
	t.Helper()
	return waittest.Value(t, "the output has "+pattern, func() (found []string, expected bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		found = regexp.MustCompile(pattern).FindStringSubmatch(w.text.String())
		return found, found != nil
	})
}

// TestLogin_AtAnIssuer signs in at a real issuer in a real browser, with a code that returns to this machine and with another device. Then
// it gets the next token with a refresh token.
func TestLogin_AtAnIssuer(t *testing.T) {
	s := serve(t, "embedded", "-issuer", providertest.Start(t).URL, "-client-id", "assay")
	for name, way := range map[string]struct {
		flag, address string
		lead          func(p *browsertest.Page)
	}{
		"browser": {"--device=false", `(http://\S+/auth\?\S+)`, func(*browsertest.Page) {}},
		"device": {"--device", `Open (\S+) on any device`, func(p *browsertest.Page) {
			p.Await(`document.querySelector("[name=confirm]") !== null`) // A script on the first form sends the code.
			browsertest.Evaluate[any](p, `document.querySelector("form").submit()`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{t: t, folder: t.TempDir(), home: t.TempDir()}
			var out, errs watched
			of := &program{in: strings.NewReader(""), out: &out, errs: &errs, getenv: func(string) string { return "" }, folder: p.home}
			ended := make(chan int, 1)
			go func() { ended <- of.run(t.Context(), []string{"login", s.url, way.flag}) }()
			page := browsertest.Open(t, errs.await(t, way.address)[1], browsertest.PhoneLight)
			way.lead(page)
			providertest.SignIn(page, "ada")
			if code := <-ended; code != done {
				t.Fatalf("the sign-in exits with %d: %s", code, errs.text.String())
			}
			out.await(t, "Signed in to "+s.url+" as ada of the lab")
			file, err := signin.Open(filepath.Join(p.home, "assay"))
			if err != nil {
				t.Fatal(err)
			}
			file.Servers[s.url].Token = "of nobody"
			file.Servers[s.url].ExpiresAt = time.Now()
			if err := file.Save(); err != nil {
				t.Fatal(err)
			}
			p.says(done, []string{"None of your teams has a run"}, "runs")
		})
	}
}
