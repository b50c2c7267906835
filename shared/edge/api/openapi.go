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

	"assay/shared/language/lists"

	"github.com/danielgtaylor/huma/v2"
)

// Family is a group of operations on related resources.
type Family struct {
	Name       string
	About      string
	Operations []Operation
}

// APIVersion is the version of the API in its paths.
const APIVersion = "v1"

// OpenAPI describes the operations of the groups in OpenAPI 3.1.
func OpenAPI(groups []Family) *huma.OpenAPI {
	set := newSchemaSet()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Assay", Version: Version,
			Description: "A platform for shared tasks: organizers publish tasks and datasets whose truth stays hidden, participants submit, the " +
				"platform evaluates every run, and leaderboards come out.\n\n" +
				"Lists are newest first and continue at `links.next`; an empty page is 204, without a body. With `fields`, answers contain only the " +
				"named members, even if others are required. " +
				"Callers with a login see their own changes in single resources at once. Lists, and all answers to callers without a login, may be " +
				"about a second old. " +
				"Every POST and PATCH that changes something has a preview. With `preview=true` it changes nothing, shows the answer to the " +
				"change and its effects, and is refused whenever the change would be. Tools and DELETEs have none. " +
				"Conditions (`If-Match`, `If-None-Match`) apply to every method as RFC 9110 defines. Answers of more than 1 KiB are compressed " +
				"with gzip, under an `ETag` of their own, for callers whose `Accept-Encoding` names it. " +
				"Request bodies may be compressed too (`Content-Encoding: gzip`). " +
				"Every error is a problem document (RFC 9457) whose `detail` says what to do next. Its `parts` " +
				"are the same sentence with types, such as instants, members and operations, for clients that say them in their own words. " +
				"Callers who prefer `text/html` to JSON, such as browsers, get a page for any GET and any error, even if the operation does not list " +
				"it. Malformed HTTP requests, header fields far beyond the limit, and expectations other than `100-continue` are refused with " +
				"400, 431 or 417 before the request is read, and without a problem document. " +
				"On AWS, a gateway answers 429, 413 and 503 itself when a limit is exceeded, with JSON that contains only a `message`. " +
				"Repeat requests that got 429 or 503, after `Retry-After` or growing pauses.",
			Contact: &huma.Contact{Name: "The operators of this server"},
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "this server"}},
		Paths:   map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: set.registry,
			SecuritySchemes: map[string]*huma.SecurityScheme{"token": {
				Type: "http", Scheme: "bearer", Description: "A token of the OpenID Connect issuer that `GET /info` names, or an access token that " +
					"its user created with `POST /v1/user/tokens`.",
			}},
		},
	}
	names := map[string][]string{}
	for _, g := range groups {
		for _, op := range g.Operations {
			if p := op.variantParam(); len(op.variants) > len(names[p]) {
				names[p] = lists.Map(op.variants, func(v Variant) string { return v.Name })
			}
		}
	}
	for _, g := range groups {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: g.Name, Description: g.About})
		for _, op := range g.Operations {
			doc.AddOperation(op.describe(set, g.Name, names))
		}
		for _, op := range g.Operations {
			for _, v := range op.variants {
				if op.safe {
					for _, one := range variantOperations(g.Operations, op.Path, v) {
						doc.AddOperation(one.describe(set, g.Name, nil))
					}
				}
			}
		}
	}
	addPatterns(set.registry)
	return doc
}

// variantOperations returns the operations at the path for one variant. The name of the variant replaces the parameter in their paths.
func variantOperations(all []Operation, path string, v Variant) []Operation {
	var own []Operation
	for _, op := range all {
		if op.Path != path {
			continue
		}
		param := op.variantParam()
		if op.computes() {
			op.variants = []Variant{v}
			op.Summary = v.Summary
			op.Media = append([]string{mediaJSON}, v.Media...)
		}
		op.Path = strings.ReplaceAll(path, "{"+param+"}", v.Name)
		op.ID = strings.ReplaceAll(op.ID, strings.ToUpper(param[:1])+param[1:], strings.ToUpper(v.Name[:1])+v.Name[1:])
		own = append(own, op)
	}
	return own
}

// variantParam returns the name of the path parameter that names a variant; empty: the path has none.
func (op *Operation) variantParam() string {
	for _, m := range pathParams.FindAllStringSubmatch(op.Path, -1) {
		if !strings.HasSuffix(m[1], "Id") {
			return m[1]
		}
	}
	return ""
}

var pathParams = regexp.MustCompile(`\{([A-Za-z]+)\}`)

// describe returns the operation's part of the document. names lists the values of those path parameters that are names, by parameter.
func (op *Operation) describe(set *schemaSet, tag string, names map[string][]string) *huma.Operation {
	d := &huma.Operation{
		Method: op.Method, Path: strings.TrimSuffix(op.Path, "{$}"), OperationID: op.ID, Tags: []string{tag},
		Summary:     op.Summary,
		Description: op.Description + "\n\nAllowed callers: " + op.May.String() + ". Access tokens: " + op.TokenScope().String() + ".",
		Responses:   map[string]*huma.Response{},
	}
	if !op.loginNeeded() {
		d.Security = []map[string][]string{{}, {"token": {}}}
	} else {
		d.Security = []map[string][]string{{"token": {}}}
	}
	d.Parameters = append(op.pathParams(names), append(op.queryParams(), op.headerParams()...)...)
	op.describeBody(set, d)
	op.describeAnswers(set, d)
	return d
}

const (
	components   = "#/components/"
	schemaPrefix = components + "schemas/"
)

// shareComponents moves what several operations have in common into the components of the document: headers, problems, answers without a
// body, and the parameters whose description does not depend on the operation.
func shareComponents(doc *huma.OpenAPI) {
	c := doc.Components
	c.Parameters = map[string]*huma.Param{}
	c.Headers = map[string]*huma.Param{}
	c.Responses = map[string]*huma.Response{}
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

// componentReference adds a component and returns the reference to it. It makes the name longer if a different component has it.
func componentReference[T any](all map[string]*T, kind, name string, component *T) string {
	text := func(v *T) string { b, _ := json.Marshal(v); return string(b) } //nolint:errchkjson // a part of a document
	for all[name] != nil && text(all[name]) != text(component) {
		name += "-other"
	}
	all[name] = component
	return components + kind + "/" + name
}

// patchBodies matches the two bodies of a PATCH in the JSON of a document, in which members are sorted by name.
var patchBodies = regexp.MustCompile(
	`("application/json-patch\+json":\{[^{}]*\{[^{}]*\}\}),("application/merge-patch\+json":\{[^{}]*\{[^{}]*\}\})`)

// DocumentJSON renders the document of the groups as JSON, one member or element a line, in a stable order. Merge patches come before JSON
// Patches. Generated clients that support one body use the first, and only the merge patch has typed members.
func DocumentJSON(groups []Family) ([]byte, error) {
	doc := OpenAPI(groups)
	shareComponents(doc)
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	err = json.Indent(&lines, patchBodies.ReplaceAll(text, []byte("$2,$1")), "", "  ")
	lines.WriteByte('\n')
	return lines.Bytes(), err
}
