// Package architecture holds the whole tree to the rules that no compiler knows:
// which package may import which, how files are sized and named, and which words
// never stay in them. Each rule is a line of data with its reason, so that
// a test that fails says why the rule is there, and where to change it when the reason is gone.
package architecture

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestImports_KeepTheRules(t *testing.T) {
	files := goFiles(t)
	all := allRules(families(files))
	for _, f := range files {
		for _, to := range f.imports {
			for _, r := range all {
				if (r.tests || !f.test) && r.refuses(edge{f.importPath(), to}) {
					t.Errorf("%s imports %s, but %s", f.path, to, r.reason)
				}
			}
		}
	}
}

// TestImports_EveryRuleRefusesItsExample guards the rules themselves: a mistyped pattern binds nothing and is always kept.
func TestImports_EveryRuleRefusesItsExample(t *testing.T) {
	for _, r := range allRules([]string{"runs", "tasks"}) {
		if !r.refuses(r.example) {
			t.Errorf("%s may import %s, although %s", r.example.from, r.example.to, r.reason)
		}
	}
}

func (r rule) refuses(e edge) bool {
	return matches(r.packages, e.from) && !matches(r.except, e.from) && matches(r.forbidden, e.to) && !matches(r.allowed, e.to)
}

func matches(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return compiled(pattern).MatchString(importPath)
	})
}

var expressions = map[string]*regexp.Regexp{}

// compiled turns a pattern into a regular expression, once: each is tried on thousands of imports.
func compiled(pattern string) *regexp.Regexp {
	if known, ok := expressions[pattern]; ok {
		return known
	}
	stem, below := strings.CutSuffix(pattern, "/...")
	expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(stem), `\*`, `[^/]*`)
	if below {
		expression += "(/.*)?"
	}
	expressions[pattern] = regexp.MustCompile(expression + "$")
	return expressions[pattern]
}

func TestMatches_Patterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"assay/local", "assay/local", true},
		{"assay/local", "assay/local/demo", false},
		{"assay/local/...", "assay/local", true},
		{"assay/local/...", "assay/local/demo/data", true},
		{"assay/local/...", "assay/localities", false},
		{"assay/functions/*/lambda", "assay/functions/runs/lambda", true},
		{"assay/functions/*/lambda", "assay/functions/runs/deep/lambda", false},
		{"assay/shared/*/*test/...", "assay/shared/store/storetest", true},
		{"assay/shared/*/*test/...", "assay/shared/store/embedded", false},
		{"*.*/...", "go.etcd.io/bbolt", true},
		{"*.*/...", "net/http", false},
		{"net", "net/url", false},
	} {
		if got := matches([]string{c.pattern}, c.path); got != c.want {
			t.Errorf("%s matches %s: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

// families lists the folders under functions that hold Go files.
func families(files []goFile) []string {
	var out []string
	for _, f := range files {
		if rest, ok := strings.CutPrefix(path.Dir(f.path), "functions/"); ok {
			family, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(out, family) {
				out = append(out, family)
			}
		}
	}
	return out
}
