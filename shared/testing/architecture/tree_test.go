package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root is the top of the repository, seen from this package.
const root = "../../.."

// textFile is a file that is written by hand; its path is relative to the root, with slashes.
type textFile struct {
	path    string
	content []byte
}

// goFile is a Go source file with the parts that the rules check.
type goFile struct {
	textFile
	syntax    *ast.File // package clause, imports and comments
	imports   []string
	test      bool
	generated bool
}

func (f goFile) importPath() string { return path.Join("assay", path.Dir(f.path)) }

// textFiles returns every file of the tree that is written by hand, except test data, which stays as others wrote it.
func textFiles(t *testing.T) []textFile {
	t.Helper()
	files, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("the tree holds no files: the rules would hold for nothing")
	}
	return files
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var out []goFile
	for _, f := range textFiles(t) {
		if path.Ext(f.path) != ".go" {
			continue
		}
		parsed, err := parseGo(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parsed)
	}
	return out
}

func parseGo(f textFile) (goFile, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), f.path, f.content, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return goFile{}, err
	}
	out := goFile{
		textFile:  f,
		syntax:    syntax,
		test:      strings.HasSuffix(f.path, "_test.go"),
		generated: ast.IsGenerated(syntax),
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return goFile{}, err
		}
		out.imports = append(out.imports, imported)
	}
	return out, nil
}

var extensions = []string{".go", ".templ", ".md", ".mod", ".proto", ".ts", ".tsx", ".yml", ".yaml"}

var readTree = sync.OnceValues(func() ([]textFile, error) {
	ignored, err := ignoredAtRoot()
	if err != nil {
		return nil, err
	}
	var out []textFile
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			hidden := strings.HasPrefix(relative, ".") && !slices.Contains([]string{".", ".ci", ".github"}, relative) &&
				!strings.HasPrefix(relative, ".github/")
			if hidden || entry.Name() == "testdata" || entry.Name() == "node_modules" || entry.Name() == "cdk.out" ||
				slices.Contains(ignored, relative) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(extensions, path.Ext(relative)) && relative != "Makefile" && path.Dir(relative) != ".ci" {
			return nil
		}
		content, err := os.ReadFile(name)
		out = append(out, textFile{relative, content})
		return err
	})
	return out, err
})

// ignoredAtRoot returns the names at the top level that git ignores: build results and the data of the local server.
func ignoredAtRoot() ([]string, error) {
	content, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range bytes.Lines(content) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "/"); ok {
			out = append(out, strings.TrimSuffix(name, "/"))
		}
	}
	return out, nil
}
