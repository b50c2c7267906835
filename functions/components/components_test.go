package components_test

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/functions/components"
	"assay/shared/computation/measure"
	"assay/shared/edge/api/servertest"
)

// serve serves the family without a store, like its function. A request that needs a store panics.
func serve(t *testing.T) *servertest.Server {
	t.Helper()
	s := servertest.New(t, components.Operations...)
	s.Store, s.Files = nil, nil
	return s
}

// whole returns all resources of a list.
func whole[R any](t *testing.T, s *servertest.Server, next string) (all []R) {
	t.Helper()
	for next != "" {
		var p struct {
			Data  []R
			Links struct{ Next string }
		}
		s.Want(http.StatusOK, &p, "", http.MethodGet, next, nil)
		all = append(all, p.Data...)
		if len(all) > 1000 {
			t.Fatalf("the list goes on at %s for ever", next)
		}
		next = p.Links.Next
	}
	return all
}

const list = "/v1/platform/components"

func TestComponents_AreFiltered(t *testing.T) {
	s := serve(t)
	for query, fits := range map[string]func(components.Component) bool{
		"filter[kind]=recipe":         func(c components.Component) bool { return c.Kind == "recipe" },
		"filter[kind]=client,measure": func(c components.Component) bool { return c.Kind == "client" || c.Kind == "measure" },
		"filter[name]=ndcg":           func(c components.Component) bool { return strings.Contains(c.Name, "nDCG") },
		"filter[name]=csv&filter[kind]=run-format&limit=1": func(c components.Component) bool {
			return c.Kind == "run-format" && strings.Contains(c.Name, "CSV")
		},
	} {
		found := whole[components.Component](t, s, list+"?"+query)
		want := 0
		for _, c := range whole[components.Component](t, s, list+"?limit=7") {
			if fits(c) {
				want++
			}
		}
		if len(found) != want || want == 0 || slices.ContainsFunc(found, func(c components.Component) bool { return !fits(c) }) {
			t.Errorf("%s: %d components, want %d", query, len(found), want)
		}
	}
	s.Want(http.StatusNoContent, nil, "", http.MethodGet, list+"?filter[name]=nothing+is+called+so", nil)
}

// TestComponents_AreCacheable checks that everybody may cache the answers, as long as other answers that change only with the
// program.
func TestComponents_AreCacheable(t *testing.T) {
	s := serve(t)
	c := whole[components.Component](t, s, list)[0]
	for _, path := range []string{list, list + "/" + c.ID, c.Snippets[0].URL} {
		a := s.Want(http.StatusOK, nil, "alice", http.MethodGet, path, nil)
		if got := a.Header.Get("Cache-Control"); got != "public, max-age=300" {
			t.Errorf("%s may be kept: %s", path, got)
		}
	}
}

func TestSnippet_IsChosenByLanguage(t *testing.T) {
	s := serve(t)
	for _, c := range whole[components.Component](t, s, list) {
		var got components.Component
		s.Want(http.StatusOK, &got, "", http.MethodGet, list+"/"+c.ID, nil)
		if got.Name != c.Name || len(got.Snippets) == 0 {
			t.Fatalf("%+v", got)
		}
		path := list + "/" + c.ID + "/snippet"
		for i, snippet := range c.Snippets {
			a := s.Want(http.StatusOK, nil, "", http.MethodGet, snippet.URL, nil)
			if ct := a.Header.Get("Content-Type"); ct != "text/plain; charset=utf-8" {
				t.Errorf("%s is of type %s", snippet.URL, ct)
			}
			if first := s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil); (i == 0) != bytes.Equal(first.Body, a.Body) {
				t.Errorf("%s: without a language it is another than the first", c.Name)
			}
		}
		for _, language := range []string{"curl", "python", "go"} {
			if slices.ContainsFunc(c.Snippets, func(s components.Snippet) bool { return s.Language == language }) {
				continue
			}
			a := s.Want(http.StatusNotFound, nil, "", http.MethodGet, path+"?language="+language, nil)
			if !strings.Contains(string(a.Body), c.Snippets[0].Language) || !strings.Contains(string(a.Body), "no snippet in "+language) {
				t.Errorf("%s in %s: %s", c.Name, language, a.Body)
			}
		}
		a := s.Want(http.StatusBadRequest, nil, "", http.MethodGet, path+"?language=cobol", nil)
		if !strings.Contains(string(a.Body), "curl, python, go") {
			t.Errorf("%s", a.Body)
		}
		s.Want(http.StatusNotAcceptable, nil, "", http.MethodGet, path, nil, "Accept", "image/png")
	}
}

// TestCatalogue_LinksAreServed requests the links on this server. People check the other links.
func TestCatalogue_LinksAreServed(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	ids := map[string]bool{}
	all := whole[components.Component](t, s, list)
	for _, c := range all {
		ids[c.ID] = true
	}
	for _, c := range all {
		for _, l := range c.Links {
			if u, err := url.Parse(l.URL); err == nil && u.Host == "" {
				s.Want(http.StatusOK, nil, "", http.MethodGet, l.URL, nil)
			}
		}
		for _, id := range c.Related {
			if !ids[id] {
				t.Errorf("%s: there is no component %s", c.Name, id)
			}
		}
	}
}

// TestCatalogue_DefinesMeasures checks that each kind of evaluator has a component with its definitions, conventions and limits.
func TestCatalogue_DefinesMeasures(t *testing.T) {
	s := servertest.New(t, components.Operations...)
	evaluators := whole[components.Component](t, s, list+"?filter[kind]=evaluator")
	for i := range measure.Evaluators {
		e := &measure.Evaluators[i]
		described := func(c components.Component) bool { return strings.HasSuffix(c.Description, "\n\n"+e.Describe()) }
		if !slices.ContainsFunc(evaluators, described) {
			t.Errorf("no component describes %s", e.Kind)
		}
	}
}

// TestCatalogue_ShowsEveryTool compares the catalogue with the list of tools, so that a new tool gets an entry.
func TestCatalogue_ShowsEveryTool(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	var served, shown []string
	for _, tool := range whole[struct{ Name string }](t, s, "/v1/tools") {
		served = append(served, tool.Name)
	}
	for _, c := range whole[components.Component](t, s, list+"?filter[kind]=tool") {
		shown = append(shown, c.Name)
	}
	slices.Sort(served)
	slices.Sort(shown)
	if len(served) == 0 || !slices.Equal(served, shown) {
		t.Errorf("tools are %v, and components of the kind tool %v", served, shown)
	}
}
