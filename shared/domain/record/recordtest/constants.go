package recordtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// Constants returns the values of all constants that package record declares with the type, such as EventKind. A test compares them with
// the table or the handlers that must have an entry for each, because a constant without an entry compiles.
func Constants(t *testing.T, typeName string) (values []string) {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(here), "..", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == typeName && len(spec.Values) == 1 {
				if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					value, _ := strconv.Unquote(literal.Value)
					values = append(values, value)
				}
			}
			return true
		})
	}
	if len(values) == 0 {
		t.Fatalf("package record has no constants of the type %s", typeName)
	}
	return values
}
