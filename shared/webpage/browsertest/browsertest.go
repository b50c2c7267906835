//go:build browser

// Package browsertest holds pages to what a browser sees: it opens them in headless Chromium as a phone and as a desk have
// them, light and dark, and reports errors on the console, requests, what axe-core finds, and what does not fit.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/programtest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// View is how somebody looks at a page.
type View struct {
	Width int64
	Dark  bool
}

// Views are those in which every page is checked.
var Views = []View{{390, false}, {390, true}, {1280, false}, {1280, true}}

// String names the view, as in the names of tests and screenshots.
func (v View) String() string { return fmt.Sprintf("%d-%s", v.Width, v.scheme()) }

func (v View) scheme() string {
	if v.Dark {
		return "dark"
	}
	return "light"
}

// stepTime is how long anything on a page may take: Chromium shares its machine with other tests.
const stepTime = 40 * time.Second

// screenshotsVariable is the variable with the folder that screenshots go to; without it none are taken.
const screenshotsVariable = "ASSAY_SCREENSHOTS"

// Browser is a running Chromium with a profile of its own.
type Browser struct {
	ctx context.Context
	axe string
}

// Start starts Chromium, which ends with the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	axe, err := os.ReadFile(programtest.Installed(t, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("axe-core is not installed: run `npm ci --prefix infra` (make test-browser does): %v", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, // as a root user in a container, without a screen
		chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(t.TempDir()),
	)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start; install it (Debian: apt-get install chromium): %v", err)
	}
	return &Browser{ctx, string(axe)}
}

// Page is an opened page, and what happened on it.
type Page struct {
	Close func() // closes its tab before the test ends

	t    testing.TB
	ctx  context.Context
	axe  string
	view View

	mu       sync.Mutex
	requests []string
	errors   []string
}

// Open opens the address in a tab of its own, which is closed with the test.
func (b *Browser) Open(t testing.TB, url string, v View) *Page {
	t.Helper()
	tab, closeTab := chromedp.NewContext(b.ctx)
	t.Cleanup(closeTab)
	p := &Page{t: t, ctx: tab, Close: closeTab, axe: b.axe, view: v}
	if err := chromedp.Listen(tab, p.record); err != nil {
		t.Fatal(err)
	}
	call(p, chromedp.Steps(
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{})
			return err
		}),
		chromedp.EmulateViewport(v.Width, 900),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme()}},
			})
			return err
		}),
		chromedp.Navigate(url),
	))
	return p
}

// record keeps what the tests ask for.
func (p *Page) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.errors = append(p.errors, e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.errors = append(p.errors, "the page wrote to the console")
	}
}

// call runs an action, which must succeed.
func call[T any](p *Page, a chromedp.Action[T]) T {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, stepTime)
	defer stop()
	result, err := chromedp.Run(ctx, a)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

// Evaluate returns the value of a JavaScript expression, once it is there if it is a promise.
func Evaluate[T any](p *Page, expression string) T {
	p.t.Helper()
	return call(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Type types the text into what the selector finds.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	call(p, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Await waits until a JavaScript expression is true on whichever page the tab then shows.
func (p *Page) Await(expression string) {
	p.t.Helper()
	p.await(expression, expression)
}

// await is Await, and names what it waits for when that does not come.
func (p *Page) await(expression, name string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, stepTime)
	defer stop()
	for {
		// Between two pages there is none to evaluate it on.
		if holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && holds {
			return
		}
		select {
		case <-ctx.Done():
			shown, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`))
			p.t.Fatalf("%s does not come true; the page shows\n%s", name, shown)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Check reports every fault of the page as it now is: errors on the console, a request other than the one for the page and those that
// begin with what is expected, violations of accessibility that axe-core calls serious or critical, and a width beyond the window's.
func (p *Page) Check(expected ...string) {
	p.t.Helper()
	p.checkAccessibility()
	if wide := Evaluate[[]string](p, `(() => {
  const limit = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= limit) return [];
  return [...document.querySelectorAll("html, body *")]
    .filter(e => e === document.documentElement || e.getBoundingClientRect().right > limit + 1)
    .slice(0, 5).map(e => e.outerHTML.slice(0, 120));
})()`); len(wide) > 0 {
		p.t.Errorf("the page is wider than its window:\n%s", strings.Join(wide, "\n"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errors) > 0 {
		p.t.Errorf("on the console: %q", p.errors)
	}
	own := slices.DeleteFunc(slices.Clone(p.requests), func(url string) bool {
		return slices.ContainsFunc(expected, func(prefix string) bool { return strings.HasPrefix(url, prefix) })
	})
	if len(own) > 1 {
		p.t.Errorf("the page makes requests of its own: %q", own)
	}
}

// Forget forgets what happened on the page so far, such as on those of an issuer that led to it.
func (p *Page) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.errors = nil, nil
}

// checkAccessibility reports what axe-core finds.
func (p *Page) checkAccessibility() {
	p.t.Helper()
	for _, violation := range Evaluate[[]string](p, p.axe+`;
axe.run({resultTypes: ["violations"]}).then(found => found.violations
  .filter(v => v.impact === "serious" || v.impact === "critical")
  .map(v => v.id + ": " + v.help + "\n" + v.nodes.slice(0, 5).map(n => "  " + n.html + "\n  " + n.failureSummary).join("\n")))`) {
		p.t.Errorf("axe-core finds %s", violation)
	}
}

// Screenshot takes a screenshot of the whole page, if the environment says where to.
func (p *Page) Screenshot(name string) {
	p.t.Helper()
	folder := os.Getenv(screenshotsVariable)
	if folder == "" {
		return
	}
	picture := call(p, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil { //nolint:gosec // the environment of the test names the folder
		p.t.Fatal(err)
	}
}
