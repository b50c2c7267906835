//go:build browser

package browsertest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/shared/testing/programtest"
	"assay/shared/testing/waittest"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

func TestMain(m *testing.M) { os.Exit(programtest.Run(m)) }

// TestOpen_KeepsPeopleApart opens a site as two visitors. Data that one of them stores appears in another tab of the same visitor, and
// not for the other visitor.
func TestOpen_KeepsPeopleApart(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<title>Site</title>"))
	}))
	t.Cleanup(site.Close)
	const kept = `document.cookie + localStorage.getItem("name")`
	ada, bob := Open(t, site.URL, DeskLight), Open(t, site.URL, DeskLight)
	Evaluate[any](ada, `document.cookie = "name=ada"; localStorage.setItem("name", "ada"); null`)
	if got := Evaluate[string](ada.OpenTab(site.URL, PhoneLight), kept); got != "name=adaada" {
		t.Errorf("another tab of ada has %q", got)
	}
	if got := Evaluate[string](bob, kept); got != "null" {
		t.Errorf("bob has %q", got)
	}
}

// modeVariable makes the test binary run as the process that TestChromium_EndsWithItsProcess observes.
const modeVariable = "ASSAY_TEST_CHROMIUM"

// TestChromium_EndsWithItsProcess makes a test panic, and makes Chromium crash. No process and no profile of Chromium remains, and each
// test that needed Chromium reports the cause.
func TestChromium_EndsWithItsProcess(t *testing.T) {
	if mode := os.Getenv(modeVariable); mode != "" {
		misbehave(t, mode)
		return
	}
	for mode, says := range map[string][]string{
		"panic": {"panic: on purpose"},
		"crash": {"the browser ended during the test", "Chromium ended during another test."},
	} {
		t.Run(mode, func(t *testing.T) {
			folder, err := os.MkdirTemp("", "") //nolint:usetesting // the path of a test's own folder is too long for Chromium's socket
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(folder) })
			child := exec.Command(os.Args[0], "-test.run", "^TestChromium_EndsWithItsProcess$")
			child.Env = append(os.Environ(), modeVariable+"="+mode, "TMPDIR="+folder)
			out, err := child.CombinedOutput()
			if err == nil {
				t.Error("the tests pass")
			}
			for _, text := range says {
				if !strings.Contains(string(out), text) {
					t.Errorf("the tests do not say %q:\n%s", text, out)
				}
			}
			waittest.Value(t, "Chromium has ended and its profile is removed", func() (left []string, expected bool) {
				if left, err = filepath.Glob(filepath.Join(folder, "assay-chromium*")); err != nil {
					t.Fatal(err)
				}
				return left, len(left) == 0
			})
		})
	}
}

// misbehave fails as the mode says while a page is open.
func misbehave(t *testing.T, mode string) {
	p := Open(t, "about:blank", DeskLight)
	if mode == "panic" {
		panic("on purpose")
	}
	t.Run("crash", func(t *testing.T) {
		p.t = t
		_, _ = cdp.Call(p.ctx, chromedp.FromContext(p.ctx).Browser, browser.Crash, cdp.Empty{}) // gets no answer
		p.Await("false")
	})
	t.Run("another", func(t *testing.T) { Open(t, "about:blank", DeskLight) })
}
