package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
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

// TestHelp_ListsTheCommands asks for help by each of its names.
func TestHelp_ListsTheCommands(t *testing.T) {
	asked := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if err := execute(t.Context(), args, noEnv, &out, &out); err != nil && !errors.Is(err, flag.ErrHelp) {
			t.Fatal(err)
		}
		return out.String()
	}
	_, want, _ := commandOf("help")
	slices.Sort(want)
	for _, args := range [][]string{{"-h"}, {"--help"}, {"help"}, {"help", "help"}, {"help", "serve"}} {
		_, listed, _ := strings.Cut(asked(args...), "Commands:\n")
		if got := matches(`(?m)^  ([a-z]+) +[a-z]`, listed); !slices.Equal(got, want) {
			t.Errorf("%q lists the commands %q, want %q", args, got, want)
		}
	}
	if got := asked("help", "backup"); !strings.Contains(got, "Usage of assay-server backup") {
		t.Errorf("the help of backup is\n%s", got)
	}
	if err := execute(t.Context(), []string{"bakup"}, noEnv, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "assay-server help") {
		t.Errorf("an unknown command: %v", err)
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
