package apitest

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The members of a schema that hold schemas: one, several in a list, or several under names.
var (
	oneSchema = []string{
		"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames",
		"then", "unevaluatedItems", "unevaluatedProperties",
	}
	listedSchemas = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	namedSchemas  = []string{"$defs", "dependentSchemas", "patternProperties", "properties"}
)

// schemas visits every schema in the document once, wherever it is written.
func (d *document) schemas(visit func(node)) {
	for _, s := range d.root.get("components", "schemas").all() {
		within(s, visit)
	}
	d.carriers(func(carrier node) {
		if s := carrier.get("schema"); s.exists() {
			within(s, visit)
		}
	})
}

func within(schema node, visit func(node)) {
	visit(schema)
	members, ok := schema.value.(map[string]any)
	if !ok {
		return
	}
	at := func(member string) node {
		return node{schema.doc, schema.pointer + "/" + escape(member), members[member]}
	}
	for _, member := range oneSchema {
		if s := at(member); s.exists() {
			within(s, visit)
		}
	}
	for _, member := range slices.Concat(listedSchemas, namedSchemas) {
		for _, s := range at(member).all() {
			within(s, visit)
		}
	}
}

// carriers visits what has a schema and examples of it: parameters, headers and media types. One that
// several operations refer to is visited once.
func (d *document) carriers(visit func(node)) {
	seen := map[string]bool{}
	once := func(n node) {
		if n = n.resolved(); n.exists() && !seen[n.pointer] {
			seen[n.pointer] = true
			visit(n)
		}
	}
	each := func(list node) {
		for _, n := range list.all() {
			once(n)
		}
	}
	response := func(r node) {
		each(r.get("headers"))
		each(r.get("content"))
	}
	for o := range d.operations() {
		for _, p := range o.parameters() {
			once(p)
			each(p.get("content"))
		}
		each(o.get("requestBody", "content"))
		for _, r := range o.get("responses").all() {
			response(r.resolved())
		}
	}
	components := d.root.get("components")
	each(components.get("parameters"))
	each(components.get("headers"))
	for _, r := range components.get("responses").all() {
		response(r.resolved())
	}
	for _, b := range components.get("requestBodies").all() {
		each(b.get("content"))
	}
}

func compilation(d *document, report reporter) {
	d.schemas(func(s node) {
		if _, err := s.compile(); err != nil {
			report(s, "%v", err)
		}
	})
}

// decisive are the members of which one says what values a schema takes.
var decisive = []string{"$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf", "type"}

func schemaTypes(d *document, report reporter) {
	d.schemas(func(s node) {
		members, ok := s.value.(map[string]any)
		if !ok || strings.HasSuffix(s.pointer, "/not") || strings.HasSuffix(s.pointer, "/if") {
			return // true and false say it all, and a condition may look at one member only
		}
		has := func(member string) bool { _, ok := members[member]; return ok }
		if !slices.ContainsFunc(decisive, has) && !has("description") {
			report(s, "it has no type; where any value will do, say so in a description")
		}
		if !has("$ref") && slices.Contains(typesOf(s), "array") && !has("items") && !has("prefixItems") {
			report(s, "the array has no items")
		}
	})
}

func memberNames(d *document, report reporter) {
	d.schemas(func(s node) {
		members, _ := s.value.(map[string]any)
		properties, _ := members["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !camelCase.MatchString(name) {
				report(s, "member %q is not in lower camel case", name)
			}
		}
	})
}

func examples(d *document, report reporter) {
	against := func(schema *jsonschema.Schema, example node) {
		for _, fault := range schemaFaults(schema, example.value) {
			report(example, "%s", fault)
		}
	}
	d.schemas(func(s node) {
		members, ok := s.value.(map[string]any)
		if !ok {
			return
		}
		schema, err := s.compile()
		if err != nil {
			return // compilation reports it
		}
		at := func(member string) node { return node{d, s.pointer + "/" + member, members[member]} }
		for _, single := range []node{at("default"), at("example")} {
			if single.exists() {
				against(schema, single)
			}
		}
		for _, example := range at("examples").all() {
			against(schema, example)
		}
	})
	d.carriers(func(carrier node) {
		s := carrier.get("schema")
		if !s.exists() {
			return
		}
		schema, err := s.compile()
		if err != nil {
			return // compilation reports it
		}
		if example := carrier.get("example"); example.exists() {
			against(schema, example)
		}
		for _, example := range carrier.get("examples").all() {
			if value := example.get("value"); value.exists() {
				against(schema, value)
			}
		}
	})
}
