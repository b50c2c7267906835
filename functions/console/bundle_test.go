package console

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "bundle the sources into dist.zip")

// build bundles entry points. The options name the output files.
func build(t *testing.T, o api.BuildOptions) []api.OutputFile {
	t.Helper()
	if _, err := os.Stat("node_modules/preact"); err != nil {
		t.Fatalf("The libraries of the console are not installed. Run npm ci --prefix functions/console, as make test does: %v", err)
	}
	o.Bundle = true
	o.Format = api.FormatESModule
	o.Target = api.ES2022
	o.LogLevel = api.LogLevelSilent
	o.JSX, o.JSXImportSource = api.JSXAutomatic, "preact"
	o.Alias = map[string]string{"react": "preact/compat", "react-dom": "preact/compat",
		// The browser variant sets innerHTML, which the page's policy forbids.
		"decode-named-character-reference": "./node_modules/decode-named-character-reference/index.js"}
	result := api.Build(o)
	for _, m := range append(result.Errors, result.Warnings...) {
		t.Errorf("%+v: %s", m.Location, m.Text)
	}
	return result.OutputFiles
}

// TestBundle_IsCurrent bundles the sources and compares dist.zip with the result. With -update it writes dist.zip.
func TestBundle_IsCurrent(t *testing.T) {
	files := build(t, api.BuildOptions{
		EntryPoints: []string{"src/main.tsx"}, Outdir: "dist", EntryNames: "[name]-[hash]", ChunkNames: "[name]-[hash]", Splitting: true,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		Conditions: []string{"browser", "import"}, // libraries with variants for Node.js and for browsers
	})
	slices.SortFunc(files, func(a, b api.OutputFile) int { return strings.Compare(a.Path, b.Path) })
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, f := range files {
		part, err := w.CreateHeader(&zip.FileHeader{Name: filepath.Base(f.Path), Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(f.Contents); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile("dist.zip", archive.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(archive.Bytes(), dist) {
		t.Error("dist.zip is older than the sources. Run go generate ./functions/console")
	}
}

// TestSources_PassTheirTests runs the tests of pure functions in src. Node.js strips types only from version 22.18 on, so esbuild strips
// them.
func TestSources_PassTheirTests(t *testing.T) {
	var tests []string
	err := filepath.WalkDir("src", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, "_test.ts") {
			tests = append(tests, path)
		}
		return err
	})
	if err != nil || len(tests) == 0 {
		t.Fatalf("src has %d files with tests: %v", len(tests), err)
	}
	args := []string{"--test"}
	for _, f := range build(t, api.BuildOptions{EntryPoints: tests, Outdir: t.TempDir(), Platform: api.PlatformNode, Write: true,
		OutExtension: map[string]string{".js": ".mjs"}}) {
		args = append(args, f.Path)
	}
	node := exec.CommandContext(t.Context(), "node", args...)
	node.Env = append(os.Environ(), "TZ=America/New_York", "LC_ALL=en_US.UTF-8")
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestBundle_LoadsQuickly requires that the first screen loads at most 120 KB, compressed.
func TestBundle_LoadsQuickly(t *testing.T) {
	f, err := first()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for _, name := range append(f.parts, f.script, f.style) {
		content, err := read(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() > 120<<10 {
		t.Errorf("the first screen has %d bytes, compressed", packed.Len())
	}
}
