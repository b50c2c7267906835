package apitest

import (
	"strconv"
	"strings"
)

func references(d *document, report reporter) {
	referencesIn(d.root, func(from node, reference string) {
		if !d.find(reference).exists() {
			report(from, "$ref %q leads nowhere within the document", reference)
		}
	})
}

// unusedComponents goes from the paths along all references; components that refer to each other alone are unused too.
func unusedComponents(d *document, report reporter) {
	used := map[string]bool{}
	var follow func(node)
	follow = func(n node) {
		referencesIn(n, func(_ node, reference string) {
			component := componentOf(reference)
			if component == "" || used[component] {
				return
			}
			used[component] = true
			follow(d.find(component))
		})
	}
	follow(d.root.get("paths"))
	follow(d.root.get("webhooks"))
	use := func(requirements node) {
		for _, requirement := range requirements.all() {
			for scheme := range requirement.all() {
				used["#/components/securitySchemes/"+escape(scheme)] = true
			}
		}
	}
	use(d.root.get("security"))
	for o := range d.operations() {
		use(o.get("security"))
	}
	for kind, group := range d.root.get("components").all() {
		for name, component := range group.all() {
			if !used["#/components/"+kind+"/"+escape(name)] {
				report(component, "nothing refers to it")
			}
		}
	}
}

// componentOf returns the component that a reference into it or to it uses.
func componentOf(reference string) string {
	tokens := strings.Split(reference, "/")
	if len(tokens) < 4 || tokens[0] != "#" || tokens[1] != "components" {
		return ""
	}
	return strings.Join(tokens[:4], "/")
}

// referencesIn visits every $ref below a node.
func referencesIn(n node, visit func(from node, reference string)) {
	switch value := n.value.(type) {
	case map[string]any:
		if reference, ok := value["$ref"].(string); ok {
			visit(n, reference)
		}
		for member, below := range value {
			referencesIn(node{n.doc, n.pointer + "/" + escape(member), below}, visit)
		}
	case []any:
		for i, below := range value {
			referencesIn(node{n.doc, n.pointer + "/" + strconv.Itoa(i), below}, visit)
		}
	}
}
