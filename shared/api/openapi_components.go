package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"
)

const (
	components   = "#/components/"
	schemaPrefix = components + "schemas/"
)

// shareComponents moves what several operations use into the components of the document: headers, problems, answers without a body,
// and the parameters that are described alike wherever they stand.
func shareComponents(doc *huma.OpenAPI) {
	c := doc.Components
	c.Parameters, c.Headers, c.Responses = map[string]*huma.Param{}, map[string]*huma.Param{}, map[string]*huma.Response{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range operationsOf(doc.Paths[path]) {
			for i, p := range op.Parameters {
				if p.Name != "fields" && p.Name != inputParam && (p.Schema.Items == nil || p.Schema.Items.Enum == nil) {
					op.Parameters[i] = &huma.Param{
						Ref: componentReference(c.Parameters, "parameters", p.In+"-"+strings.NewReplacer("[", "-", "]", "").Replace(p.Name), p)}
				}
			}
			for status, r := range op.Responses {
				for name, h := range r.Headers {
					r.Headers[name] = &huma.Param{Ref: componentReference(c.Headers, "headers", name, h)}
				}
				if status < "400" && len(r.Content) > 0 || status == "201" {
					continue
				}
				code, _ := strconv.Atoi(status)
				name := strings.ToLower(op.Method + "-" + strings.ReplaceAll(http.StatusText(code), " ", "-"))
				for _, content := range r.Content {
					name = strings.Join(slices.Sorted(maps.Keys(content.Examples)), "-or-")
				}
				op.Responses[status] = &huma.Response{Ref: componentReference(c.Responses, "responses", name, r)}
			}
		}
	}
}

func operationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Patch, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

// componentReference returns the reference to a component: one of the name, or, when another has that, of a longer one.
func componentReference[T any](all map[string]*T, kind, name string, component *T) string {
	text := func(v *T) string { b, _ := json.Marshal(v); return string(b) } //nolint:errchkjson // a part of a document
	for all[name] != nil && text(all[name]) != text(component) {
		name += "-other"
	}
	all[name] = component
	return components + kind + "/" + name
}

// patchBodies finds the two bodies of a PATCH in a document as JSON, whose members stand by name.
var patchBodies = regexp.MustCompile(
	`("application/json-patch\+json":\{[^{}]*\{[^{}]*\}\}),("application/merge-patch\+json":\{[^{}]*\{[^{}]*\}\})`)

// DocumentJSON renders the document of the groups as JSON. Merge patches stand first: a client that knows one kind of patch
// knows the first, and that one has members with types.
func DocumentJSON(groups []Family) ([]byte, error) {
	doc := OpenAPI(groups)
	shareComponents(doc)
	text, err := json.Marshal(doc)
	return patchBodies.ReplaceAll(text, []byte("$2,$1")), err
}

// DocumentYAML renders the document of the groups as YAML.
func DocumentYAML(groups []Family) ([]byte, error) {
	text, err := DocumentJSON(groups)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = yaml.Convert(&b, bytes.NewReader(text))
	return b.Bytes(), err
}
