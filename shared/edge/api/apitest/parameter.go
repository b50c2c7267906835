package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"assay/shared/language/lists"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// parameter is a value in a path, a query or a header.
type parameter struct {
	name, in, style   string
	required, explode bool
	schema            *jsonschema.Schema // nil when none is declared
}

func compileParameter(n node, name string) (parameter, error) {
	p := parameter{
		name:     name,
		in:       n.get("in").text(),
		style:    n.get("style").text(),
		required: n.get("required").isTrue(),
		explode:  true,
	}
	if explode := n.get("explode"); explode.exists() {
		p.explode = explode.isTrue()
	}
	if s := n.get("schema"); s.exists() {
		var err error
		if p.schema, err = s.compile(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// dereference follows the references of a schema. A nil schema accepts everything.
func dereference(s *jsonschema.Schema) *jsonschema.Schema {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}
	return s
}

// typesOf returns the JSON types that a schema names.
func typesOf(s *jsonschema.Schema) []string {
	s = dereference(s)
	if s == nil || s.Types == nil {
		return nil
	}
	return s.Types.ToStrings()
}

// decode converts the texts of a parameter to the JSON value that the schema declares. separated says that commas separate the elements of
// an array; otherwise each text is an element.
func decode(s *jsonschema.Schema, texts []string, separated bool) any {
	if !slices.Contains(typesOf(s), "array") {
		return decodeScalar(s, texts[0])
	}
	if separated {
		texts = strings.Split(strings.Join(texts, ","), ",")
	}
	items := dereference(s).Items2020
	return lists.Map(texts, func(text string) any { return decodeScalar(items, strings.TrimSpace(text)) })
}

func decodeScalar(s *jsonschema.Schema, text string) any {
	for _, name := range typesOf(s) {
		switch {
		case (name == "integer" || name == "number") && json.Valid([]byte(text)):
			return json.Number(text)
		case name == "boolean" && (text == "true" || text == "false"):
			return text == "true"
		}
	}
	return text
}

// faults checks a value against the parameter's schema.
func (p parameter) faults(value any) []string {
	if p.schema == nil {
		return nil
	}
	return prefixed(fmt.Sprintf("%s %q: ", p.kind(), p.name), schemaFaults(p.schema, value))
}

func (p parameter) kind() string {
	if p.in == "" {
		return "header"
	}
	return p.in + " parameter"
}

// parameterFaults checks the parameters of a request that the server accepted.
func (o *operation) parameterFaults(r *http.Request) []string {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return []string{"the server took a query that cannot be read: " + err.Error()}
	}
	var faults []string
	for _, p := range o.parameters {
		value, found := p.read(r, query)
		switch {
		case found:
			faults = append(faults, p.faults(value)...)
		case p.required:
			faults = append(faults, fmt.Sprintf("the server took a request without the required %s %q", p.kind(), p.name))
		}
	}
	for name := range query {
		faults = append(faults, fmt.Sprintf("the server took the query parameter %q, which is not declared", name))
	}
	slices.Sort(faults)
	return faults
}

// read finds the parameter in a request. It removes the parameter from query.
func (p parameter) read(r *http.Request, query url.Values) (any, bool) {
	switch p.in {
	case "path":
		return decode(p.schema, []string{r.PathValue(p.name)}, true), r.PathValue(p.name) != ""
	case "header":
		texts := r.Header.Values(p.name)
		if len(texts) == 0 {
			return nil, false
		}
		return decode(p.schema, texts, true), true
	case "query":
		if p.style == "deepObject" {
			return p.readObject(query)
		}
		texts := query[p.name]
		delete(query, p.name)
		if len(texts) == 0 {
			return nil, false
		}
		return decode(p.schema, texts, !p.explode), true
	}
	return nil, false
}

// readObject reads name[member]=text for each member.
func (p parameter) readObject(query url.Values) (any, bool) {
	object := map[string]any{}
	for key, texts := range query {
		member, opened := strings.CutPrefix(key, p.name+"[")
		member, closed := strings.CutSuffix(member, "]")
		if !opened || !closed {
			continue
		}
		var schema *jsonschema.Schema
		if declared := dereference(p.schema); declared != nil {
			schema = declared.Properties[member]
		}
		object[member] = decode(schema, texts, true)
		delete(query, key)
	}
	return object, len(object) > 0
}
