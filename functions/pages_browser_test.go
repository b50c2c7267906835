//go:build browser

package functions_test

import (
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestPages_WorkInABrowser opens every page in Chromium, with names and texts that attack the page.
func TestPages_WorkInABrowser(t *testing.T) {
	f := newPagesFixture(t)
	f.Info.Issuer = "https://issuer.example.org"
	for name, path := range f.pages() {
		for _, v := range browsertest.Views() {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				t.Parallel()
				p := browsertest.Open(t, f.URL+path, v)
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

// TestReference_IsSearched types words into the search of the API's page.
func TestReference_IsSearched(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := browsertest.Open(t, s.URL+"/docs", browsertest.PhoneDark)
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
	p.Visit("#createTask")
	p.Await(`document.getElementById("createTask").open`)
	browsertest.Evaluate[any](p, `document.querySelectorAll("details").forEach(d => d.open = true)`)
	p.Check() // with all folded parts open
	p.Screenshot("docs-open-390-dark")
}
