package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// TestTemplates_AreGolden compares templates as a whole: what is deployed, and who may do what, is reviewed in testdata. Of
// prod that has every value, of other templates those in which they differ from prod. With -update it writes them.
func TestTemplates_AreGolden(t *testing.T) {
	all := prod.values(t)
	for name, got := range map[string][]string{
		"prod": all, "dev": difference(all, dev.values(t)), "special": difference(all, special.values(t)),
		"with-server": difference(all, withServer.values(t)),
	} {
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(strings.Split(strings.TrimSuffix(string(want), "\n"), "\n"), got); len(d) > 0 {
			t.Errorf("%s has changed; if it should, run with -update:\n%s", path, strings.Join(d, "\n"))
		}
	}
}

// difference returns the lines that are in one of the two texts alone.
func difference(from, to []string) (lines []string) {
	for _, line := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(from, to)))) {
		switch before, now := slices.Contains(from, line), slices.Contains(to, line); {
		case before && !now:
			lines = append(lines, "- "+line)
		case now && !before:
			lines = append(lines, "+ "+line)
		}
	}
	return lines
}

var (
	stageName = regexp.MustCompile(`assay-(dev|prod)\b`)
	digest    = regexp.MustCompile(`[0-9a-f]{64}`)
)

// values returns every value of the template behind its path, without names of stages and digests of what is deployed. It
// leaves out routes, which TestRoutes_AreTheDeclaredOperations follows, and what the dashboard looks like.
func (tpl template) values(t *testing.T) (lines []string) {
	t.Helper()
	var all struct{ Outputs, Resources map[string]any }
	if err := json.Unmarshal(tpl.text, &all); err != nil {
		t.Fatal(err)
	}
	for id := range tpl.all("AWS::ApiGatewayV2::Route") {
		delete(all.Resources, id)
	}
	lines = append(valuesAt("Outputs", all.Outputs), valuesAt("Resources", all.Resources)...)
	slices.Sort(lines)
	return lines
}

func valuesAt(path string, v any) (lines []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name == "Ref" || strings.HasPrefix(name, "Fn::") {
				break // a reference is one value
			}
			if name != "DashboardBody" {
				lines = append(lines, valuesAt(path+"."+name, member)...)
			}
		}
	case []any:
		for i, element := range v {
			lines = append(lines, valuesAt(fmt.Sprintf("%s.%02d", path, i), element)...)
		}
	}
	if len(lines) == 0 {
		lines = []string{path + " " + digest.ReplaceAllString(stageName.ReplaceAllString(compact(v), "assay-STAGE"), "DIGEST")}
	}
	return lines
}
