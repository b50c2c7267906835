package components

import (
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"assay/shared/domain/record"

	"mvdan.cc/sh/v3/syntax"
)

// kinds are the values that the filter accepts.
var kinds = Operations[0].Query.Filters[0].Values

func TestCatalogue_EntriesAreComplete(t *testing.T) {
	all := catalogue
	if len(all) < 40 {
		t.Errorf("%d components, want at least 40", len(all))
	}
	for _, kind := range kinds {
		if !slices.ContainsFunc(all, func(e *entry) bool { return e.Kind == kind }) {
			t.Errorf("there is no component of the kind %s", kind)
		}
	}
	names := map[string]bool{}
	for i, e := range all {
		if !record.IsID(e.ID) || i > 0 && e.ID >= all[i-1].ID {
			t.Errorf("%s: the id %q is no ULID, or is not older than the one before it", e.Name, e.ID)
		}
		if !slices.Contains(kinds, e.Kind) {
			t.Errorf("%s: there is no kind %q", e.Name, e.Kind)
		}
		if e.Name == "" || names[e.Name] {
			t.Errorf("%s: the name %q is empty or taken", e.ID, e.Name)
		}
		names[e.Name] = true
		if !strings.HasSuffix(e.Description, ".") {
			t.Errorf("%s: the description is no sentence: %q", e.Name, e.Description)
		}
		if strings.TrimSpace(e.Prints) == "" {
			t.Errorf("%s does not say what its snippets print", e.Name)
		}
		if len(e.Snippets) == 0 {
			t.Errorf("%s has no snippet", e.Name)
		}
		if len(e.Related) == 0 || slices.Contains(e.Related, e.ID) {
			t.Errorf("%s: related are %v", e.Name, e.Related)
		}
		for _, l := range e.Links {
			u, err := url.Parse(l.URL)
			if err != nil || l.Title == "" || u.Scheme != "https" && (u.Scheme != "" || !strings.HasPrefix(l.URL, "/")) {
				t.Errorf("%s: the link %+v leads nowhere", e.Name, l)
			}
		}
	}
}

// TestSnippets_AreValid checks snippets without running them. make test-snippets runs them with curl, Python and Go, and so
// checks whether they work.
func TestSnippets_AreValid(t *testing.T) {
	for _, e := range catalogue {
		for i, s := range e.Snippets {
			text, err := snippets.ReadFile("catalogue/" + e.files[i])
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range faults(s.Language, string(text)) {
				t.Errorf("%s in %s: %s", e.Name, s.Language, fault)
			}
		}
	}
}

var (
	imports   = regexp.MustCompile(`(?m)^(?:import|from) +([a-z0-9_]+)`)
	variables = regexp.MustCompile(`ASSAY_[A-Z_]+`)
	dangerous = regexp.MustCompile(
		`\b(eval|exec|os\.system|subprocess|shell=True|pickle|set -x|curl -v)\b|\| *(ba)?sh\b|(print|echo|printf)\b.*(ASSAY_TOKEN)`)
)

// standard lists the modules of Python's standard library that snippets use.
var standard = []string{"base64", "csv", "gzip", "hashlib", "hmac", "http", "io", "json", "os", "time", "urllib"}

// set lists the variables that a reader sets, and those that a worker sets for a command of a submission.
var set = []string{"ASSAY_URL", "ASSAY_TOKEN", "ASSAY_GRPC", "ASSAY_INPUT", "ASSAY_OUTPUT"}

func faults(language, text string) (found []string) {
	if !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") > 180 {
		found = append(found, "it is long, or its last line has no end")
	}
	for _, v := range variables.FindAllString(text, -1) {
		if !slices.Contains(set, v) {
			found = append(found, "it reads "+v+", which nobody sets")
		}
	}
	// Only this command, which passes the token to the standard input of curl, may print the token.
	rest := strings.ReplaceAll(text, `printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl `, "")
	if d := dangerous.FindString(rest); d != "" {
		found = append(found, "it has "+d)
	}
	switch language {
	case "curl":
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), ""); err != nil {
			found = append(found, err.Error())
		}
		if !strings.Contains(text, "\nset -eu\n") {
			found = append(found, "it goes on after an error: set -eu")
		}
	case "python":
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(standard, m[1]) {
				found = append(found, "it imports "+m[1])
			}
		}
		if !strings.HasPrefix(text, `"""`) {
			found = append(found, "it does not say what it does")
		}
	case "go":
		f, err := parser.ParseFile(token.NewFileSet(), "main.go", text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return append(found, err.Error())
		}
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, ".") || strings.HasPrefix(i.Path.Value, `"assay`) {
				found = append(found, "it imports "+i.Path.Value)
			}
		}
	}
	return found
}

func TestSnippets_FaultsAreFound(t *testing.T) {
	for _, c := range []struct{ language, text string }{
		{"curl", "set -eu\nif true\n"},
		{"curl", "# Says.\ncurl -sS \"$ASSAY_URL/info\"\n"},
		{"curl", "# Says.\nset -eu\ncurl -sS \"$ASSAY_URL/info\" | sh\n"},
		{"curl", "# Says.\nset -eu\necho \"$ASSAY_TOKEN\"\n"},
		{"curl", "# Says.\nset -eu\ncurl -sS \"$ASSAY_SERVER/info\"\n"},
		{"python", "\"\"\"Says.\"\"\"\nimport requests\n"},
		{"python", "\"\"\"Says.\"\"\"\nprint(eval(\"1\"))\n"},
		{"python", "import os\n"},
		{"go", "package main\n\nimport \"assay/shared/domain/page\"\n"},
		{"go", "package main\n\nimport \"golang.org/x/text\"\n"},
		{"go", "package main"},
	} {
		if len(faults(c.language, c.text)) == 0 {
			t.Errorf("%s passes:\n%s", c.language, c.text)
		}
	}
}

// TestCatalogue_HasNoUnusedFile finds files that no component uses, such as snippets with a misspelled name.
func TestCatalogue_HasNoUnusedFile(t *testing.T) {
	known := []string{"component.json"}
	for _, f := range snippetFiles {
		known = append(known, f.file)
	}
	err := fs.WalkDir(os.DirFS("catalogue"), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(known, d.Name()) {
			t.Errorf("%s is none of %v", path, known)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCatalogue_ErrorsNameTheEntry(t *testing.T) {
	for name, content := range map[string]string{
		"unknown member":  `{"id": "x", "colour": "red"}`,
		"not JSON":        `{`,
		"unknown related": `{"id": "x", "name": "broken", "related": ["nothing"]}`,
	} {
		_, err := readCatalogue(fstest.MapFS{"broken/component.json": {Data: []byte(content)}})
		if err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readCatalogue(fstest.MapFS{"broken/curl.sh": {}}); err == nil {
		t.Error("a folder without component.json passes")
	}
}
