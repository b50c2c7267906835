package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"assay/shared/patch"
	"assay/shared/problem"

	"github.com/danielgtaylor/huma/v2"
)

func (op *Operation) describeBody(set *schemaSet, d *huma.Operation) {
	switch {
	case op.patch:
		description := "An empty patch: no member can be written."
		if members := fieldNames(op.Body); len(members) > 0 {
			description = "A patch of the members " + strings.Join(members, ", ") + "."
		}
		d.RequestBody = &huma.RequestBody{Required: true, Description: description, Content: map[string]*huma.MediaType{
			patch.JSONPatch: {Schema: set.jsonPatch()}, patch.MergePatch: {Schema: set.mergePatch(op.Body)},
		}}
	case op.variants != nil && op.Method == http.MethodPost:
		content := &huma.MediaType{Schema: op.anyOf(set, func(v Variant) reflect.Type { return v.Input }), Examples: map[string]*huma.Example{}}
		for _, v := range op.variants {
			content.Examples[v.Name] = &huma.Example{Summary: v.Summary, Value: v.Example}
		}
		d.RequestBody = &huma.RequestBody{Required: true, Description: "What to compute from.", Content: map[string]*huma.MediaType{
			mediaJSON: content}}
	case op.Body != nil:
		d.RequestBody = &huma.RequestBody{Required: true, Description: "What to make.", Content: map[string]*huma.MediaType{
			mediaJSON: {Schema: set.of(op.Body), Example: op.Example}}}
	}
}

// jsonPatch is the schema of a JSON Patch, which is the same for all resources.
func (s *schemaSet) jsonPatch() *huma.Schema {
	pointer := func() *huma.Schema {
		return &huma.Schema{Type: "string", MaxLength: ptr(patch.MaxPointer), Pattern: "^(/([^~/]|~[01])*)*$", Description: "JSON Pointer"}
	}
	operation := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "op", Mapping: map[string]string{}}}
	for _, kind := range []struct {
		name, needs string
		of          *huma.Schema
		ops         []string
	}{
		{"JsonPatchValue", "value", &huma.Schema{Description: "any JSON value"}, []string{"add", "replace", "test"}},
		{"JsonPatchMove", "from", pointer(), []string{"move", "copy"}},
		{"JsonPatchRemove", "path", pointer(), []string{"remove"}},
	} {
		one := s.addNamed(kind.name, &huma.Schema{Type: "object", Required: slices.Compact([]string{"op", kind.needs, "path"}),
			Properties: map[string]*huma.Schema{
				"op": {Type: "string", Enum: values(kind.ops)}, "path": pointer(), kind.needs: kind.of,
			}})
		operation.OneOf = append(operation.OneOf, one)
		for _, op := range kind.ops {
			operation.Discriminator.Mapping[op] = one.Ref
		}
	}
	return s.addNamed("JsonPatch", &huma.Schema{
		Type: "array", Description: "operations of RFC 6902", MaxItems: ptr(patch.MaxOperations),
		Items: s.addNamed("JsonPatchOperation", operation),
	})
}

// mergePatch is the schema of a merge patch of the members of t: any of them, and null for those that have a default, to
// which null resets them.
func (s *schemaSet) mergePatch(t reflect.Type) *huma.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimSuffix(strings.TrimSuffix(t.Name(), "Draft"), "Patch") + "Patch"
	name = strings.ToUpper(name[:1]) + name[1:]
	whole, used := schemaName(t, ""), s.byType[t] != nil
	of := s.registry.Schema(t, false, "") // which adds it to the registry
	if !used {
		delete(s.registry.Map(), whole)
	}
	return s.patchOf(name, of, "members to change (RFC 7396)")
}

func (s *schemaSet) patchOf(name string, of *huma.Schema, description string) *huma.Schema {
	p := *of
	p.Required, p.Description, p.Properties = nil, description, map[string]*huma.Schema{}
	for member, m := range of.Properties {
		if m.Ref != "" && s.registry.SchemaFromRef(m.Ref).Type == huma.TypeObject {
			p.Properties[member] = s.patchOf(strings.TrimPrefix(m.Ref, schemaPrefix)+"Patch", s.registry.SchemaFromRef(m.Ref), m.Description)
			continue
		}
		changed := *m
		changed.Nullable = hasNull(m) && !slices.Contains(of.Required, member)
		p.Properties[member] = &changed
	}
	return s.addNamed(name, &p)
}

// hasNull reports whether null can reset a member in a merge patch. Objects are reset member by member, and one of an enumeration by
// its value.
func hasNull(member *huma.Schema) bool { return member.Ref == "" && len(member.Enum) == 0 }

// checkNulls reports the members of a merge patch of the type that are null although its schema has none there.
func (s *schemaSet) checkNulls(t reflect.Type, body []byte) error {
	var patch any
	if err := json.Unmarshal(body, &patch); err != nil {
		return problem.BadRequest.New("The body is not a JSON document: %v.", err)
	}
	of := s.of(t)
	s.mu.RLock()
	defer s.mu.RUnlock()
	var faults problem.Fields
	s.nulls(of, patch, "", &faults)
	return problem.Check(faults)
}

func (s *schemaSet) nulls(of *huma.Schema, patch any, pointer string, faults *problem.Fields) {
	if of.Ref != "" {
		of = s.registry.SchemaFromRef(of.Ref)
	}
	object, _ := patch.(map[string]any)
	for name, value := range object {
		if member := of.Properties[name]; member != nil && value != nil {
			s.nulls(member, value, pointer+"/"+name, faults)
		} else if member != nil && !hasNull(member) && !slices.Contains(of.Required, name) {
			faults.Add(pointer+"/"+name, "must not be null: leave the member out")
		}
	}
}
