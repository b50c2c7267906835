package functions_test

import (
	"testing"

	"assay/functions"
	"assay/shared/api"

	"github.com/danielgtaylor/huma/v2"
)

// Nothing in a body may have any number of items, members or characters: what is validated and stored would have no bound
// but the length of the body.
func TestBodiesAreBoundedByTheirSchemas(t *testing.T) {
	doc := api.Document(functions.Families())
	bodies := 0
	for path, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Post, item.Patch} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			for _, content := range op.RequestBody.Content {
				bodies++
				checkBounds(t, doc.Components.Schemas, content.Schema, op.Method+" "+path, map[string]bool{})
			}
		}
	}
	for _, op := range functions.Operations() {
		if op.Body != nil { // what a patch results in
			bodies++
			checkBounds(t, doc.Components.Schemas, doc.Components.Schemas.Schema(op.Body, false, ""), op.ID, map[string]bool{})
		}
	}
	if bodies < 15 {
		t.Errorf("%d bodies were looked at", bodies)
	}
}

func checkBounds(t *testing.T, r huma.Registry, s *huma.Schema, at string, seen map[string]bool) {
	t.Helper()
	if s.Ref != "" {
		if seen[s.Ref] {
			return
		}
		seen[s.Ref] = true
		s = r.SchemaFromRef(s.Ref)
	}
	switch {
	case s.Type == huma.TypeArray && s.MaxItems == nil:
		t.Errorf("%s: the array has no maxItems", at)
	case s.Type == huma.TypeString && s.MaxLength == nil && len(s.Enum) == 0 && s.Format == "":
		t.Errorf("%s: the string has no maxLength", at)
	}
	if s.Items != nil {
		checkBounds(t, r, s.Items, at+"[]", seen)
	}
	for _, one := range s.AnyOf {
		checkBounds(t, r, one, at, seen)
	}
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		if s.MaxProperties == nil {
			t.Errorf("%s: the object has no maxProperties", at)
		}
		if more.Type != huma.TypeString { // a tag cannot bound strings in a map
			checkBounds(t, r, more, at+".*", seen)
		}
	}
	for name, member := range s.Properties {
		checkBounds(t, r, member, at+"."+name, seen)
	}
}
