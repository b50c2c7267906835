//go:build browser

// Package browsertest tests pages in headless Chromium. It opens a page at the width of a phone or a desktop, with a light or dark color
// scheme. It reports errors on the console, unexpected requests, accessibility violations that axe-core finds, and content that is too
// wide.
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

	"assay/shared/testing/nightlytest"
	"assay/shared/testing/programtest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// View is a window width with a color scheme.
type View struct {
	Width int64
	Dark  bool
}

// PhoneLight and the following are the usual views.
var (
	PhoneLight = View{390, false}
	PhoneDark  = View{390, true}
	DeskLight  = View{1280, false}
	DeskDark   = View{1280, true}
)

// Views returns the views in which every page is checked. Short tests use two views, which cover both widths and both color schemes: a
// page that is too wide, or that lacks contrast, fails in one of them. Nightly tests check all combinations and a wide screen.
func Views() []View {
	if nightlytest.Enabled {
		return []View{PhoneLight, PhoneDark, DeskLight, DeskDark, {1920, false}}
	}
	return []View{PhoneLight, DeskDark}
}

// String returns the name of the view in names of tests and screenshots.
func (v View) String() string { return fmt.Sprintf("%d-%s", v.Width, v.scheme()) }

func (v View) scheme() string {
	if v.Dark {
		return "dark"
	}
	return "light"
}

// patience bounds every wait. Waits end with a condition, so only a stuck page reaches the bound. It is long because axe-core takes ten
// seconds of processor time for a page of charts, and busy machines provide only a part of that.
const patience = 3 * time.Minute

// screenshotsVariable names the folder for screenshots. If it is not set, none are taken.
const screenshotsVariable = "ASSAY_SCREENSHOTS"

// Page is a tab that records errors and requests.
type Page struct {
	t    testing.TB
	ctx  context.Context
	fail context.CancelCauseFunc

	mu       sync.Mutex
	requests []string
	errors   []string
}

// Open opens the address like a new visitor, with separate cookies, storage and cache. The page closes when the test ends.
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

// OpenTab opens the address in another tab that shares cookies and storage with the page. The tab closes with the page.
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

// record stores the events that Check reports.
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

// explain returns the error of a step, or the crash that caused it.
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

// call runs an action and fails the test if the action fails.
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

// Evaluate returns the value of a JavaScript expression. It waits if the value is a promise.
func Evaluate[T any](p *Page, expression string) T {
	p.t.Helper()
	return call(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Type types the text into the element that the selector finds.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	call(p, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Conditions are evaluated again after minPause, and then after pauses that double up to maxPause.
const (
	minPause = 10 * time.Millisecond
	maxPause = 160 * time.Millisecond
)

// Await waits until a JavaScript expression is true on the page that the tab shows. The tab may go to another page meanwhile.
func (p *Page) Await(expression string) {
	p.t.Helper()
	p.await(expression, expression)
}

// await is like Await. If the expression never becomes true, the failure shows the name.
func (p *Page) await(expression, name string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		// While the tab changes pages, the evaluation fails.
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

// Check reports all faults of the current page: errors on the console, violations of accessibility that axe-core calls serious or
// critical, content wider than the window, and tables with a row that has more or fewer cells than the first. It also reports requests
// other than the request for the page, unless their URLs begin with a prefix in expected.
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
	if uneven := Evaluate[[]string](p, `(() => {
  const cells = row => [...row.cells].reduce((n, c) => n + c.colSpan, 0);
  return [...document.querySelectorAll("table")]
    .filter(t => !t.querySelector("[rowspan]"))
    .flatMap(t => [...t.rows].filter(r => cells(r) !== cells(t.rows[0])).slice(0, 1))
    .map(r => r.outerHTML.slice(0, 300));
})()`); len(uneven) > 0 {
		p.t.Errorf("a row has more or fewer cells than the first row of its table:\n%s", strings.Join(uneven, "\n"))
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

// Forget drops the recorded errors and requests, for example those of an issuer's pages that led to the page.
func (p *Page) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.errors = nil, nil
}

// checkAccessibility reports the findings of axe-core. It loads axe-core once for each page.
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

// Screenshot takes a screenshot of the whole page if the environment names a folder for it.
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
