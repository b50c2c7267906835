package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFlags_AreDocumented compares the flags of the server with the table of settings in operate.md.
func TestFlags_AreDocumented(t *testing.T) {
	var help bytes.Buffer
	if _, err := parse([]string{"-h"}, noEnv, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	content, err := os.ReadFile("operate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, settings, _ := strings.Cut(string(content), "\n## Settings\n")
	settings, _, _ = strings.Cut(settings, "\n## ")
	declared := matches(`(?m)^  -([a-z0-9-]+)`, help.String())
	documented := matches("`-([a-z0-9-]+)`", settings)
	if len(declared) == 0 || !slices.Equal(declared, documented) {
		t.Errorf("the server has the flags %v, and the table of operate.md has %v", declared, documented)
	}
}

// matches returns the text of the pattern's group in all matches, each once and sorted.
func matches(pattern, text string) (all []string) {
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
