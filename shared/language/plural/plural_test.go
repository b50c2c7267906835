package plural_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/shared/language/plural"
)

func TestCount_WritesPlurals(t *testing.T) {
	for want, got := range map[string]string{
		"0 runs": plural.Count(0, "run"), "1 run": plural.Count(1, "run"), "2 other pairs": plural.Count(int64(2), "other pair"),
		"1 entry": plural.Count(1, "entry"), "2 entries": plural.Count(2, "entry"), "3 days": plural.Count(3, "day"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

var (
	verb = regexp.MustCompile(`%[-+# 0-9.*]*(?:\[\d+\])?[a-zA-Z%]`)
	// counted matches a noun in the plural after a number, with an optional adjective.
	counted = regexp.MustCompile(`^ (?:(?:other|more|different|empty) )?([a-z]{2,}s)\b`)
	// markup matches a number before a noun in the plural in a template.
	markup = regexp.MustCompile(`strconv\.(?:Itoa|FormatInt)\(([^{}]*)\) \} ((?:other |more )?[a-z]{2,}s)\b`)
	// bound matches names of constants and settings that are far above 1.
	bound = regexp.MustCompile(
		`^(?:[Mm]ax|[Mm]ost|few$|Few$|patience$|[lL]imits?$|[lL]imit|depth$|rounds$|Rounds$|organizerTasks$|levels$|tailLines$|PendingFiles$|PendingBytes$)`)
	// beyond matches texts whose numbers cannot be 1: limits, numbers above a limit, or numbers that a condition before has checked.
	beyond = regexp.MustCompile(
		`at most|At most|allowed|more than|longer than|which is the most|has 1 to|are sent|This takes about|is given %d|The body has|of %d fields`)
	verbsInS = map[string]bool{"is": true, "was": true, "has": true, "does": true, "exists": true, "as": true, "begins": true, "makes": true,
		"comes": true, "ends": true}
)

// TestCount_WritesEveryPlural looks for numbers before a noun in the plural, in format strings of calls and in templates. They must use
// Count.
func TestCount_WritesEveryPlural(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == "testdata" || name == "catalogue" || strings.HasSuffix(name, "test") ||
			len(name) > 2 && name[0] == '.'):
			return fs.SkipDir
		case strings.HasSuffix(name, ".templ"):
			text, err := os.ReadFile(path)
			for _, m := range markup.FindAllStringSubmatch(string(text), -1) {
				if !bound.MatchString(m[1]) {
					t.Errorf("%s: %s before %q; use plural.Count", path, m[1], m[2])
				}
			}
			return err
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_templ.go") ||
			strings.HasSuffix(name, ".pb.go"):
			return nil
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if nameOf(call.Fun) == "Errorf" && nameOf(call.Fun.(*ast.SelectorExpr).X) == "fmt" {
				return true // for logs
			}
			for i, arg := range call.Args {
				for _, a := range plurals(literal(arg), call.Args[i+1:]) {
					seen++
					if !bound.MatchString(a.name) {
						t.Errorf("%s: %s before %q; use plural.Count", files.Position(call.Pos()), a.name, a.noun)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 5 {
		t.Errorf("%d plurals were found, %v", seen, err)
	}
}

type plurality struct{ name, noun string }

// plurals lists the nouns in the plural after numbers in a format, with the names of the numbers' arguments.
func plurals(format string, args []ast.Expr) (all []plurality) {
	at := 0
	for _, place := range verb.FindAllStringIndex(format, -1) {
		text := format[place[0]:place[1]]
		if text == "%%" {
			continue
		}
		if i := strings.IndexByte(text, '['); i >= 0 {
			at, _ = strconv.Atoi(text[i+1 : strings.IndexByte(text, ']')])
			at--
		}
		if m := counted.FindStringSubmatch(format[place[1]:]); m != nil && strings.HasSuffix(text, "d") && !verbsInS[m[1]] &&
			!beyond.MatchString(format) && at < len(args) {
			all = append(all, plurality{nameOf(args[at]), m[1]})
		}
		at++
	}
	return all
}

// literal returns the text of a literal, or of several concatenated literals. It returns "" for other expressions.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// nameOf returns the last name of an expression.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if inner := nameOf(e.X); bound.MatchString(inner) {
			return inner // a field of limits
		}
		return e.Sel.Name
	case *ast.BinaryExpr:
		return nameOf(e.X)
	case *ast.CallExpr:
		return nameOf(e.Fun)
	}
	return "an expression"
}
