package architecture

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// verbs are what the handlers of each kind of operation are named after, in the order of the arguments of its declaration.
// What has more to say than the verb follows it: listMembers.
var verbs = map[string][]string{
	"List": {"list"}, "Get": {"show"}, "Create": {"create"}, "CreateIn": {"create"}, "Patch": {"show", "change"}, "Delete": {"remove"},
}

// otherHandlers are handlers that are named in another way, by family, with the reason.
var otherHandlers = map[string]struct {
	names  []string
	reason string
}{
	"service": {[]string{"root", "version1", "platform", "health", "info"}, "they are the documents of one address each, and named after it"},
}

// TestFamilies_AreAlike holds each family to the names by which a reader finds a handler: showMember is what answers a GET of
// a member, and show is in show.go.
func TestFamilies_AreAlike(t *testing.T) {
	handlers, in := map[string]string{}, map[string]string{} // the verb by handler, and the file by function; the family comes first
	for _, f := range goFiles(t) {
		family := path.Base(path.Dir(f.path))
		if f.test || path.Dir(path.Dir(f.path)) != "functions" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.path, f.content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				in[family+"."+fn.Name.Name] = path.Base(f.path)
			}
		}
		if path.Base(f.path) == "operations.go" {
			for name, verb := range declaredHandlers(file) {
				handlers[family+"."+name] = verb
			}
		}
	}
	if len(handlers) < len(verbs) {
		t.Fatalf("there are no more than these handlers: %v", handlers)
	}
	for handler, verb := range handlers {
		family, name, _ := strings.Cut(handler, ".")
		if slices.Contains(otherHandlers[family].names, name) {
			continue
		}
		if rest, ok := strings.CutPrefix(name, verb); !ok || rest != "" && !unicode.IsUpper(rune(rest[0])) {
			t.Errorf("functions/%s: the handler %s should be named %s, with what it is about after that", family, name, verb)
		} else if rest == "" && in[handler] != verb+".go" {
			t.Errorf("functions/%s: %s is in %s, and should be in %s.go", family, name, cmp.Or(in[handler], "no file"), verb)
		}
	}
	for family, other := range otherHandlers {
		for _, name := range other.names {
			if handlers[family+"."+name] == "" {
				t.Errorf("functions/%s has no handler %s; it is an exception because %s", family, name, other.reason)
			}
		}
	}
}

// declaredHandlers returns the handlers that a table of operations names, each with its verb.
func declaredHandlers(file *ast.File) map[string]string {
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(verbs[fn.Sel.Name]) == 0 {
			return true
		}
		first := 2 // after the specification and the loader
		if fn.Sel.Name == "CreateIn" {
			first = 3 // after the pointer to the parent, too
		}
		for i, verb := range verbs[fn.Sel.Name] {
			if handler, ok := call.Args[first+i].(*ast.Ident); ok {
				out[handler.Name] = verb
			}
		}
		return true
	})
	return out
}

// TestPackages_OnlyMainExits holds packages that others import to returning errors: a process that ends in a library leaves unfinished
// what its main would finish.
func TestPackages_OnlyMainExits(t *testing.T) {
	exits := regexp.MustCompile(`\b(os\.Exit|log\.Fatal\w*|syscall\.Exit)\(`)
	for _, f := range goFiles(t) {
		if call := exits.Find(f.content); call != nil && !f.test && f.syntax.Name.Name != "main" {
			t.Errorf("%s calls %s): return an error, which a main reports", f.path, call)
		}
	}
}
