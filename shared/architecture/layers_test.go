package architecture

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layer is a row of packages of shared. A package imports packages of its own row and of those below it.
type layer struct {
	name     string
	packages []string // patterns, as in rules
}

// layers are all packages of shared, from the top. Each is in exactly one row, and shared/README.md draws the same rows.
var layers = []layer{
	{"edge", []string{
		"assay/shared/api/...", "assay/shared/auth/...", "assay/shared/config/awsconfig", "assay/shared/compute", "assay/shared/gateway/...",
		"assay/shared/jsoncheck", "assay/shared/mail/...", "assay/shared/markdown", "assay/shared/publicip",
		"assay/shared/ratelimit", "assay/shared/webpage/...",
	}},
	{"services", []string{
		"assay/shared/allowance", "assay/shared/config", "assay/shared/deletion", "assay/shared/evaluation", "assay/shared/files",
		"assay/shared/propagation",
		"assay/shared/queue", "assay/shared/quota",
		"assay/shared/records", "assay/shared/runlog", "assay/shared/runview", "assay/shared/team", "assay/shared/transfer", "assay/shared/truth",
		"assay/shared/visibility",
	}},
	{"domain", []string{"assay/shared/access", "assay/shared/page", "assay/shared/patch", "assay/shared/record"}},
	{"storage", []string{"assay/shared/blob/...", "assay/shared/diskfull", "assay/shared/durable", "assay/shared/store/..."}},
	{"computation", []string{"assay/shared/corpus", "assay/shared/measure/..."}},
	{"language", []string{
		"assay/shared/buildinfo", "assay/shared/casefold", "assay/shared/lists", "assay/shared/metrics", "assay/shared/panics",
		"assay/shared/plural", "assay/shared/problem", "assay/shared/wait",
	}},
}

// layerRules refuses every row the rows above it. Support of tests may wire whatever a test needs.
func layerRules() []rule {
	var out []rule
	var above []string
	for i, l := range layers {
		if i > 0 {
			out = append(out, rule{
				packages:  l.packages,
				except:    testSupport,
				forbidden: slices.Clone(above),
				reason:    fmt.Sprintf("the layer %s imports only itself and the layers below it (see shared/README.md)", l.name),
				example:   edge{strings.TrimSuffix(l.packages[0], "/..."), strings.TrimSuffix(layers[i-1].packages[0], "/...")},
			})
		}
		above = append(above, l.packages...)
	}
	return out
}

// packagesOf returns the patterns of the named layers.
func packagesOf(names ...string) []string {
	var out []string
	for _, l := range layers {
		if slices.Contains(names, l.name) {
			out = append(out, l.packages...)
		}
	}
	return out
}

func TestLayers_HoldEveryPackageOfSharedOnce(t *testing.T) {
	used := map[string]bool{}
	for _, f := range goFiles(t) {
		name := f.importPath()
		if f.test || !matches([]string{"assay/shared/..."}, name) || matches(testSupport, name) {
			continue
		}
		var rows []string
		for _, l := range layers {
			for _, pattern := range l.packages {
				if matches([]string{pattern}, name) {
					rows, used[pattern] = append(rows, l.name), true
				}
			}
		}
		if len(rows) != 1 {
			t.Errorf("%s is in the layers %q: give it one row in layers_test.go and in shared/README.md", f.path, rows)
		}
	}
	for _, l := range layers {
		for _, pattern := range l.packages {
			if !used[pattern] {
				t.Errorf("the layer %s names %s, which has no package", l.name, pattern)
			}
		}
	}
}

func TestLayers_AreThoseOfTheREADME(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "shared", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([a-z/0-9]+)`")
	for _, l := range layers {
		var want, got []string
		for _, pattern := range l.packages {
			want = append(want, path.Base(strings.TrimSuffix(pattern, "/...")))
		}
		row := regexp.MustCompile(`(?m)^\| ` + l.name + ` \|([^|]*)\|`).FindSubmatch(content)
		if row == nil {
			t.Errorf("shared/README.md has no row of the layer %s", l.name)
			continue
		}
		for _, found := range quoted.FindAllSubmatch(row[1], -1) {
			got = append(got, string(found[1]))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("shared/README.md has in the layer %s the packages %q, want %q", l.name, got, want)
		}
	}
}
