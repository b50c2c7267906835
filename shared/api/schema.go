package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/shared/problem"
	"assay/shared/record"

	"github.com/danielgtaylor/huma/v2"
)

// schemaSet makes the schemas of Go types and validates documents against them.
type schemaSet struct {
	mu       sync.RWMutex
	registry huma.Registry
	byType   map[reflect.Type]*huma.Schema
}

var schemas = newSchemaSet()

func init() { huma.ValidateStrictCasing = true } // JSON member names differ by case

func newSchemaSet() *schemaSet {
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	r.RegisterTypeAlias(reflect.TypeFor[record.Instant](), reflect.TypeFor[time.Time]())
	return &schemaSet{registry: r, byType: map[reflect.Type]*huma.Schema{}}
}

// of returns the schema of a type, a reference for a named struct.
func (s *schemaSet) of(t reflect.Type) *huma.Schema {
	s.mu.RLock()
	known := s.byType[t]
	s.mu.RUnlock()
	if known != nil {
		return known
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byType[t] == nil {
		s.byType[t] = s.registry.Schema(t, true, t.Name())
	}
	return s.byType[t]
}

// validate reports, as one problem, everything in which a JSON document is not of the type.
func (s *schemaSet) validate(t reflect.Type, document []byte) error {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return problem.BadRequest.New("The body is not a JSON document: %v.", err)
	}
	schema := s.of(t)
	s.mu.RLock() // following a reference reads what of writes
	defer s.mu.RUnlock()
	fields := s.unknown(schema, v, "")
	slices.SortFunc(fields, func(a, b problem.Field) int { return strings.Compare(a.Pointer, b.Pointer) })
	res := &huma.ValidateResult{}
	huma.Validate(s.registry, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, v, res)
	for _, err := range res.Errors {
		f := problem.Field{Detail: err.Error()}
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			f = problem.Field{Pointer: toPointer(d.Location), Detail: d.Message}
		}
		fields = append(fields, f)
	}
	return problem.Check(fields)
}

// unknown takes out of a value, and names, the members that its schema does not have. It is done before huma validates,
// whose locations tell no dot or bracket in the name of such a member from its own.
func (s *schemaSet) unknown(schema *huma.Schema, v any, pointer string) []problem.Field {
	for schema != nil && schema.Ref != "" {
		schema = s.registry.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		return nil
	}
	var fields []problem.Field
	switch v := v.(type) {
	case map[string]any:
		closed := schema.AdditionalProperties == false //nolint:revive // it is an any: a schema or a bool
		for name, member := range v {
			p := pointer + "/" + escapePointer.Replace(name)
			if known, ok := schema.Properties[name]; ok {
				fields = append(fields, s.unknown(known, member, p)...)
			} else if closed {
				delete(v, name)
				fields = append(fields, problem.Field{Pointer: p, Detail: "is not a member that can be written here"})
			}
		}
	case []any:
		for i, item := range v {
			fields = append(fields, s.unknown(schema.Items, item, fmt.Sprintf("%s/%d", pointer, i))...)
		}
	}
	return fields
}

// escapePointer writes a name as a token of a JSON Pointer (RFC 6901).
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// toPointer turns huma's location of a value (files[0].name) into a JSON Pointer (/files/0/name).
func toPointer(location string) string {
	if location == "" {
		return ""
	}
	return "/" + strings.NewReplacer("[", "/", "]", "", ".", "/").Replace(location)
}

// maxDepth is how deep a JSON document may be nested for encoding/json to read it.
const maxDepth = 10_000

// checkNames refuses a JSON document in which an object has two members of one name. RFC 8259 leaves open what it means,
// and what is validated must be what is done. Whatever else is wrong with the document is left to be found by its reader.
func checkNames(document []byte) error {
	type object struct {
		names map[string]bool // nil in an array
		value bool            // the next token is a value, not a name
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var open []object
	for len(open) <= maxDepth {
		token, err := d.Token()
		if err != nil {
			return nil //nolint:nilerr // the end, or what is reported when the document is decoded
		}
		in := len(open) - 1
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:in]
			continue
		}
		if in >= 0 && open[in].names != nil {
			if open[in].value = !open[in].value; open[in].value {
				name, _ := token.(string)
				if open[in].names[name] {
					return problem.BadRequest.New("An object of the body has two members with the name %.100q: keep one of them.", name)
				}
				open[in].names[name] = true
				continue
			}
		}
		switch token {
		case json.Delim('{'):
			open = append(open, object{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, object{})
		}
	}
	return nil
}

// JSONSchema is the schema of a type as a document of its own (JSON Schema 2020-12).
func JSONSchema(t reflect.Type) (json.RawMessage, error) {
	const definitions = "$defs"
	r := huma.NewMapRegistry("#/"+definitions+"/", huma.DefaultSchemaNamer)
	r.RegisterTypeAlias(reflect.TypeFor[record.Instant](), reflect.TypeFor[time.Time]())
	root, err := json.Marshal(r.Schema(t, false, t.Name()))
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(root, &document); err != nil {
		return nil, err
	}
	document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	if all := r.Map(); len(all) > 0 {
		document[definitions] = all
	}
	return json.Marshal(document)
}
