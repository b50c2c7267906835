package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"assay/shared/domain/page"
	"assay/shared/domain/patch"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/danielgtaylor/huma/v2"
)

// pathParams describes the parameters of the path. names lists the values of those that are names, by parameter.
func (op *Operation) pathParams(names map[string][]string) []*huma.Param {
	var params []*huma.Param
	for _, m := range pathParams.FindAllStringSubmatch(op.Path, -1) {
		p := &huma.Param{Name: m[1], In: "path", Required: true, Description: "name of the " + m[1], Schema: &huma.Schema{Type: "string"}}
		if of, isID := strings.CutSuffix(m[1], "Id"); isID {
			p.Description, p.Schema.Pattern = "id of the "+of, record.IDPattern
		}
		p.Schema.Enum = values(names[m[1]])
		params = append(params, p)
	}
	return params
}

func values(names []string) []any { return lists.Map(names, func(n string) any { return n }) }

// listOf describes a query parameter with up to most values, separated by commas.
func listOf(name, description string, item *huma.Schema, most int) *huma.Param {
	return &huma.Param{
		Name: name, In: "query", Description: description, Style: "form", Explode: new(bool),
		Schema: &huma.Schema{Type: "array", Items: item, MinItems: new(1), MaxItems: &most},
	}
}

func filterParam(f page.Filter) *huma.Param {
	var one, several string
	item := &huma.Schema{Type: "string"}
	switch f.Type {
	case page.ID:
		item.Pattern = record.IDPattern
		one = "An id."
		several = "Ids"
	case page.Enum:
		names := strings.Join(f.Values, ", ")
		item.Enum = values(f.Values)
		one = "One of " + names + "."
		several = "Any of " + names
	case page.Bool:
		item.Type, one = "boolean", "true or false."
	default:
		item.MinLength, item.MaxLength = new(1), new(page.MaxText)
		one, several = "The whole text.", "Parts of the text, ignoring case"
	}
	if f.Standalone {
		return &huma.Param{Name: f.Param(), In: "query", Description: one, Schema: item}
	}
	if f.Type == page.Text {
		item.Pattern = "^[^,]+$"
	}
	return listOf(f.Param(), several+"; several separated by commas mean any of them.", item, page.MaxValues)
}

func (op *Operation) queryParams() []*huma.Param {
	params := lists.Map(op.Query.Filters, filterParam)
	add := func(name, description string, s *huma.Schema) {
		params = append(params, &huma.Param{Name: name, In: "query", Description: description, Schema: s})
	}
	if op.Query.List {
		cursor := &huma.Schema{Type: "string", Pattern: record.IDPattern}
		if op.Query.Named {
			cursor.Pattern, cursor.MinLength = "", new(1)
		}
		add("limit", "The greatest number of resources; more than 200 is treated as 200.", &huma.Schema{
			Type: "integer", Minimum: new(1.0), Default: page.DefaultLimit})
		add("cursor", "Id of the first resource of the requested page, as in `links.next`.", cursor)
	}
	if op.previews() {
		add(previewFilter.Name, "`true` changes nothing, and answers with the effects of the change.", &huma.Schema{Type: "boolean"})
	}
	if op.Query.Sort {
		add("sort", "`rank` for the first column of the dataset, or the name of a measure of it: the best first.", &huma.Schema{
			Type: "string", MinLength: new(1), MaxLength: new(page.MaxText)})
		add("offset", "With `sort`: the number of resources to skip.", &huma.Schema{Type: "integer", Minimum: new(0.0)})
	}
	if op.variants != nil && op.Method == http.MethodGet {
		p := &huma.Param{Name: inputParam, In: "query", Required: true, Description: "The body of the equivalent POST to the tool, as JSON.",
			Schema: &huma.Schema{Type: "string", MinLength: new(1)}}
		if example, err := Encode(op.variants[0].Example); err == nil {
			p.Examples = map[string]*huma.Example{op.variants[0].Name: {Value: strings.TrimSpace(string(example))}}
		}
		params = append(params, p)
	}
	if fields := op.Query.Fields; len(fields) > 0 {
		about := "Names of members, separated by commas. Each resource contains only these members, even if its schema requires others. " +
			"One of: " + strings.Join(fields, ", ") + "."
		p := listOf("fields", about, &huma.Schema{Type: "string", Enum: values(fields)}, len(fields))
		p.Schema.MaxItems = nil // repeating a name is allowed
		params = append(params, p)
	}
	return params
}

func (op *Operation) headerParams() []*huma.Param {
	header := func(name, description string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: description, Schema: &huma.Schema{Type: "string"}}
	}
	switch op.Method {
	case http.MethodGet:
		if op.hasETag() {
			return []*huma.Param{header("If-None-Match", "Entity tags that the caller has; the answer is 304 if one of them is current.")}
		}
	case http.MethodPost:
		if op.Body == nil { // safe to repeat without a key
			return nil
		}
		key := header(idempotencyHeader, "Makes the request safe to repeat: for 24 hours, the same key and body get the first answer again.")
		key.Schema.Pattern, key.Schema.MaxLength = "^[!-+--~]+$", new(maxIdempotencyKey) // visible ASCII except the comma
		return []*huma.Param{key}
	case http.MethodPatch, http.MethodDelete:
		return []*huma.Param{header("If-Match", "Entity tag that the resource must still have.")}
	}
	return nil
}

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
		d.RequestBody = &huma.RequestBody{Required: true, Description: "The input of the computation.", Content: map[string]*huma.MediaType{
			mediaJSON: content}}
	case op.Body != nil:
		d.RequestBody = &huma.RequestBody{Required: true, Description: "The resource to create.", Content: map[string]*huma.MediaType{
			mediaJSON: {Schema: set.of(op.Body), Example: op.Example}}}
		if op.Method == http.MethodPatch {
			d.RequestBody.Description = "The changes."
			d.RequestBody.Content[patch.MergePatch] = d.RequestBody.Content[mediaJSON]
		}
	}
}

// jsonPatch returns the schema of a JSON Patch, which is the same for all resources.
func (s *schemaSet) jsonPatch() *huma.Schema {
	pointer := func() *huma.Schema {
		return &huma.Schema{Type: "string", MaxLength: new(patch.MaxPointer), Pattern: "^(/([^~/]|~[01])*)*$", Description: "JSON Pointer"}
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
		Type: "array", Description: "operations of RFC 6902", MaxItems: new(patch.MaxOperations),
		Items: s.addNamed("JsonPatchOperation", operation),
	})
}

// mergePatch returns the schema of a merge patch of t. All members are optional. Members with a default are nullable, because null resets
// them to the default.
func (s *schemaSet) mergePatch(t reflect.Type) *huma.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimSuffix(strings.TrimSuffix(t.Name(), "Draft"), "Patch") + "Patch"
	name = strings.ToUpper(name[:1]) + name[1:]
	whole, used := schemaName(t, ""), s.byType[t] != nil
	of := s.registry.Schema(t, false, "") // adds the schema to the registry
	if !used {
		delete(s.registry.Map(), whole)
	}
	return s.patchOf(name, of, "members to change (RFC 7396)")
}

func (s *schemaSet) patchOf(name string, of *huma.Schema, description string) *huma.Schema {
	p := *of
	p.Required = nil
	p.Description = description
	p.Properties = map[string]*huma.Schema{}
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

// hasNull reports whether null can reset a member in a merge patch. Objects are reset member by member, and enumerations by naming the
// default value.
func hasNull(member *huma.Schema) bool { return member.Ref == "" && len(member.Enum) == 0 }

// checkNulls returns a problem with the members of a merge patch of t that are null although null cannot reset them.
func (s *schemaSet) checkNulls(t reflect.Type, body []byte) error {
	var mergePatch any
	if err := json.Unmarshal(body, &mergePatch); err != nil {
		return problem.BadRequest.New("The body is not a JSON document: %v.", err)
	}
	of := s.of(t)
	s.mu.RLock()
	defer s.mu.RUnlock()
	var faults problem.Fields
	s.nulls(of, mergePatch, "", &faults)
	return problem.Check(faults)
}

func (s *schemaSet) nulls(of *huma.Schema, mergePatch any, pointer string, faults *problem.Fields) {
	if of.Ref != "" {
		of = s.registry.SchemaFromRef(of.Ref)
	}
	object, _ := mergePatch.(map[string]any)
	for name, value := range object {
		if member := of.Properties[name]; member != nil && value != nil {
			s.nulls(member, value, pointer+"/"+name, faults)
		} else if member != nil && !hasNull(member) && !slices.Contains(of.Required, name) {
			faults.Add(pointer+"/"+name, "must not be null: leave the member out")
		}
	}
}
