//go:build browser

// Package browsertest holds pages to what a browser sees: it opens them in headless Chromium as a phone and as a desk have
// them, light and dark, and reports errors on the console, requests, what axe-core finds, and what does not fit.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/nightlytest"
	"assay/shared/programtest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
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

// PhoneLight and its like are the usual views.
var (
	PhoneLight = View{390, false}
	PhoneDark  = View{390, true}
	DeskLight  = View{1280, false}
	DeskDark   = View{1280, true}
)

// Views returns the views in which every page is checked. The small form of tests has two views, with both widths and both color schemes:
// a page that does not fit, or that lacks contrast, fails in one of them. Nightly tests check each width in each scheme, and a wide screen.
func Views() []View {
	if nightlytest.Enabled {
		return []View{PhoneLight, PhoneDark, DeskLight, DeskDark, {1920, false}}
	}
	return []View{PhoneLight, DeskDark}
}

// String names the view, as in the names of tests and screenshots.
func (v View) String() string { return fmt.Sprintf("%d-%s", v.Width, v.scheme()) }

func (v View) scheme() string {
	if v.Dark {
		return "dark"
	}
	return "light"
}

// patience bounds every wait. Waits end by a condition, so only a page that is stuck uses it up. It is long for a page of charts: axe-core
// needs ten seconds of a processor for it, of which a busy machine gives a part.
const patience = 3 * time.Minute

// screenshotsVariable is the variable with the folder that screenshots go to; without it none are taken.
const screenshotsVariable = "ASSAY_SCREENSHOTS"

// Page is a tab, and what happened on it.
type Page struct {
	t    testing.TB
	ctx  context.Context
	fail context.CancelCauseFunc

	mu       sync.Mutex
	requests []string
	errors   []string
}

// Open opens the address as somebody who has not been there: with cookies, storage and a cache of its own. The page closes with the test.
func Open(t testing.TB, url string, v View) *Page {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	if browser.Err() != nil {
		t.Fatal("Chromium ended during another test.")
	}
	return open(browser, t, url, v, chromedp.WithNewBrowserContext())
}

// OpenTab opens the address in another tab, which shares cookies and storage with the page. It closes with the page.
func (p *Page) OpenTab(url string, v View) *Page {
	p.t.Helper()
	return open(p.ctx, p.t, url, v)
}

// open opens the address in a new tab of the parent's browser.
func open(parent context.Context, t testing.TB, url string, v View, options ...chromedp.ContextOption) *Page {
	t.Helper()
	failing, fail := context.WithCancelCause(parent)
	tab, closeTab := chromedp.NewContext(failing, options...)
	t.Cleanup(closeTab)
	p := &Page{t: t, ctx: tab, fail: fail}
	if err := chromedp.Listen(tab, p.record); err != nil {
		t.Fatal(p.explain(err))
	}
	call(p, chromedp.Steps( //nolint:contextcheck // the page keeps its context
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
	case *inspector.EventTargetCrashed:
		p.fail(errors.New("the tab crashed"))
	}
}

// explain returns the error of a step, or the crash behind it.
func (p *Page) explain(err error) error {
	browser, _ := chromium()
	switch {
	case browser.Err() != nil:
		return fmt.Errorf("the browser ended during the test: %w", err)
	case p.ctx.Err() != nil:
		return context.Cause(p.ctx)
	default:
		return err
	}
}

// call runs an action, which must succeed.
func call[T any](p *Page, a chromedp.Action[T]) T {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	result, err := chromedp.Run(ctx, a)
	if err != nil {
		p.t.Fatal(p.explain(err))
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

// A page is asked again whether a condition holds after minPause, and then after pauses that double up to maxPause.
const (
	minPause = 10 * time.Millisecond
	maxPause = 160 * time.Millisecond
)

// Await waits until a JavaScript expression is true on whichever page the tab then shows.
func (p *Page) Await(expression string) {
	p.t.Helper()
	p.await(expression, expression)
}

// await is Await, and names what it waits for when that does not come.
func (p *Page) await(expression, name string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		// Between two pages there is none to evaluate it on.
		if holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && holds {
			return
		}
		select {
		case <-p.ctx.Done():
			p.t.Fatalf("while waiting for %s: %v", name, p.explain(p.ctx.Err()))
		case <-ctx.Done():
			p.t.Fatalf("%s does not come true; the page shows\n%s", name, Evaluate[string](p, `document.body.innerText`))
		case <-time.After(pause):
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

// checkAccessibility reports what axe-core finds. The page keeps axe-core until it is left.
func (p *Page) checkAccessibility() {
	p.t.Helper()
	if !Evaluate[bool](p, `"axe" in window`) {
		source, err := os.ReadFile(programtest.Installed(p.t, "axe-core", "axe.min.js"))
		if err != nil {
			p.t.Fatalf("axe-core is not installed: run `npm ci --prefix infra` (make test-browser does): %v", err)
		}
		Evaluate[any](p, string(source)+"; null")
	}
	for _, violation := range Evaluate[[]string](p, `axe.run({resultTypes: ["violations"]}).then(found => found.violations
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
