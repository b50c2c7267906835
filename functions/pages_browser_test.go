//go:build browser

package functions_test

import (
	"strings"
	"testing"

	"assay/shared/webpage/browsertest"
)

// TestPages_WorkInABrowser opens every page in Chromium, with names and texts on it that try to be more than text.
func TestPages_WorkInABrowser(t *testing.T) {
	f := newPagesFixture(t)
	f.Info.Issuer = "https://issuer.example.org"
	browser := browsertest.Start(t)
	for name, path := range f.pages() {
		for _, v := range browsertest.Views {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				p := browser.Open(t, f.URL+path, v)
				p.Check()
				p.Screenshot(name + "-" + v.String())
				if browsertest.Evaluate[bool](p, `"intruded" in window || document.querySelector("[onerror], [data-intruder]") !== null`) {
					t.Error("a text became markup")
				}
				if links := browsertest.Evaluate[[]string](p,
					`[...document.links].map(a => a.protocol).filter(p => !/^https?:$/.test(p))`); len(links) > 0 {
					t.Errorf("the page links to %q", links)
				}
				if browsertest.Evaluate[bool](p,
					`[...document.querySelectorAll("td.entry + td.number")].some(c => c.getBoundingClientRect().right > innerWidth)`) {
					t.Error("the measure that ranks is beyond the edge of the page")
				}
			})
		}
	}
}

// TestReference_IsSearched types words into the search of the page of the API.
func TestReference_IsSearched(t *testing.T) {
	s := newServer(t)
	p := browsertest.Start(t).Open(t, s.URL+"/docs", browsertest.Views[1])
	shown := func() string {
		return browsertest.Evaluate[string](p,
			`[...document.querySelectorAll("details")].filter(d => d.checkVisibility()).map(d => d.id).join(" ")`)
	}
	all := shown()
	p.Type("#search", "blinded REVIEW")
	if got := shown(); got == all || !strings.Contains(got, "updateReview") && !strings.Contains(got, "schema-Review") {
		t.Errorf("the search shows %q", got)
	}
	if said := browsertest.Evaluate[string](p, `document.getElementById("found").textContent`); !strings.Contains(said, "all of these words") {
		t.Errorf("the search says %q", said)
	}
	if browsertest.Evaluate[bool](p, `document.getElementById("conventions").checkVisibility()`) {
		t.Error("a section without an entry is shown")
	}
	p.Check()
	p.Screenshot("search-390-dark")
	p.Type("#search", "\x1b") // Escape
	if got := shown(); got != all {
		t.Errorf("after the search there is only %q", got)
	}
	browsertest.Evaluate[any](p, `location.hash = "#createTask"; new Promise(done => setTimeout(done, 100))`)
	if !browsertest.Evaluate[bool](p, `document.getElementById("createTask").open`) {
		t.Error("a link to an operation does not open it")
	}
	browsertest.Evaluate[any](p, `document.querySelectorAll("details").forEach(d => d.open = true)`)
	p.Check() // with all that was folded
	p.Screenshot("docs-open-390-dark")
}
