//go:build browser

package tools_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/record"
	"assay/shared/webpage/browsertest"
)

// pagesOfDocuments are inputs of the tools that show documents, by the name of a picture.
func pagesOfDocuments(s *showcase) map[string]struct {
	tool  string
	input any
} {
	type page = struct {
		tool  string
		input any
	}
	runs, texts := intrusion()
	example := func(tool string) any {
		var shown struct{ Example any }
		s.Want(http.StatusOK, &shown, "", http.MethodGet, "/v1/tools/"+tool, nil)
		return shown.Example
	}
	five := object{
		"runs": []object{
			named("words", ranked("1 abcdefgh", "2 hgfedcba", "3 ab")), named("meaning", ranked("1 bacxyzgh", "2 hgfedcba")),
			named("both", ranked("1 abxcyz", "2 gh", "3 ba")), named("links", ranked("1 zyxw", "2 wxyz", "3 ab")),
			named("a run with a longer name than others have", ranked("1 hgfedcba", "2 abcdefgh", "3 ab")),
		},
		"truth": sent("q", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 h 3\n2 0 g -1\n"),
		"texts": sent("d.tsv", keptDocuments+"h\tHarbours "+strings.Repeat("are where boats and barges lie, ", 12)+"\n", "queries.tsv", keptQueries+"3\t\n"),
		"order": "measure",
	}
	two := with(five, "runs", five["runs"].([]object)[:2], "order", "tau")
	return map[string]page{
		"diffir-example": {"diffir", example("diffir")},
		"diffir-five":    {"diffir", five},
		"diffir-two":     {"diffir", two},
		"diffir-plain":   {"diffir", object{"runs": two["runs"]}},
		"diffir-hostile": {"diffir", object{"runs": runs, "texts": texts, "limit": 2}},
		"serp-example":   {"serp", example("serp")},
		"serp-middle":    {"serp", object{"run": named("words", ranked("1 abcdefgh", "2 hgfedcba", "3 ab")), "topic": "2", "truth": five["truth"], "texts": five["texts"], "query": "boats that lie in harbours"}},
		"serp-plain":     {"serp", object{"run": named("words", ranked("1 abcdefgh"))}},
		"serp-hostile":   {"serp", object{"run": runs[0], "texts": texts}},
	}
}

// TestPagesOfDocumentsInABrowser opens what diffir and serp show in Chromium, with texts that try to be more than text.
func TestPagesOfDocumentsInABrowser(t *testing.T) {
	s := newStage(t, record.Public)
	browser := browsertest.Start(t)
	for name, c := range pagesOfDocuments(s) {
		a := s.Want(http.StatusOK, nil, "", http.MethodPost, "/v1/tools/"+c.tool, c.input, "Accept", "text/html")
		address := a.Header.Get("Content-Location")
		if address == "" {
			t.Errorf("%s has no address", name)
			continue
		}
		for _, v := range browsertest.Views {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				p := browser.Open(t, s.URL+address, v)
				p.Check()
				p.Shoot(name + "-" + v.String())
				if browsertest.Evaluate[bool](p, `"intruded" in window || document.querySelector("[onerror], [data-intruder]") !== null`) {
					t.Error("a text became markup")
				}
				if lost := browsertest.Evaluate[[]string](p, `[...document.querySelectorAll('a[href^="#"]')].map(a => a.hash.slice(1)).filter(id => !document.getElementById(id))`); len(lost) > 0 {
					t.Errorf("links lead nowhere: %q", lost)
				}
			})
		}
	}
}
