package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// parameter is a value that travels as text: in a path, a query or a header.
type parameter struct {
	name, in, style   string
	required, explode bool
	form              form
	schema            *jsonschema.Schema // nil when none is declared
}

// form is as much of a schema as is needed to read text as the JSON value that it stands for.
type form struct {
	types   []string
	items   *form
	members map[string]*form
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
		p.form = formOf(s, 0)
		var err error
		if p.schema, err = s.compile(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// deepest is how far into a schema the form of a parameter reaches: an object of arrays of scalars.
const deepest = 3

func formOf(schema node, depth int) form {
	out := form{types: typesOf(schema)}
	if depth == deepest {
		return out
	}
	if items := schema.get("items"); items.exists() {
		f := formOf(items, depth+1)
		out.items = &f
	}
	for name, member := range schema.get("properties").all() {
		if out.members == nil {
			out.members = map[string]*form{}
		}
		f := formOf(member, depth+1)
		out.members[name] = &f
	}
	return out
}

// typesOf returns the JSON types that a schema names itself, as one or as a list.
func typesOf(schema node) []string {
	declared := schema.get("type")
	if one := declared.text(); one != "" {
		return []string{one}
	}
	var out []string
	for _, one := range declared.all() {
		out = append(out, one.text())
	}
	return out
}

// value reads the texts of a parameter; commas separate the elements of an array when they do not come one by one.
func (f form) value(texts []string, separated bool) any {
	if !slices.Contains(f.types, "array") {
		return f.scalar(texts[0])
	}
	if separated {
		texts = strings.Split(strings.Join(texts, ","), ",")
	}
	element := form{}
	if f.items != nil {
		element = *f.items
	}
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = element.scalar(strings.TrimSpace(text))
	}
	return out
}

func (f form) scalar(text string) any {
	for _, name := range f.types {
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

// parameterFaults checks the parameters of a request that the server took.
func (o *operation) parameterFaults(r *http.Request, path map[string]string) []string {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return []string{"the server took a query that cannot be read: " + err.Error()}
	}
	var faults []string
	for _, p := range o.parameters {
		value, found := p.read(r.Header, path, query)
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

// read finds the parameter in a request. What it takes from the query it removes there.
func (p parameter) read(header http.Header, path map[string]string, query url.Values) (any, bool) {
	switch p.in {
	case "path":
		text, ok := path[p.name]
		return p.form.value([]string{text}, true), ok
	case "header":
		texts := header.Values(p.name)
		if len(texts) == 0 {
			return nil, false
		}
		return p.form.value(texts, true), true
	case "query":
		if p.style == "deepObject" {
			return p.readObject(query)
		}
		texts := query[p.name]
		delete(query, p.name)
		if len(texts) == 0 {
			return nil, false
		}
		return p.form.value(texts, !p.explode), true
	}
	return nil, false
}

// readObject reads name[member]=text for each member.
func (p parameter) readObject(query url.Values) (any, bool) {
	object := map[string]any{}
	for key, texts := range query {
		member, ok := strings.CutPrefix(key, p.name+"[")
		if !ok || !strings.HasSuffix(member, "]") {
			continue
		}
		member = strings.TrimSuffix(member, "]")
		shape := p.form.members[member]
		if shape == nil {
			shape = &form{}
		}
		object[member] = shape.value(texts, true)
		delete(query, key)
	}
	return object, len(object) > 0
}
