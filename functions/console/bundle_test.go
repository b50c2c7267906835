package console

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "bundle the sources")

// TestBundle_IsBuilt holds that the program has what the sources are bundled into; with -update it bundles them.
func TestBundle_IsBuilt(t *testing.T) {
	if _, err := os.Stat("node_modules/preact"); err != nil {
		t.Fatalf("the libraries of the console are not installed: run npm ci --prefix functions/console (make test does): %v", err)
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"src/main.tsx"}, Outdir: "dist", EntryNames: "[name]-[hash]", ChunkNames: "[name]-[hash]",
		Bundle: true, Splitting: true, Format: api.FormatESModule, Target: api.ES2022, LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		Alias: map[string]string{"react": "preact/compat", "react-dom": "preact/compat",
			// What it has for browsers sets innerHTML, which the policy of the page forbids.
			"decode-named-character-reference": "./node_modules/decode-named-character-reference/index.js"},
		// Both exist for Node.js too; the conditions choose what is for browsers.
		Conditions: []string{"browser", "import"}, LogLevel: api.LogLevelSilent,
	})
	for _, m := range append(result.Errors, result.Warnings...) {
		t.Errorf("%+v: %s", m.Location, m.Text)
	}
	built := map[string][]byte{}
	for _, f := range result.OutputFiles {
		built[filepath.Base(f.Path)] = f.Contents
	}
	kept, err := os.ReadDir("dist")
	if err != nil && !*update {
		t.Fatal(err)
	}
	if *update {
		for _, e := range kept {
			if err := os.Remove(filepath.Join("dist", e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range built {
			if err := os.WriteFile(filepath.Join("dist", name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	for _, e := range kept {
		if content, err := os.ReadFile(filepath.Join("dist", e.Name())); err != nil || !bytes.Equal(content, built[e.Name()]) {
			t.Errorf("dist/%s is not what the sources are bundled into: run go generate ./functions/console", e.Name())
		}
		delete(built, e.Name())
	}
	for name := range built {
		t.Errorf("dist lacks %s: run go generate ./functions/console", name)
	}
}

// TestSources_HaveTheTypesOfTheAPI checks the sources with TypeScript, against types made of the OpenAPI document as it is served.
func TestSources_HaveTheTypesOfTheAPI(t *testing.T) {
	document, err := os.Open("../service/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	types := exec.CommandContext(t.Context(), "node", "node_modules/openapi-typescript/bin/cli.js", "--default-non-nullable=false")
	types.Stdin = document
	made, err := types.Output()
	if err != nil {
		t.Fatalf("openapi-typescript: %v", err)
	}
	if err := os.WriteFile("src/api_types.ts", made, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc", "--noEmit").CombinedOutput(); err != nil {
		t.Errorf("TypeScript finds faults: %v\n%s", err, out)
	}
}

// TestBundle_LoadsQuickly holds that the first screen costs at most 120 KB to load, compressed.
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
