//go:build browser

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/local/cli/signin"
	"assay/shared/programtest"
	"assay/shared/webpage/browsertest"
)

// issuer starts a real issuer, oidc-provider, whose client may return to this machine.
func issuer(t *testing.T) string {
	t.Helper()
	folder, address := t.TempDir(), programtest.FreeAddress(t)
	if err := os.CopyFS(folder, os.DirFS("../testdata/issuer")); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund")
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm cannot install the issuer: %v\n%s", err, out)
	}
	node := exec.Command("node", "issuer.mjs", "http://"+address, "assay", "http://127.0.0.1/console")
	node.Dir = folder
	programtest.Serve(t, node, address)
	return "http://" + address
}

// await returns what the pattern finds once it is there.
func (w *watched) await(t *testing.T, pattern string) []string {
	t.Helper()
	for range 600 {
		w.mu.Lock()
		found := regexp.MustCompile(pattern).FindStringSubmatch(w.text.String())
		w.mu.Unlock()
		if found != nil {
			return found
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("there is no %s", pattern)
	return nil
}

// TestLogin_AtAnIssuer signs in at a real issuer in a real browser, by a code that comes back to this machine and on another device, and
// gets the next token by a refresh token.
func TestLogin_AtAnIssuer(t *testing.T) {
	at := issuer(t)
	s := serve(t, "embedded", "-issuer", at, "-client-id", "assay")
	for name, way := range map[string]struct {
		flag, address string
		lead          func(p *browsertest.Page)
	}{
		"browser": {"--device=false", `(http://\S+/auth\?\S+)`, func(*browsertest.Page) {}},
		"device": {"--device", `Open (\S+) on any device`, func(p *browsertest.Page) {
			p.Await(`document.querySelector("[name=confirm]") !== null`) // after a form that sends the code by itself
			browsertest.Evaluate[any](p, `document.querySelector("form").submit()`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{t: t, folder: t.TempDir(), home: t.TempDir()}
			var out, errs watched
			of := &program{in: strings.NewReader(""), out: &out, errs: &errs, getenv: func(string) string { return "" }, folder: p.home}
			ended := make(chan int, 1)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			go func() { ended <- of.run(ctx, []string{"login", s.url, way.flag}) }()
			page := browsertest.Start(t).Open(t, errs.await(t, way.address)[1], browsertest.Views[0])
			way.lead(page)
			page.Await(`document.querySelector("[name=login]") !== null`)
			page.Type("[name=login]", "ada")
			page.Type("[name=password]", "any")
			browsertest.Evaluate[any](page, `document.querySelector("form").submit()`)
			page.Await(`document.querySelector("[name=prompt][value=consent]") !== null`)
			browsertest.Evaluate[any](page, `document.querySelector("form").submit()`)
			if code := <-ended; code != done {
				t.Fatalf("the sign-in exits with %d: %s", code, errs.text.String())
			}
			out.await(t, "Signed in to "+s.url+" as ada of the lab")
			file, err := signin.Open(filepath.Join(p.home, "assay"))
			if err != nil {
				t.Fatal(err)
			}
			file.Servers[s.url].Token, file.Servers[s.url].ExpiresAt = "of nobody", time.Now()
			if err := file.Save(); err != nil {
				t.Fatal(err)
			}
			p.says(done, []string{"no run here yet"}, "runs")
		})
	}
}
