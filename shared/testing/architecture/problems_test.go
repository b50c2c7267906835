package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

const problemPackage = "assay/shared/language/problem"

// formatAt is the index of the format among the arguments of each function that makes a text for a caller.
var formatAt = map[string]int{"New": 0, "Wrap": 1, "Sentence": 0, "NewField": 1, "InvalidMember": 1, "Add": 1, "AddIf": 2}

// textFaults are the patterns that the format of a problem must not have. Names in braces are removed before.
var textFaults = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b(GET|HEAD|POST|PUT|PATCH|DELETE) [/%]`), "an operation of problem/operations.go"},
	{regexp.MustCompile("(^|[ (`])/[A-Za-z]"), "an operation, or {/pointer/0} and problem.Member for a JSON Pointer"},
	{regexp.MustCompile(`\b[a-z]+[A-Z]`), "{name} for a member, {?name} for a query parameter"},
	{regexp.MustCompile(`\bfilter\[|\blinks\.`), "{?filter[name]} for a query parameter, {name} for a member"},
	{regexp.MustCompile(`(^| )-[a-z]+(-[a-z]+)+`), "what the operator of the server does instead of a flag of the program"},
	{regexp.MustCompile(`%d bytes`), "%s with a problem.Size"},
}

var namesInBraces = regexp.MustCompile(`\{\??[A-Za-z0-9./\[\]]+\}`)

// ids and pointers in the arguments of a format need a type. formatted instants have lost theirs.
var untyped = regexp.MustCompile(`(^|\.)(id|ID|pointer|at)$|(ID|Id|IDs|Pointer|Path)$|^(Path|Parent|Format|sortable)$`)

// TestProblems_SayValuesAsParts checks the formats and arguments of all texts of problems. An instant, a size, a member, an operation and
// a resource is a part of the text, so that the command line and the browser can show it in their words.
func TestProblems_SayValuesAsParts(t *testing.T) {
	texts := 0
	for _, f := range goFiles(t) {
		if f.test || f.generated || !slices.Contains(f.imports, problemPackage) {
			continue
		}
		p, err := parseWhole(f)
		if err != nil {
			t.Fatal(err)
		}
		constants := constantsOf(p.tree)
		ast.Inspect(p.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			format := formatOf(call)
			if format < 0 {
				return true
			}
			texts++
			for _, fault := range faultsOfText(call.Args[format:], constants) {
				t.Errorf("%s: %s", p.files.Position(call.Pos()), fault)
			}
			return true
		})
	}
	if texts < 300 {
		t.Errorf("found only %d texts", texts)
	}
}

// requestInText matches a request within a text. A whole literal such as "GET /live" is a route, and `GET /info` in backticks is
// documentation of the API.
var requestInText = regexp.MustCompile("[^`](GET|HEAD|POST|PUT|PATCH|DELETE) /")

// TestProblems_SayRequestsAsParts checks all literals of files that make problems, because a text may reach a problem in a variable, such
// as the description of a pattern. Documentation is in members of specifications and in the tags of types.
func TestProblems_SayRequestsAsParts(t *testing.T) {
	literals := spokenIn(t, func(f goFile) bool { return slices.Contains(f.imports, problemPackage) })
	for _, l := range literals {
		if found := requestInText.FindString(l.text); found != "" {
			t.Errorf("%s: %q in a text: write an operation of problem/operations.go", l.place, found)
		}
	}
	if len(literals) < 2000 {
		t.Errorf("found only %d literals", len(literals))
	}
	for text, found := range map[string]int{`f("; users find theirs in GET /v1/user")`: 1, `f("GET /live")`: 0,
		`api.Spec{Description: "as GET /info says"}`: 0} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.DeleteFunc(spokenLiterals(e), func(l spoken) bool { return !requestInText.MatchString(l.text) })
		if len(all) != found {
			t.Errorf("%s: %v", text, all)
		}
	}
}

// spoken is a literal of a text. spokenIn sets its place.
type spoken struct {
	text  string
	at    token.Pos
	place token.Position
}

// spokenIn returns the text literals, without documentation, of the files that belongs accepts. It leaves out tests and generated files.
func spokenIn(t *testing.T, belongs func(goFile) bool) (all []spoken) {
	t.Helper()
	for _, f := range goFiles(t) {
		if f.test || f.generated || !belongs(f) {
			continue
		}
		p, err := parseWhole(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range spokenLiterals(p.tree) {
			l.place = p.files.Position(l.at)
			all = append(all, l)
		}
	}
	return all
}

// documented matches the members of specifications that only the API description shows.
var documented = regexp.MustCompile(`^(Description|Summary)$`)

// spokenLiterals returns the text literals of a tree without documentation.
func spokenLiterals(tree ast.Node) (all []spoken) {
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			return n.Tag == nil
		case *ast.KeyValueExpr:
			return !documented.MatchString(nameOf(n.Key))
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				all = append(all, spoken{text: text, at: n.Pos()})
			}
		}
		return true
	})
	return all
}

// formatOf returns the index of the format among the arguments of a call; -1 if the call makes no text for a caller.
func formatOf(call *ast.CallExpr) int {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return -1
	}
	at, ok := formatAt[f.Sel.Name]
	if !ok || len(call.Args) <= at {
		return -1
	}
	_, ofVariable := f.X.(*ast.Ident)
	added := f.Sel.Name == "AddIf" || f.Sel.Name == "Add" && ofVariable && hasLiteral(call.Args[at])
	if added || fromProblem(f) {
		return at
	}
	return -1
}

// hasLiteral tells the Add of problem.Fields from that of other types.
func hasLiteral(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		found = found || ok && l.Kind == token.STRING
		return true
	})
	return found
}

// fromProblem reports whether an expression such as problem.Conflict.New begins with the package.
func fromProblem(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return fromProblem(e.X)
	case *ast.CallExpr:
		return fromProblem(e.Fun)
	case *ast.Ident:
		return e.Name == "problem"
	default:
		return false
	}
}

// faultsOfText returns what is wrong with a format and its arguments. constants holds the constants of its file.
func faultsOfText(args []ast.Expr, constants map[string]string) (faults []string) {
	format, constant := constantText(args[0], constants)
	if !constant {
		faults = append(faults, "a format that is no constant: pass the text as an argument, or a problem.Sentence")
	}
	format = namesInBraces.ReplaceAllString(format, "")
	for _, f := range textFaults {
		if found := f.pattern.FindString(format); found != "" {
			faults = append(faults, strconv.Quote(found)+" in a text: write "+f.instead)
		}
	}
	for _, arg := range args[1:] {
		ast.Inspect(arg, func(n ast.Node) bool {
			switch e := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				return nameOf(e.Fun) != "len" && (!fromProblem(e.Fun) || nameOf(e.Fun) == "Clip")
			case *ast.SelectorExpr, *ast.Ident:
				if name := nameOf(e.(ast.Expr)); untyped.MatchString(name) {
					faults = append(faults, name+" as an argument: make it a part, such as problem.Resource, problem.Member, or an instant")
				}
				return false
			}
			return true
		})
	}
	return faults
}

// constantText returns the text of an expression. ok is false unless it concatenates literals and constants of the file or of the package
// problem.
func constantText(e ast.Expr, constants map[string]string) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := constantText(e.X, constants)
		right, too := constantText(e.Y, constants)
		return left + right, ok && too
	case *ast.Ident:
		text, ok = constants[e.Name]
		return text, ok
	case *ast.SelectorExpr:
		return "", fromProblem(e)
	default:
		return "", false
	}
}

// constantsOf returns the texts of the constants in a file by name.
func constantsOf(tree *ast.File) map[string]string {
	all := map[string]string{}
	ast.Inspect(tree, func(n ast.Node) bool {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			return true
		}
		for _, s := range d.Specs {
			for i, value := range s.(*ast.ValueSpec).Values {
				if text, ok := constantText(value, all); ok {
					all[s.(*ast.ValueSpec).Names[i].Name] = text
				}
			}
		}
		return true
	})
	return all
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func TestProblems_FaultsOfTextsAreFound(t *testing.T) {
	for _, text := range []string{
		`problem.Conflict.New("DELETE %s first.", x)`, `problem.Conflict.New("See /info.")`, `problem.InvalidMember("/a", "must be like /b")`,
		`fields.Add("/a", "leave closesAt out")`, `problem.NotFound.New("Name it with filter[x].")`,
		`problem.InvalidMember("/url", "is not public: see -webhook-networks")`,
		`problem.TooLarge.New("It has %d bytes.", n)`,
		`problem.Conflict.Wrap(err, "The run %s.", run.ID)`, `fields.AddIf(x, "/a", "is %s", strings.Join(runIDs, ", "))`,
		`problem.OutsideWindow.New("Closed at %s.", closes.UTC().Format(layout))`,
		`problem.Conflict.New("Use %s.", team.Path(r))`, `problem.Conflict.New(format, x)`,
	} {
		if found := faultsIn(t, text); len(found) != 1 {
			t.Errorf("%s: %q", text, found)
		}
	}
	for _, text := range []string{
		`problem.Conflict.New("Leave {closesAt} and {?filter[x]} out.")`, `problem.Conflict.New("The run %s.", problem.Resource("run", run.ID))`,
		`problem.OutsideWindow.New("Closed at %s.", closes)`, `fields.Add(pointer, "is taken by %s", problem.Member(other.pointer))`,
	} {
		if found := faultsIn(t, text); len(found) != 0 {
			t.Errorf("%s: %q", text, found)
		}
	}
}

func faultsIn(t *testing.T, text string) []string {
	t.Helper()
	e, err := parser.ParseExpr(text)
	if err != nil {
		t.Fatal(err)
	}
	call := e.(*ast.CallExpr)
	return faultsOfText(call.Args[formatOf(call):], nil)
}
