package reference

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// document holds the parts of an OpenAPI document that the page shows.
type document struct {
	Info struct {
		Title       string
		Version     string
		Description string
	}
	Tags  []tag
	Paths map[string]struct {
		Get, Post, Patch, Delete *operation
	}
	Components struct {
		Schemas    map[string]*schema
		Parameters map[string]*parameter
		Responses  map[string]*response
	}
}

type tag struct{ Name, Description string }

type operation struct {
	Method      string `json:"-"`
	Path        string `json:"-"`
	OperationID string
	Summary     string
	Description string
	Tags        []string
	Security    []map[string][]string
	Parameters  []*parameter
	RequestBody *body
	Responses   map[string]*response
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string
	In          string
	Description string
	Schema      *schema
	Examples    map[string]struct{ Value string }
}

type body struct {
	Description string
	Content     map[string]*content
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]*content
}

// content is a body or an answer in one media type. Examples stay JSON, so that their members keep the order of the document.
type content struct {
	Schema   *schema
	Example  json.RawMessage
	Examples map[string]struct{ Value json.RawMessage }
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 schemaType
	Description          string
	Format               string
	Default              any
	Examples             []json.RawMessage
	Enum                 []any
	Items                *schema
	AdditionalProperties values
	Properties           map[string]*schema
	AnyOf                []*schema
	Minimum, Maximum     *json.Number
	MaxLength, MaxItems  *int
	Required             []string
	ReadOnly             bool
}

// schemaType is the type of a schema. The page does not show that a value may be null.
type schemaType string

func (k *schemaType) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, (*string)(k))
	}
	var types [2]string
	err := json.Unmarshal(text, &types)
	*k = schemaType(types[0])
	return err
}

// values is the schema of additional properties of an object. It is nil if the document has true, false or nothing.
type values struct{ *schema }

func (v *values) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("{")) {
		return json.Unmarshal(text, &v.schema)
	}
	return nil
}

// parse reads a document, and replaces references of operations by the components.
func parse(text []byte) (*document, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	doc := new(document)
	if err := decoder.Decode(doc); err != nil {
		return nil, err
	}
	for path, item := range doc.Paths {
		for method, op := range map[string]*operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
		} {
			if op != nil {
				op.Method = method
				op.Path = path
				doc.resolve(op)
			}
		}
	}
	return doc, nil
}

func (d *document) resolve(op *operation) {
	for i, p := range op.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			op.Parameters[i] = d.Components.Parameters[name]
		}
	}
	for status, r := range op.Responses {
		if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
			op.Responses[status] = d.Components.Responses[name]
		}
	}
}

// first returns the example whose name sorts first.
func first[E any](examples map[string]E) (example E, ok bool) {
	names := slices.Sorted(maps.Keys(examples))
	if len(names) == 0 {
		return example, false
	}
	return examples[names[0]], true
}
