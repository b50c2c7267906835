// Package architecture holds the whole tree to the rules that no compiler knows:
// which package may import which, how files are sized and named, and which words
// never stay in them. Each rule is a line of data with its reason, so that whoever
// breaks one learns why it is there, and changes it here when the reason is gone.
package architecture

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	files := goFiles(t)
	all := allRules(families(files))
	for _, f := range files {
		for _, to := range f.imports {
			for _, r := range all {
				if (r.tests || !f.test) && r.refuses(breach{f.importPath(), to}) {
					t.Errorf("%s imports %s, but %s", f.path, to, r.reason)
				}
			}
		}
	}
}

// TestEveryRuleRefusesItsBreach guards the rules themselves: a mistyped pattern binds nothing and is always kept.
func TestEveryRuleRefusesItsBreach(t *testing.T) {
	for _, r := range allRules([]string{"runs", "tasks"}) {
		if !r.refuses(r.breach) {
			t.Errorf("%s may import %s, although %s", r.breach.from, r.breach.to, r.reason)
		}
	}
}

func TestRulesLeaveTheRestFree(t *testing.T) {
	for _, free := range []breach{
		{"assay/shared/record", "github.com/oklog/ulid/v2"},
		{"assay/shared/record", "assay/shared/store"},
		{"assay/shared/measure/retrieval", "assay/shared/measure"},
		{"assay/shared/measure/retrieval", "net/url"},
		{"assay/functions/tools/significance", "gonum.org/v1/gonum/stat/distuv"},
		{"assay/shared/api", "net/http"},
		{"assay/shared/store/embedded", "go.etcd.io/bbolt"},
		{"assay/shared/store/embedded", "assay/shared/store"},
		{"assay/shared/store/dynamo", "github.com/aws/aws-sdk-go-v2/service/dynamodb"},
		{"assay/shared/store/storetest", "testing"},
		{"assay/functions", "assay/functions/runs"},
		{"assay/functions/runs", "assay/shared/store"},
		{"assay/functions/runs/lambda", "assay/functions/runs"},
		{"assay/functions/runs/lambda", "assay/shared/store/dynamo"},
		{"assay/functions/runs/lambda", "github.com/aws/aws-lambda-go/lambda"},
		{"assay/grpc", "google.golang.org/grpc"},
		{"assay/infra", "github.com/aws/aws-cdk-go/awscdk/v2"},
		{"assay/local", "assay/functions"},
		{"assay/local", "assay/shared/store/embedded"},
		{"assay/local", "google.golang.org/grpc"},
	} {
		for _, r := range allRules([]string{"runs", "tasks"}) {
			if r.refuses(free) {
				t.Errorf("%s may not import %s because %s", free.from, free.to, r.reason)
			}
		}
	}
}

func (r rule) refuses(b breach) bool {
	return matches(r.who, b.from) && !matches(r.but, b.from) && matches(r.never, b.to) && !matches(r.save, b.to)
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

func TestPatterns(t *testing.T) {
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
		t.Run(fmt.Sprint(c.pattern, " on ", c.path), func(t *testing.T) {
			if got := matches([]string{c.pattern}, c.path); got != c.want {
				t.Errorf("matches = %v, want %v", got, c.want)
			}
		})
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
