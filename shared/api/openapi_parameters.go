package api

import (
	"net/http"
	"strings"

	"assay/shared/lists"
	"assay/shared/page"
	"assay/shared/record"

	"github.com/danielgtaylor/huma/v2"
)

// pathParams describes the parameters of the path. names has the values of those that are names.
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

// listOf is a parameter of values that commas separate.
func listOf(name, description string, item *huma.Schema, most int) *huma.Param {
	return &huma.Param{
		Name: name, In: "query", Description: description, Style: "form", Explode: new(bool),
		Schema: &huma.Schema{Type: "array", Items: item, MinItems: ptr(1), MaxItems: &most},
	}
}

func filterParam(f page.Filter) *huma.Param {
	item, what := &huma.Schema{Type: "string"}, ""
	switch f.Type {
	case page.ID:
		item.Pattern, what = record.IDPattern, "Ids; several"
	case page.Enum:
		item.Enum, what = values(f.Values), "Any of "+strings.Join(f.Values, ", ")+"; several"
	case page.Bool:
		item.Type = "boolean"
	default:
		item.Pattern, item.MaxLength, what = "^[^,]+$", ptr(page.MaxText), "Parts of the text, whatever the case; several"
	}
	if f.Plain {
		description := "One of " + strings.Join(f.Values, ", ") + "."
		if f.Type == page.Bool {
			description = "true or false."
		}
		return &huma.Param{Name: f.Param(), In: "query", Description: description, Schema: item}
	}
	return listOf(f.Param(), what+" separated by commas mean any of them.", item, page.MaxValues)
}

func (op *Operation) queryParams() []*huma.Param {
	params := lists.Map(op.Query.Filters, filterParam)
	add := func(name, description string, s *huma.Schema) {
		params = append(params, &huma.Param{Name: name, In: "query", Description: description, Schema: s})
	}
	if op.Query.List {
		cursor := &huma.Schema{Type: "string", Pattern: record.IDPattern}
		if op.Query.Named {
			cursor.Pattern, cursor.MinLength = "", ptr(1)
		}
		add("limit", "How many resources at most; more than 200 is treated as 200.", &huma.Schema{
			Type: "integer", Minimum: ptr(1.0), Default: page.DefaultLimit})
		add("cursor", "Id of the first resource of the wanted page, as in `links.next`.", cursor)
	}
	if op.Query.Sort {
		add("sort", "`rank` for the primary measure, or the name of a measure of the dataset: the best first.", &huma.Schema{
			Type: "string", MinLength: ptr(1), MaxLength: ptr(page.MaxText)})
		add("offset", "With `sort`: how many of the list to leave out.", &huma.Schema{Type: "integer", Minimum: ptr(0.0)})
	}
	if op.variants != nil && op.Method == http.MethodGet {
		p := &huma.Param{Name: inputParam, In: "query", Required: true, Description: "What would be the body of a POST to the tool, as JSON.",
			Schema: &huma.Schema{Type: "string", MinLength: ptr(1)}}
		if example, err := Encode(op.variants[0].Example); err == nil {
			p.Examples = map[string]*huma.Example{op.variants[0].Name: {Value: strings.TrimSpace(string(example))}}
		}
		params = append(params, p)
	}
	if fields := op.Query.Fields; len(fields) > 0 {
		about := "Names of members, separated by commas: each resource has only these, and lacks the others even where its schema requires " +
			"them. One of: " + strings.Join(fields, ", ") + "."
		p := listOf("fields", about, &huma.Schema{Type: "string", Enum: values(fields)}, len(fields))
		p.Schema.MaxItems = nil // the same name twice is once
		params = append(params, p)
	}
	return params
}

func ptr[T any](v T) *T { return &v }

func (op *Operation) headerParams() []*huma.Param {
	header := func(name, description string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: description, Schema: &huma.Schema{Type: "string"}}
	}
	switch op.Method {
	case http.MethodGet:
		if op.hasETag() {
			return []*huma.Param{header("If-None-Match", "Entity tags that the caller has; the answer is 304 when one is still right.")}
		}
	case http.MethodPost:
		if op.safe {
			return nil
		}
		key := header(idempotencyHeader, "Makes the request safe to repeat: the same key and body give the first answer again for 24 hours.")
		key.Schema.Pattern, key.Schema.MaxLength = "^[!-+--~]+$", ptr(maxIdempotencyKey) // visible ASCII but the comma
		return []*huma.Param{key}
	case http.MethodPatch, http.MethodDelete:
		return []*huma.Param{header("If-Match", "Entity tag that the resource must still have.")}
	}
	return nil
}
