package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"assay/shared/domain/patch"
)

// command returns a shell command that calls an operation. The shell must have ASSAY_URL, the server's URL, ASSAY_TOKEN, a token, and a
// variable for each parameter of the path.
func (r *reference) command(op *operation) string {
	line := "curl -s"
	if op.Method == http.MethodPatch || op.Method == http.MethodDelete {
		line += " -X " + op.Method
	}
	if len(op.Security) == 1 { // A token is required; otherwise an empty second requirement makes it optional.
		line += ` -H "Authorization: Bearer $ASSAY_TOKEN"`
	}
	path, choice := op.Path, ""
	for _, p := range op.Parameters {
		if e, ok := first(p.Examples); ok {
			line += fmt.Sprintf(" -G --data-urlencode '%s=%s' \\\n ", p.Name, strings.ReplaceAll(e.Value, "'", `\u0027`))
		}
		if p.In == "path" && len(p.Schema.Enum) > 0 {
			choice = p.Schema.Enum[0].(string) // The query has the example of this value.
			path = strings.ReplaceAll(path, "{"+p.Name+"}", choice)
		}
	}
	if op.RequestBody != nil {
		if m, ok := op.RequestBody.Content[mediaJSON]; ok {
			line += " --json '" + quoted(r.exampleOf(m, choice)) + "'"
		} else {
			line += " -H 'Content-Type: " + patch.MergePatch + "' -d '" + quoted(r.change(op)) + "'"
		}
		line += " \\\n "
	}
	return line + ` "$ASSAY_URL` + pathParameters.ReplaceAllStringFunc(path, variable) + `"`
}

var pathParameters = regexp.MustCompile(`\{\w+\}`)

// variable returns the shell variable for a parameter of a path: {taskId} becomes $TASK_ID.
func variable(parameter string) string {
	b := []rune{'$'}
	for _, c := range strings.Trim(parameter, "{}") {
		if unicode.IsUpper(c) {
			b = append(b, '_')
		}
		b = append(b, unicode.ToUpper(c))
	}
	return string(b)
}

// quoted returns a value as JSON that can stand between apostrophes in a shell.
func quoted(v any) string { return strings.ReplaceAll(indented(v), "'", `\u0027`) }

// indented returns a value as indented JSON.
func indented(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// exampleOf returns the document's example of a body. If there are several, it returns the chosen one. If there is none, it makes an
// example from the schema.
func (r *reference) exampleOf(m *content, choice string) any {
	if m.Example != nil {
		return m.Example
	}
	if e, ok := m.Examples[choice]; ok {
		return e.Value
	}
	if e, ok := first(m.Examples); ok && choice == "" {
		return e.Value
	}
	return r.example("", m.Schema, true, 0)
}

// changed lists the members that people change most often. A patch has one of them as example.
var changed = []string{"published", "label", "name", "title", "team"}

// change returns an example of a merge patch for the operation. It is empty if no member can be written.
func (r *reference) change(op *operation) map[string]any {
	s := r.resolve(op.RequestBody.Content[patch.MergePatch].Schema)
	for _, name := range changed {
		if p, ok := s.Properties[name]; ok {
			return map[string]any{name: r.example(name, p, true, 0)}
		}
	}
	return map[string]any{}
}

// deepest is the number of levels in an example. Deeper values are left out.
const deepest = 4

// example returns a value of the schema: the example in the schema, or a simple one. The name is the name of the member. If the value is
// written by clients, objects have only members that are required or have an example, and no read-only members.
func (r *reference) example(name string, s *schema, written bool, depth int) any {
	if s == nil || depth > deepest {
		return nil
	}
	if s.Ref != "" {
		return r.example(name, r.resolve(s), written, depth)
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case "object":
		return r.object(s, written, depth)
	case "array":
		if item := r.example(name, s.Items, written, depth+1); item != nil {
			return []any{item}
		}
		return []any{}
	case "boolean":
		return true
	case "integer":
		return 1
	case "number":
		return 0.5
	case "string":
		return text(name, s)
	}
	return nil
}

func (r *reference) object(s *schema, written bool, depth int) map[string]any {
	members := map[string]any{}
	if values := s.AdditionalProperties.schema; values != nil {
		members["name"] = r.example("", values, written, depth+1)
	}
	for name, p := range s.Properties {
		if written && (p.ReadOnly || !slices.Contains(s.Required, name) && len(p.Examples) == 0) {
			continue
		}
		if v := r.example(name, p, written, depth+1); v != nil {
			members[name] = v
		}
	}
	return members
}

// text returns a string that describes the value of a member.
func text(name string, s *schema) string {
	switch {
	case s.Format == "date-time":
		return "2027-01-31T12:00:00.000Z"
	case name == "id", strings.HasSuffix(name, "Id"), strings.HasSuffix(name, "Ids"), name == "members":
		return "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"
	case strings.HasSuffix(strings.ToLower(name), "url"), name == "website", name == "self", name == "next":
		return "https://www.example.org/"
	case name == "":
		return "text"
	default:
		return "the " + name
	}
}
