package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlags_AreRead finds flags that no code reads, and names of flags that are read and not declared: text, yes and number return zero
// for those. A flag counts as read if a string of the program other than its declaration is its name.
func TestFlags_AreRead(t *testing.T) {
	declared := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { declared[f.Name] = true })
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(new(program).root())
	named, read := literals(t)
	for name := range declared {
		if !named[name] && !named[strings.TrimPrefix(name, "un")] { // review puts "un" before the opposite
			t.Errorf("nothing reads the flag --%s", name)
		}
	}
	for name := range read {
		if !declared[name] {
			t.Errorf("the code reads the flag --%s, which no command declares", name)
		}
	}
}

// readers are the methods that take the name of a flag.
var readers = []string{"text", "choice", "yes", "number", "GetString", "GetBool", "GetInt", "GetStringArray", "GetStringSlice",
	"GetStringToString", "GetDuration", "Changed"}

// sources returns the parsed files of the program, without tests, by name.
func sources(t *testing.T) map[string]*ast.File { return sourcesIn(t, ".") }

// sourcesIn returns the files of a folder without tests by name.
func sourcesIn(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// literals returns the strings of the program outside of declarations of flags, and those that are passed to readers.
func literals(t *testing.T) (named, read map[string]bool) {
	t.Helper()
	named, read = map[string]bool{}, map[string]bool{}
	for _, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				method, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) == 0 {
					return true
				}
				of, _ := method.X.(*ast.Ident)
				first, isLiteral := n.Args[0].(*ast.BasicLit)
				switch {
				case of != nil && of.Name == "f": // f is the set of flags in declarations
					return false
				case isLiteral && first.Kind == token.STRING && slices.Contains(readers, method.Sel.Name) && of != nil && of.Name == "c":
					read[unquoted(first)] = true
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					named[unquoted(n)] = true
				}
			}
			return true
		})
	}
	return named, read
}

func unquoted(l *ast.BasicLit) string {
	s, _ := strconv.Unquote(l.Value)
	return s
}
