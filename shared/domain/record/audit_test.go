package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/shared/domain/record"
)

// TestAuditEntry_DeclaresEveryAction checks that the enum of audit entries, which filter and documentation use, lists every action.
func TestAuditEntry_DeclaresEveryAction(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "audit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, s := range d.Specs {
				if literal, ok := s.(*ast.ValueSpec).Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					action, _ := strconv.Unquote(literal.Value)
					actions = append(actions, action)
				}
			}
		}
	}
	member, _ := reflect.TypeFor[record.AuditEntry]().FieldByName("Action")
	declared := strings.Split(member.Tag.Get("enum"), ",")
	slices.Sort(actions)
	slices.Sort(declared)
	if len(actions) == 0 || !slices.Equal(actions, declared) {
		t.Errorf("the schema has the actions %v, and the constants are %v", declared, actions)
	}
}
