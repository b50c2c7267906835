// Package reference renders an OpenAPI document as a page. Package service serves the page.
package reference

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/a-h/templ"
)

// The go:generate directive of package service, the parent folder, writes the Go files of the templates here.

// Page returns the page of an OpenAPI document. Each rendering parses the document.
func Page(text []byte) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		doc, err := parse(text)
		if err != nil {
			return err
		}
		return referencePage(newReference(doc)).Render(ctx, w)
	})
}

// reference is the data of the page.
type reference struct {
	*document
	sections        []*section
	bodies, answers map[string]bool // schemas of request bodies, and schemas of answers or of the resources on pages
	failures        []string        // statuses of problems that every operation can answer
}

// section holds the operations of one tag.
type section struct {
	Name, About string
	Operations  []*operation
}

var methodOrder = []string{"GET", "POST", "PATCH", "DELETE"}

func newReference(doc *document) *reference {
	byTag := map[string]*section{}
	r := &reference{document: doc, bodies: map[string]bool{}, answers: map[string]bool{}}
	for _, t := range doc.Tags {
		s := &section{Name: t.Name, About: t.Description}
		byTag[t.Name] = s
		r.sections = append(r.sections, s)
	}
	for _, item := range doc.Paths {
		for _, op := range []*operation{item.Get, item.Post, item.Patch, item.Delete} {
			if op != nil {
				s := byTag[op.Tags[0]]
				if r.failures == nil {
					r.failures = failures(op)
				}
				r.failures = slices.DeleteFunc(r.failures, func(status string) bool { return op.Responses[status] == nil })
				s.Operations = append(s.Operations, op)
				r.note(op)
			}
		}
	}
	for name := range r.answers {
		delete(r.bodies, name)
	}
	for _, s := range r.sections {
		slices.SortFunc(s.Operations, func(a, b *operation) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), slices.Index(methodOrder, a.Method)-slices.Index(methodOrder, b.Method))
		})
	}
	return r
}

// schemas lists the names of the schemas in the section of schemas. Schemas of bodies are described with their operations. Schemas of pages
// are left out, because all have the same members.
func (r *reference) schemas() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Components.Schemas)) {
		if r.pageOf(name) == nil && !r.bodies[name] {
			all = append(all, name)
		}
	}
	return all
}

// pageOf returns the schema of the resources on a page, or nil if the named schema is no page.
func (r *reference) pageOf(name string) *schema {
	s := r.Components.Schemas[name]
	if s != nil && strings.HasPrefix(name, "Page") && s.Properties["data"] != nil && s.Properties["links"] != nil {
		return s.Properties["data"].Items
	}
	return nil
}

// note records the schemas of the operation's bodies and answers.
func (r *reference) note(op *operation) {
	if op.RequestBody != nil {
		for _, m := range op.RequestBody.Content {
			if m.Schema != nil && m.Schema.Ref != "" {
				r.bodies[named(m.Schema)] = true
			}
		}
	}
	for _, status := range successes(op) {
		for _, m := range op.Responses[status].Content {
			name := named(m.Schema)
			if items := r.pageOf(name); items != nil {
				name = named(items)
			}
			r.answers[name] = true
		}
	}
}

func (r *reference) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = r.Components.Schemas[strings.TrimPrefix(s.Ref, schemaPrefix)]
	}
	return s
}

const schemaPrefix = "#/components/schemas/"

// named returns the name of the schema, or of the items of a list or a map. It is empty if the schema has no name.
func named(s *schema) string {
	for s != nil {
		if name, ok := strings.CutPrefix(s.Ref, schemaPrefix); ok {
			return name
		}
		if s.Items == nil {
			s = s.AdditionalProperties.schema
			continue
		}
		s = s.Items
	}
	return ""
}

// schemaKind returns the words before a named schema, such as "list of", or the type of a schema without a name.
func schemaKind(s *schema) string {
	switch {
	case s == nil:
		return "any value"
	case s.Ref != "":
		return ""
	case s.Type == "array":
		return strings.TrimSpace("list of " + schemaKind(s.Items))
	case s.Type == "object":
		if values := s.AdditionalProperties.schema; values != nil {
			return strings.TrimSpace("map of " + schemaKind(values))
		}
		return "object"
	case s.Format == "date-time":
		return "instant"
	case s.Type == "":
		return "any value"
	default:
		return string(s.Type)
	}
}

// memberDescription returns the description, default and bounds of a member.
func memberDescription(s *schema) string {
	var all []string
	if s.Description != "" {
		all = append(all, strings.ToUpper(s.Description[:1])+s.Description[1:]+".")
	}
	if len(s.Enum) > 0 {
		values := lists.Map(s.Enum, func(v any) string { return fmt.Sprintf("`%v`", v) })
		all = append(all, "One of "+strings.Join(values, ", ")+".")
	}
	if s.Default != nil {
		all = append(all, fmt.Sprintf("Default: `%v`.", s.Default))
	}
	return strings.Join(append(all, bounds(s)...), " ")
}

func bounds(s *schema) []string {
	var all []string
	if s.MaxLength != nil {
		all = append(all, fmt.Sprintf("At most %d characters.", *s.MaxLength))
	}
	if s.MaxItems != nil {
		all = append(all, fmt.Sprintf("At most %d.", *s.MaxItems))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		all = append(all, fmt.Sprintf("From %s to %s.", *s.Minimum, *s.Maximum))
	case s.Minimum != nil:
		all = append(all, fmt.Sprintf("From %s.", *s.Minimum))
	case s.Maximum != nil:
		all = append(all, fmt.Sprintf("Up to %s.", *s.Maximum))
	}
	return all
}

// presence returns the note about a member: read-only, required in bodies, or always present in answers.
func presence(s *schema, member string, written bool) string {
	switch {
	case s.Properties[member].ReadOnly:
		return "read-only"
	case !slices.Contains(s.Required, member):
		return ""
	case written:
		return "required"
	default:
		return "always"
	}
}

// convention is a parameter with the same meaning in all operations.
type convention struct{ name, about string }

var conventions = []convention{
	{"limit", "Largest number of resources on a page of a list: 50 by default, at most 200."},
	{"cursor", "Start of a page of a list. Follow `links.next`, which contains it, until the link is absent. An empty page is 204, without a body."},
	{"sort", "`rank` for the first column of the dataset, or the name of a measure of it: the best first, and runs without a value last, without " +
		"a rank. Then `offset` pages, not `cursor`."},
	{"offset", "With `sort`: number of resources to skip."},
	{"fields", "Names of members, separated by commas: each resource has only these members."},
	{"If-None-Match", "Entity tags of answers that you have, from `ETag`. The answer is 304, without a body, if one of them is current. " +
		"With methods other than GET, or with `*`, the answer is 412 if one is current or the resource exists."},
	{"If-Match", "The entity tag that the resource must still have, with every method. The answer is 412 if somebody changed it meanwhile."},
	{"Accept-Encoding", "With `gzip`, answers of more than 1 KiB are compressed. Each has its own `ETag`."},
	{"Content-Encoding", "`gzip` for a compressed body. The limits apply to the decompressed body. Other codings are answered with 415."},
	{"Idempotency-Key", "Makes a POST safe to repeat: for 24 hours, the same key and body return the first answer again."},
}

func isConvention(p *parameter) bool {
	return slices.ContainsFunc(conventions, func(c convention) bool { return c.name == p.Name })
}

// successes lists the statuses of an operation's successful answers.
func successes(op *operation) []string {
	return statuses(op, func(s string) bool { return s < "400" })
}

func failures(op *operation) []string {
	return statuses(op, func(s string) bool { return s >= "400" })
}

// ownFailures lists the statuses of an operation's problems that not all operations have.
func (r *reference) ownFailures(op *operation) []string {
	return slices.DeleteFunc(failures(op), func(s string) bool { return slices.Contains(r.failures, s) })
}

func statuses(op *operation, keep func(string) bool) []string {
	all := slices.Sorted(maps.Keys(op.Responses))
	return slices.DeleteFunc(all, func(s string) bool { return !keep(s) })
}

// kinds lists the kinds of problems by status.
func kinds() []*problem.Kind {
	return slices.SortedStableFunc(slices.Values(problem.Kinds), func(a, b *problem.Kind) int { return a.Status - b.Status })
}

const mediaJSON = "application/json"
