package measure_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
)

// TestLimits_AllowEachOther checks that a line can have what the other limits allow for an item, also if JSON writes its characters as
// escapes of three times their bytes.
func TestLimits_AllowEachOther(t *testing.T) {
	const escaped = 3
	const around = len(`"", 0.12345678901234567, `) // for a label or text, and a score
	stated := func(kind measure.Kind, of string) int64 {
		for _, l := range measure.EvaluatorOf(kind).Limits {
			if l.Of == of {
				return l.Most
			}
		}
		t.Errorf("%s does not state the %s", kind, of)
		return 0
	}
	for kind, text := range map[measure.Kind]int64{
		measure.Text: escaped*stated(measure.Text, "bytes of all references of an item") +
			int64(around)*stated(measure.Text, "references of an item"),
		measure.Multilabel: stated(measure.Multilabel, "labels of an item") *
			(escaped*stated(measure.Multilabel, "bytes of a label") + int64(around)),
		measure.Probabilities:  stated(measure.Probabilities, "labels with a score of an item") * (escaped*bounds.Name + int64(around)),
		measure.Classification: 2 * escaped * bounds.Name,
		measure.Clustering:     2 * escaped * bounds.Name,
	} {
		if line := stated(kind, "bytes of a line"); text+escaped*bounds.Name+1000 > line {
			t.Errorf("an item of %s can have %d bytes, and its line %d", kind, text, line)
		}
	}
	if longest := stated(measure.Text, "bytes of a text"); longest > stated(measure.Text, "bytes of all references of an item") {
		t.Error("the longest text is no reference")
	}
}

// unstated lists constants that limit nothing which a run, a ground truth or an evaluation may have.
var unstated = map[string]string{
	"MaxReported":     "of evaluators of an organizer: worker.proto states it",
	"maxBlock":        "size of a buffer",
	"maxBounds":       "of the search for ids that differ in an affix, which only explains faults",
	"maxDivided":      "of the same search",
	"maxHead":         "of the first bytes, by which the format of a file is recognized",
	"maxOrder":        "of n-grams: the parameters of chrF state it",
	"maxUnknown":      "of the examples in a message",
	"maxUnrecognized": "of lines without a document, which are probably no inputs: the refusal states it",
	"maxSpans":        "of the lines that a diagnostic names",
	"mostDigits":      "of an id that is a finite number",
	"mostExplained":   "of the documents in a warning",
	"mostSorted":      "of elements that are sorted before the context is checked again",
	"mostSortedFunc":  "of the same elements",
}

// TestLimits_AreStated checks that the declarations of evaluators state each constant of package bounds, and that the packages of
// computation take their limits from there. So no limit exists that organizers cannot read.
func TestLimits_AreStated(t *testing.T) {
	stated, declared := map[string]bool{}, map[string]bool{}
	families, err := filepath.Glob("*_families.go")
	if err != nil || len(families) == 0 {
		t.Fatal(families, err)
	}
	for _, name := range append(families, "limits.go") {
		ast.Inspect(parsed(t, name), func(n ast.Node) bool {
			if of := boundOf(n); of != "" {
				stated[of] = true
			}
			return true
		})
	}
	visitConstants(parsed(t, "bounds/bounds.go"), func(name string, _ ast.Expr) {
		declared[name] = true
		if !stated[name] {
			t.Errorf("no evaluator states the limit bounds.%s", name)
		}
	})
	if len(declared) < 40 {
		t.Errorf("%d limits are declared", len(declared))
	}
	found := map[string]bool{}
	isLimit := regexp.MustCompile(`^([mM]ax|[mM]ost)[A-Z]`)
	root := os.DirFS("..")
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		visitConstants(parsed(t, filepath.Join("..", name)), func(constant string, value ast.Expr) {
			if !isLimit.MatchString(constant) {
				return
			}
			found[constant] = true
			if boundOf(value) == "" && unstated[constant] == "" {
				t.Errorf("%s: the limit %s is no constant of package bounds", name, constant)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range unstated {
		if !found[name] {
			t.Errorf("there is no constant %s", name)
		}
	}
}

// parsed returns the syntax of a file.
func parsed(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// visitConstants calls visit with the name and the value of each constant of a file. The value is nil if it is implicit.
func visitConstants(file *ast.File, visit func(name string, value ast.Expr)) {
	ast.Inspect(file, func(n ast.Node) bool {
		group, ok := n.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			return true
		}
		for _, spec := range group.Specs {
			of := spec.(*ast.ValueSpec)
			for i, name := range of.Names {
				var value ast.Expr
				if i < len(of.Values) {
					value = of.Values[i]
				}
				visit(name.Name, value)
			}
		}
		return false
	})
}

// boundOf returns the name of the constant of package bounds that an expression is, or an empty string.
func boundOf(n ast.Node) string {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if of, ok := selector.X.(*ast.Ident); !ok || of.Name != "bounds" {
		return ""
	}
	return selector.Sel.Name
}
