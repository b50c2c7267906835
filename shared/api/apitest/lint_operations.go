package apitest

import (
	"regexp"
	"slices"
	"strings"
)

var (
	camelCase     = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	queryName     = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*(\[[a-z][a-zA-Z0-9]*\])?$`)
	kebabSegment  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)?$`)
	pathParameter = regexp.MustCompile(`\{([^}]*)\}`)
)

func blank(n node) bool { return strings.TrimSpace(n.text()) == "" }

func information(d *document, report reporter) {
	info := d.root.get("info")
	for _, member := range []string{"title", "version", "description"} {
		if blank(info.get(member)) {
			report(info, "%s is missing", member)
		}
	}
	if blank(info.get("license", "name")) {
		report(info, "license.name is missing")
	}
}

func operationIDs(d *document, report reporter) {
	taken := map[string]string{}
	for o := range d.operations() {
		id := o.get("operationId").text()
		switch {
		case id == "":
			report(o.node, "operationId is missing")
		case taken[id] != "":
			report(o.node, "operationId %q is taken by %s", id, taken[id])
		case !camelCase.MatchString(id):
			report(o.node, "operationId %q is not in lower camel case", id)
		}
		taken[id] = o.name()
	}
}

func operationTexts(d *document, report reporter) {
	described := map[string]bool{}
	for _, tag := range d.root.get("tags").all() {
		name := tag.get("name").text()
		if blank(tag.get("description")) {
			report(tag, "tag %q has no description", name)
		}
		described[name] = false
	}
	for o := range d.operations() {
		for _, member := range []string{"summary", "description"} {
			if blank(o.get(member)) {
				report(o.node, "%s is missing", member)
			}
		}
		if !o.get("tags").exists() {
			report(o.node, "tags are missing")
		}
		for _, tag := range o.get("tags").all() {
			if _, ok := described[tag.text()]; !ok {
				report(tag, "tag %q is not described under tags", tag.text())
			}
			described[tag.text()] = true
		}
	}
	for _, tag := range d.root.get("tags").all() {
		if name := tag.get("name").text(); !described[name] {
			report(tag, "no operation has the tag %q", name)
		}
	}
}

func responses(d *document, report reporter) {
	for o := range d.operations() {
		var success, failure bool
		for status, r := range o.get("responses").all() {
			if blank(r.get("description")) {
				report(r, "the description is missing")
			}
			for name, header := range r.get("headers").all() {
				if blank(header.get("description")) || !header.get("schema").exists() {
					report(header, "header %q needs a description and a schema", name)
				}
			}
			if (status == "204" || status == "304") && r.get("content").exists() {
				report(r, "%s has no body, so it can have no content", status)
			}
			success = success || strings.HasPrefix(status, "2") || strings.HasPrefix(status, "3")
			failure = failure || isError(status)
		}
		if !success {
			report(o.get("responses"), "no success is declared")
		}
		if !failure {
			report(o.get("responses"), "no error is declared")
		}
	}
}

func isError(status string) bool {
	return strings.HasPrefix(status, "4") || strings.HasPrefix(status, "5") || status == "default"
}

func problemResponses(d *document, report reporter) {
	for o := range d.operations() {
		for status, r := range o.get("responses").all() {
			if !isError(status) {
				continue
			}
			if !r.get("content", problemType, "schema").exists() {
				report(r, "an error must have content of %s with a schema", problemType)
			}
			for mediaType := range r.get("content").all() {
				if mediaType != problemType {
					report(r, "an error must not be of %s", mediaType)
				}
			}
		}
	}
}

func requestBodies(d *document, report reporter) {
	for o := range d.operations() {
		body := o.get("requestBody")
		if !body.exists() {
			continue
		}
		if o.method == "GET" || o.method == "HEAD" || o.method == "DELETE" {
			report(body, "%s takes no body", o.method)
		}
		for mediaType, m := range body.get("content").all() {
			if !m.get("schema").exists() {
				report(m, "%s has no schema", mediaType)
			}
		}
	}
}

func parameterTexts(d *document, report reporter) {
	for o := range d.operations() {
		for _, p := range o.parameters() {
			name := p.get("name").text()
			if blank(p.get("description")) {
				report(p, "%s of %s has no description", name, o.name())
			}
			if !p.get("schema").exists() && !p.get("content").exists() {
				report(p, "%s of %s has no schema", name, o.name())
			}
			switch in := p.get("in").text(); {
			case in == "query" && !queryName.MatchString(name), in == "path" && !camelCase.MatchString(name):
				report(p, "%s of %s is not in lower camel case", name, o.name())
			}
		}
	}
}

func pathParameters(d *document, report reporter) {
	for o := range d.operations() {
		var inPath []string
		for _, match := range pathParameter.FindAllStringSubmatch(o.path, -1) {
			inPath = append(inPath, match[1])
		}
		for _, p := range o.parameters() {
			if p.get("in").text() != "path" {
				continue
			}
			name := p.get("name").text()
			if i := slices.Index(inPath, name); i >= 0 {
				inPath = slices.Delete(inPath, i, i+1)
			} else {
				report(p, "%s is not in the path of %s", name, o.name())
			}
		}
		for _, name := range inPath {
			report(o.node, "{%s} is not declared as a parameter", name)
		}
	}
}

func pathNames(d *document, report reporter) {
	for path, item := range d.root.get("paths").all() {
		if path == "/" {
			continue
		}
		for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
			if _, ok := parameterName(segment); !ok && !kebabSegment.MatchString(segment) {
				report(item, "segment %q is not in lower kebab case", segment)
			}
		}
	}
}

func ambiguousPaths(d *document, report reporter) {
	shapes := map[string]string{}
	for path, item := range d.root.get("paths").all() {
		shape := pathParameter.ReplaceAllString(path, "{}")
		if other, ok := shapes[shape]; ok {
			report(item, "it fits the same URLs as %s", other)
		}
		shapes[shape] = path
	}
}

func securitySchemes(d *document, report reporter) {
	lists := []node{d.root.get("security")}
	for o := range d.operations() {
		lists = append(lists, o.get("security"))
	}
	for _, list := range lists {
		for _, requirement := range list.all() {
			for scheme := range requirement.all() {
				if !d.root.get("components", "securitySchemes", scheme).exists() {
					report(requirement, "there is no security scheme %q", scheme)
				}
			}
		}
	}
}
