//go:build browser

package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// user performs the actions of a user on a page. It finds elements by their accessible names. Among elements with the same name it takes
// the first one that is visible and enabled. "Team > Remove" means the element Remove in the smallest row, form or section that contains
// Team.
const user = `(() => {
  const text = e => (e.getAttribute("aria-label") ?? e.textContent).replace(/\s+/g, " ").trim();
  const visible = e => e.checkVisibility() && !e.disabled;
  const within = scope => [...document.querySelectorAll("section, article, form, fieldset, li, tr, dialog, [role=group], main")]
    .filter(e => visible(e) && e.textContent.replace(/\s+/g, " ").includes(scope))
    .sort((a, b) => a.textContent.length - b.textContent.length);
  const find = (name, choose) => {
    const [scope, own] = name.includes(" > ") ? name.split(" > ") : [null, name];
    for (const root of scope === null ? [document] : within(scope)) {
      const found = choose(root, own);
      if (found) return found;
    }
  };
  const exact = (all, name) => all.find(e => text(e) === name) ?? all.find(e => text(e).startsWith(name));
  const control = (root, name) => {
    const labelled = [...root.querySelectorAll("input, select, textarea")].filter(e => !e.disabled && (e.type === "file" || visible(e)));
    return labelled.find(e => e.getAttribute("aria-label") === name) ?? exact([...root.querySelectorAll("label")]
      .filter(l => labelled.includes(l.control)), name)?.control;
  };
  return {
    press: name => {
      const e = find(name, (root, own) => exact([...root.querySelectorAll("button, a[href], summary, [role=tab]")].filter(visible), own));
      if (!e) return false;
      e.focus();
      e.click();
      return true;
    },
    fill: (name, value) => {
      const e = find(name, control);
      if (!e) return false;
      e.focus();
      if (e.type === "checkbox" || e.type === "radio") {
        if (e.checked !== (value === "true")) e.click();
        return true;
      }
      const option = e.options && ([...e.options].find(o => o.value === value) ?? [...e.options].find(o => o.textContent.trim() === value));
      if (e.options && !option) return false;
      const prototype = e.options ? HTMLSelectElement : e.rows ? HTMLTextAreaElement : HTMLInputElement;
      Object.getOwnPropertyDescriptor(prototype.prototype, "value").set.call(e, option ? option.value : value);
      e.dispatchEvent(new Event("input", { bubbles: true }));
      e.dispatchEvent(new Event("change", { bubbles: true }));
      return true;
    },
    give: (name, file, content) => {
      const e = find(name, control);
      if (!e) return false;
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], file));
      e.files = transfer.files;
      e.dispatchEvent(new Event("change", { bubbles: true }));
      return true;
    },
    sees: what => document.body.innerText.replace(/\s+/g, " ").includes(what),
  };
})()`

// Slow gives the page a slow network: half a second until an answer begins, and then 50 kB a second.
func (p *Page) Slow() {
	p.t.Helper()
	call(p, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Latency: 500, DownloadThroughput: 50_000, UploadThroughput: 50_000}},
		})
		return err
	}))
}

// Block makes requests fail whose address matches a pattern, and lets all others pass again.
func (p *Page) Block(patterns ...string) {
	p.t.Helper()
	blocked := []*network.BlockPattern{}
	for _, pattern := range patterns {
		blocked = append(blocked, &network.BlockPattern{URLPattern: "*://*:*" + pattern, Block: true})
	}
	call(p, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: blocked})
		return err
	}))
}

// Visit goes to a fragment of the page like a link within the console.
func (p *Page) Visit(fragment string) {
	p.t.Helper()
	Evaluate[any](p, fmt.Sprintf(`location.hash = %q`, fragment))
}

// ProcessorTime returns the processor time that the main thread of the page has used since the first call. Unlike elapsed time, it does
// not depend on the load of the machine.
func (p *Page) ProcessorTime() time.Duration {
	p.t.Helper()
	metrics := call(p, chromedp.Action[performance.GetMetricsResult](
		func(ctx context.Context, target *chromedp.Target) (performance.GetMetricsResult, error) {
			domain := performance.EnableTimeDomainThreadTicks
			if _, err := cdp.Call(ctx, target, performance.Enable, performance.EnableParams{TimeDomain: domain}); err != nil {
				return performance.GetMetricsResult{}, err
			}
			return cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
		}))
	for _, m := range metrics.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	p.t.Fatal("Chromium does not measure processor time.")
	return 0
}

// act waits until an action is possible, and performs it.
func (p *Page) act(does string, arguments ...string) {
	p.t.Helper()
	encoded, err := json.Marshal(arguments)
	if err != nil {
		p.t.Fatal(err)
	}
	p.await(fmt.Sprintf("%s.%s(...%s)", user, does, encoded), fmt.Sprintf("%s %q", does, arguments))
}

// Press presses the button or follows the link with the name.
func (p *Page) Press(name string) { p.t.Helper(); p.act("press", name) }

// Fill enters a value into the field with the name. For a checkbox the value is "true" or "false"; for a choice it is a value or a text.
func (p *Page) Fill(name, value string) { p.t.Helper(); p.act("fill", name, value) }

// Give selects a file in the field with the name.
func (p *Page) Give(name, file, content string) { p.t.Helper(); p.act("give", name, file, content) }

// Sees waits until the page shows the text.
func (p *Page) Sees(text string) { p.t.Helper(); p.act("sees", text) }
