package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"testing"
)

// statementRule refuses statements that a reader has to take apart first, and says why.
type statementRule struct {
	name    string
	breaks  func(module, *parsedFile, ast.Node) bool
	reason  string
	refused []string // statements that the rule exists to refuse
	allowed []string // statements near them that it lets pass
}

const (
	// maxPair is how many characters a parallel assignment of two values may have: the names stay near their values.
	maxPair = 80
	// maxUnkeyed is how many members a literal of a struct may have without keys.
	maxUnkeyed = 3
)

// outcomeName matches the names of variables that tell whether a call succeeded.
var outcomeName = regexp.MustCompile(`^(\w+\.)*(err|\w+Err|ok|fault)$`)

var statementRules = []statementRule{
	{
		name:   "a statement before a condition that does not test it",
		breaks: hidesStatement,
		reason: "a reader who looks for what changes passes over it: give it a line of its own",
		refused: []string{
			"if n++; n > 1 {}",
			"if f(); n > 1 {}",
			"if m[1] = n; ok {}",
			"if x, err := g(); ok { h(x, err) }",
			"if ok {} else if f(); n > 1 {}",
			"switch x := g(); { case ok: h(x) }",
			"switch f(); y.(type) {}",
			"switch x := g(); y := z.(type) { case T: h(x, y) }",
		},
		allowed: []string{
			"if n > 1 {}",
			"if err := f(); err != nil {}",
			"if _, ok := m[n]; ok {}",
			"if m[n] = g(); m[n] > 1 {}",
			"switch x := g(); x { case 1: }",
			"switch x := g(); { case x > 1: }",
			"switch x := g(); y := x.(type) { case T: h(y) }",
			"switch x := g(); x.y.(type) {}",
		},
	},
	{
		name:   "an assignment before a condition",
		breaks: assignsBeforeCondition,
		reason: "a reader who looks for where a variable changes passes over it: give it a line of its own. An err, an ok or a fault that a " +
			"call returns passes if the condition tests it",
		refused: []string{
			"if n += g(); n > 1 {}",
			"if n = g(); n > 1 {}",
			"if x.n, x.m = true, 1; x.n {}",
			"if list = append(list, n); len(list) > 1 {}",
			"if n, err = g(); n > 1 {}",
			"if ok {} else if n = g(); n > 1 {}",
		},
		allowed: []string{
			"n += g(); if n > 1 {}",
			"if n := g(); n > 1 {}",
			"if x.n, err = g(); err != nil {}",
			"if x.err = g(); x.err != nil {}",
			"if x, fault, ok = g(); ok {}",
			"if err = errors.Join(err, g()); n > 1 || err != nil {}",
		},
	},
	{
		name:   "a parallel assignment",
		breaks: assignsTogether,
		reason: fmt.Sprintf("a reader counts which value is whose: assign one value a line. What a call returns, swaps and pairs of up to %d "+
			"characters pass", maxPair),
		refused: []string{
			"a, b, c := 1, 2, 3",
			"a.x, b.x, c.x = 1, 2, 3",
			"var a, b, c = 1, 2, 3",
			"const a, b, c = 1, 2, 3",
			"for i, j, k := 0, 0, 0; ; {}",
			"first, second := nameOfTheFirstOfThem(withAnArgument), nameOfTheSecondOfThem(withAnotherOne)",
			"a, b := 1, T{\n}",
		},
		allowed: []string{
			"a, b := 1, 2",
			"a, b, c := f()",
			"list[i].name.first, list[j].name.first = list[j].name.first, list[i].name.first",
			"var a, b, c int",
			"const a, b = 1, 2",
			"for i, j := 0, len(list); i < j; i, j = i+1, j-1 {}",
		},
	},
	{
		name:   "a struct without the names of its members",
		breaks: namesNoMembers,
		reason: fmt.Sprintf("a reader looks up which member each of more than %d values goes to: write keys. Rows of a table need none",
			maxUnkeyed),
		refused: []string{
			"x = T{1, 2, 3, 4}",
			"x = &T{1, 2, 3, 4}",
			"x = G[int]{1, 2, 3, 4}",
			"x = other.T{1, 2, 3, 4}",
			"x = renamed.T{1, 2, 3, 4}",
			"x = other.Again{1, 2, 3, 4}",
			"x = struct{ a, b, c, d int }{1, 2, 3, 4}",
		},
		allowed: []string{
			"x = T{a: 1, b: 2, c: 3, d: 4}",
			"x = T{1, 2, 3}",
			"x = []T{{1, 2, 3, 4}}",
			"x = []int{1, 2, 3, 4}",
			"x = L{1, 2, 3, 4}",
			"x = fmt.T{1, 2, 3, 4}", // go vet refuses unkeyed literals of other modules
		},
	},
	{
		name:   "a function that returns two closures",
		breaks: returnsClosures,
		reason: "variables that two closures share are a type without a name: declare a type with two methods",
		refused: []string{
			"_ = func() (func(), func() error) { return nil, nil }",
			"_ = func() (add, flush func()) { return nil, nil }",
			"_ = func() (F, func()) { return nil, nil }",
			"_ = func() (add, flush F) { return nil, nil }",
			"_ = func() (P[int], P[string]) { return nil, nil }",
			"_ = func() (other.F, error, renamed.Alias) { return nil, nil, nil }",
			"_ = func() (context.CancelFunc, func()) { return nil, nil }",
		},
		allowed: []string{
			"_ = func() (func(), error) { return nil, nil }",
			"_ = func() (F, error) { return nil, nil }",
			"_ = func() (F, T, L, *F, []F) { return }",
			"_ = func() (context.Context, context.CancelFunc) { return nil, nil }",
			"_ = func(a, b func()) {}",
		},
	},
}

// parsedFile is a whole Go file with the positions of its nodes.
type parsedFile struct {
	goFile
	tree  *ast.File
	files *token.FileSet
}

func TestStatements_KeepTheRules(t *testing.T) {
	var parsed []*parsedFile
	for _, f := range goFiles(t) {
		p, err := parseWhole(f)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, p)
	}
	m := moduleOf(parsed)
	for _, f := range parsed {
		if f.generated {
			continue
		}
		for _, r := range statementRules {
			for _, position := range r.find(m, f) {
				t.Errorf("%s has %s, but %s", position, r.name, r.reason)
			}
		}
	}
}

// surroundings declares the types and packages that the statements of the rules name.
const surroundings = `package own

import (
	"context"
	"fmt"

	"assay/shared/other"
	renamed "assay/shared/other"
)

type T struct{ a, b, c, d int }
type G[P any] struct{ a, b, c, d P }
type L []int
type F func()
type P[A any] func(A)

`

const otherPackage = `package other

type T struct{ A, B, C, D int }
type Again T
type F func()
type Alias = F
`

func TestStatements_RulesCatch(t *testing.T) {
	other := parsedStatement(t, "shared/other/a.go", otherPackage)
	find := func(r statementRule, statement string) []string {
		f := parsedStatement(t, "shared/own/a.go", surroundings+"func _() {\n"+statement+"\n}\n")
		return r.find(moduleOf([]*parsedFile{f, other}), f)
	}
	for _, r := range statementRules {
		for _, statement := range r.refused {
			if len(find(r, statement)) != 1 {
				t.Errorf("%s is let through although %s", statement, r.reason)
			}
		}
		for _, statement := range r.allowed {
			if found := find(r, statement); len(found) != 0 {
				t.Errorf("%s is refused as %s", statement, r.name)
			}
		}
	}
}

func parsedStatement(t *testing.T, name, content string) *parsedFile {
	t.Helper()
	f, err := parseGo(textFile{name, []byte(content)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := parseWhole(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func parseWhole(f goFile) (*parsedFile, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, f.path, f.content, parser.SkipObjectResolution)
	return &parsedFile{goFile: f, tree: tree, files: files}, err
}

// find lists the positions in a file where the rule is broken.
func (r statementRule) find(m module, f *parsedFile) (positions []string) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if n != nil && r.breaks(m, f, n) {
			positions = append(positions, f.files.Position(n.Pos()).String())
		}
		return true
	})
	return positions
}

func hidesStatement(_ module, _ *parsedFile, n ast.Node) bool {
	switch s := n.(type) {
	case *ast.IfStmt:
		return s.Init != nil && !mention(s.Init, s.Cond)
	case *ast.TypeSwitchStmt:
		return s.Init != nil && !mention(s.Init, s.Assign)
	case *ast.SwitchStmt:
		if s.Init == nil {
			return false
		}
		var tested []ast.Node
		if s.Tag != nil {
			tested = append(tested, s.Tag)
		}
		for _, clause := range s.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				tested = append(tested, e)
			}
		}
		return !mention(s.Init, tested...)
	default:
		return false
	}
}

// mention reports whether one of the tested nodes has a variable to which the statement assigns.
func mention(s ast.Stmt, tested ...ast.Node) bool {
	assignment, ok := s.(*ast.AssignStmt)
	if !ok {
		return false
	}
	var assigned []string
	for _, left := range assignment.Lhs {
		if name := types.ExprString(left); name != "_" {
			assigned = append(assigned, name)
		}
	}
	return slices.ContainsFunc(tested, func(t ast.Node) bool { return hasExpression(t, assigned...) })
}

// hasExpression reports whether one of the expressions is part of the node.
func hasExpression(n ast.Node, expressions ...string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		part, ok := n.(ast.Expr)
		found = found || ok && slices.Contains(expressions, types.ExprString(part))
		return !found
	})
	return found
}

func assignsBeforeCondition(_ module, _ *parsedFile, n ast.Node) bool {
	s, ok := n.(*ast.IfStmt)
	if !ok {
		return false
	}
	assignment, ok := s.Init.(*ast.AssignStmt)
	if !ok || assignment.Tok == token.DEFINE {
		return false
	}
	return assignment.Tok != token.ASSIGN || len(assignment.Rhs) > 1 || !slices.ContainsFunc(assignment.Lhs, func(left ast.Expr) bool {
		name := types.ExprString(left)
		return outcomeName.MatchString(name) && hasExpression(s.Cond, name)
	})
}

func assignsTogether(_ module, f *parsedFile, n ast.Node) bool {
	var left, right []ast.Expr
	switch s := n.(type) {
	case *ast.AssignStmt:
		left, right = s.Lhs, s.Rhs
	case *ast.ValueSpec:
		right = s.Values
		for _, name := range s.Names {
			left = append(left, name)
		}
	default:
		return false
	}
	switch {
	case len(left) != len(right) || len(left) == 1:
		return false
	case len(left) > 2:
		return true
	}
	swap := types.ExprString(left[0]) == types.ExprString(right[1]) && types.ExprString(left[1]) == types.ExprString(right[0])
	from := f.files.Position(n.Pos())
	to := f.files.Position(n.End())
	return !swap && (from.Line != to.Line || to.Offset-from.Offset > maxPair)
}

func namesNoMembers(m module, f *parsedFile, n ast.Node) bool {
	literal, ok := n.(*ast.CompositeLit)
	if !ok || len(literal.Elts) <= maxUnkeyed {
		return false
	}
	_, keyed := literal.Elts[0].(*ast.KeyValueExpr)
	return !keyed && is[*ast.StructType](m, f, literal.Type)
}

func returnsClosures(m module, f *parsedFile, n ast.Node) bool {
	function, ok := n.(*ast.FuncType)
	if !ok || function.Results == nil {
		return false
	}
	closures := 0
	for _, result := range function.Results.List {
		if is[*ast.FuncType](m, f, result.Type) {
			closures += max(1, len(result.Names))
		}
	}
	return closures > 1
}
