package architecture

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module holds the types that all packages declare, each under the path of its package, a dot and its name. One name can have several
// declarations, because functions declare types too.
type module map[string][]declaredType

type declaredType struct {
	file *parsedFile
	as   ast.Expr
}

// standardFunctions are the function types of the standard library that functions return.
var standardFunctions = []string{"context.CancelFunc", "context.CancelCauseFunc", "iter.Seq", "iter.Seq2", "net/http.HandlerFunc"}

func moduleOf(files []*parsedFile) module {
	m := module{}
	for _, name := range standardFunctions {
		m[name] = []declaredType{{as: new(ast.FuncType)}}
	}
	for _, f := range files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				name := f.packageName() + "." + spec.Name.Name
				m[name] = append(m[name], declaredType{f, spec.Type})
			}
			return true
		})
	}
	return m
}

// packageName returns the path of the file's package. External tests are a package of their own.
func (f *parsedFile) packageName() string {
	if strings.HasSuffix(f.tree.Name.Name, "_test") {
		return f.importPath() + "_test"
	}
	return f.importPath()
}

// is reports whether an expression in a file is a type of the kind K, or names one.
func is[K ast.Expr](m module, f *parsedFile, e ast.Expr) bool {
	var name string
	switch e := e.(type) {
	case *ast.Ident:
		name = f.packageName() + "." + e.Name
	case *ast.SelectorExpr:
		name = f.imported(e.X) + "." + e.Sel.Name
	case *ast.IndexExpr:
		return is[K](m, f, e.X)
	case *ast.IndexListExpr:
		return is[K](m, f, e.X)
	default:
		_, ok := e.(K)
		return ok
	}
	return slices.ContainsFunc(m[name], func(d declaredType) bool { return is[K](m, d.file, d.as) })
}

// imported returns the path of the package that an expression names; empty when it names none.
func (f *parsedFile) imported(e ast.Expr) string {
	name := types.ExprString(e)
	for _, spec := range f.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(imported) == name {
			return imported
		}
	}
	return ""
}
