package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/shared/page"
	"assay/shared/patch"
	"assay/shared/problem"

	"github.com/danielgtaylor/huma/v2"
)

// Group is the operations of one family of resources.
type Group struct {
	Name       string
	About      string
	Operations []Operation
}

// APIVersion is the version of the interface that stands in its paths.
const APIVersion = "v1"

// Document describes exactly the operations of the groups in OpenAPI 3.1.
func Document(groups []Group) *huma.OpenAPI {
	set := newSchemaSet()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Assay", Version: Version,
			Description: "A platform for shared tasks: organizers publish tasks and datasets whose truth stays hidden, participants submit, the platform evaluates every run, and leaderboards come out.\n\n" +
				"Lists are newest first and go on at `links.next`. Conditions (`If-Match`, `If-None-Match`) hold on every method as RFC 9110 has them. Answers of more than 1 KiB are coded with gzip, under an `ETag` of their own, for callers whose `Accept-Encoding` has it; bodies may be (`Content-Encoding: gzip`). Every error is a problem document (RFC 9457) whose `detail` says what to do next.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "this server"}},
		Paths:   map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: set.registry,
			SecuritySchemes: map[string]*huma.SecurityScheme{"token": {
				Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "A token of the OpenID Connect issuer that `GET /info` names.",
			}},
		},
	}
	for _, g := range groups {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: g.Name, Description: g.About})
		for _, op := range g.Operations {
			doc.AddOperation(op.describe(set, g.Name))
		}
	}
	return doc
}

var pathParams = regexp.MustCompile(`\{([A-Za-z]+)\}`)

// describe returns the operation as it stands in the document.
func (op *Operation) describe(set *schemaSet, tag string) *huma.Operation {
	d := &huma.Operation{
		Method: op.Method, Path: strings.TrimSuffix(op.Path, "{$}"), OperationID: op.ID, Tags: []string{tag},
		Summary: op.Summary, Description: op.Description + "\n\nWho may: " + op.May.String() + ".",
		Responses: map[string]*huma.Response{},
	}
	if !op.loginNeeded() {
		d.Security = []map[string][]string{{}, {"token": {}}}
	} else {
		d.Security = []map[string][]string{{"token": {}}}
	}
	for _, m := range pathParams.FindAllStringSubmatch(op.Path, -1) {
		d.Parameters = append(d.Parameters, &huma.Param{Name: m[1], In: "path", Required: true, Description: describePath(m[1]), Schema: &huma.Schema{Type: "string"}})
	}
	d.Parameters = append(d.Parameters, op.queryParams()...)
	d.Parameters = append(d.Parameters, op.headerParams()...)
	op.describeBody(set, d)
	op.describeAnswers(set, d)
	return d
}

// describePath says what a parameter of a path is: what is not an id is a name.
func describePath(name string) string {
	if of, ok := strings.CutSuffix(name, "Id"); ok {
		return "id of the " + of
	}
	return "name of the " + name
}

func (op *Operation) queryParams() []*huma.Param {
	var params []*huma.Param
	add := func(name, description string, s *huma.Schema) {
		params = append(params, &huma.Param{Name: name, In: "query", Description: description, Schema: s})
	}
	for _, f := range op.Query.Filters {
		var v huma.Schema
		var what string
		switch f.Type {
		case page.ID:
			v, what = huma.Schema{Type: "string", Pattern: "^[0-9A-HJKMNP-TV-Z,]+$"}, "Ids"
		case page.Enum:
			v, what = huma.Schema{Type: "string"}, "Any of "+strings.Join(f.Values, ", ")+"; several"
		case page.Bool:
			v, what = huma.Schema{Type: "string", Enum: []any{"true", "false"}}, "true or false; several"
		default:
			v, what = huma.Schema{Type: "string"}, "Parts of the text, whatever the case; several"
		}
		add(f.Param(), what+" separated by commas mean any of them.", &v)
	}
	if op.Query.List {
		add("limit", "How many resources at most; more than 200 is treated as 200.", &huma.Schema{Type: "integer", Minimum: new(1.0), Default: page.DefaultLimit})
		add("cursor", "Id of the first resource of the wanted page, as in `links.next`.", &huma.Schema{Type: "string"})
	}
	if op.Query.Sort {
		add("sort", "`rank` for the primary measure, or the name of a measure of the dataset: the best first.", &huma.Schema{Type: "string"})
		add("offset", "With `sort`: how many of the list to leave out.", &huma.Schema{Type: "integer", Minimum: new(0.0)})
	}
	if op.variants != nil && op.Method == http.MethodGet {
		p := &huma.Param{Name: inputParam, In: "query", Required: true, Description: "What would be the body of a POST to the tool, as JSON.", Schema: &huma.Schema{Type: "string"}}
		if example, err := Encode(op.variants[0].Example); err == nil {
			p.Examples = map[string]*huma.Example{op.variants[0].Name: {Value: strings.TrimSpace(string(example))}}
		}
		params = append(params, p)
	}
	for _, name := range op.Query.Plain {
		if name == inputParam {
			continue
		}
		add(name, "See the description of the operation.", &huma.Schema{Type: "string"})
	}
	if len(op.Query.Fields) > 0 {
		add("fields", "Names of members, separated by commas: each resource has only these. One of: "+strings.Join(op.Query.Fields, ", ")+".", &huma.Schema{Type: "string"})
	}
	return params
}

func (op *Operation) headerParams() []*huma.Param {
	header := func(name, description string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: description, Schema: &huma.Schema{Type: "string"}}
	}
	switch op.Method {
	case http.MethodGet:
		if op.tagged() {
			return []*huma.Param{header("If-None-Match", "Entity tags that the caller has; the answer is 304 when one is still right.")}
		}
	case http.MethodPost:
		if op.pure {
			return nil
		}
		return []*huma.Param{header(idempotencyHeader, "Makes the request safe to repeat: the same key and body give the first answer again for 24 hours.")}
	case http.MethodPatch, http.MethodDelete:
		return []*huma.Param{header("If-Match", "Entity tag that the resource must still have.")}
	}
	return nil
}

func (op *Operation) describeBody(set *schemaSet, d *huma.Operation) {
	switch {
	case op.patch:
		description := "An empty patch: no member can be written."
		if members := fieldNames(op.Body); len(members) > 0 {
			description = "A patch of the members " + strings.Join(members, ", ") + "."
		}
		d.RequestBody = &huma.RequestBody{Required: true, Description: description, Content: map[string]*huma.MediaType{
			patch.JSONPatch: {Schema: &huma.Schema{Type: "array", Description: "operations of RFC 6902", MaxItems: new(patch.MaxOperations), Items: &huma.Schema{
				Type: "object", Required: []string{"op", "path"}, Properties: map[string]*huma.Schema{
					"op":    {Type: "string", Enum: []any{"add", "remove", "replace", "move", "copy", "test"}},
					"path":  {Type: "string", MaxLength: new(patch.MaxPointer), Description: "JSON Pointer"},
					"from":  {Type: "string", MaxLength: new(patch.MaxPointer), Description: "JSON Pointer"},
					"value": {Description: "any JSON value"},
				},
			}}},
			patch.MergePatch: {Schema: &huma.Schema{Type: "object", Description: "members to change, null to remove one (RFC 7396)"}},
		}}
	case op.variants != nil && op.Method == http.MethodPost:
		content := &huma.MediaType{Schema: op.anyOf(set, func(v Variant) reflect.Type { return v.Input }), Examples: map[string]*huma.Example{}}
		for _, v := range op.variants {
			content.Examples[v.Name] = &huma.Example{Summary: v.Summary, Value: v.Example}
		}
		d.RequestBody = &huma.RequestBody{Required: true, Description: "What to compute from.", Content: map[string]*huma.MediaType{mediaJSON: content}}
	case op.Body != nil:
		d.RequestBody = &huma.RequestBody{Required: true, Description: "What to make.", Content: map[string]*huma.MediaType{mediaJSON: {Schema: set.of(op.Body), Example: op.Example}}}
	}
}

func (op *Operation) describeAnswers(set *schemaSet, d *huma.Operation) {
	success := &huma.Response{Description: http.StatusText(op.Status), Headers: map[string]*huma.Param{}, Content: map[string]*huma.MediaType{}}
	headers := []string{"X-Request-Id", "Cache-Control"}
	if op.class() != "" {
		headers = append(headers, "RateLimit", "RateLimit-Policy")
	}
	if op.Result != nil {
		success.Content[mediaJSON] = &huma.MediaType{Schema: set.of(op.Result)}
		if op.Query.List {
			headers = append(headers, "Link")
			d.Responses["204"] = &huma.Response{Description: "The page is empty", Headers: describeHeaders("X-Request-Id", "Cache-Control")}
		} else if op.Method != http.MethodGet && op.Result.Implements(reflect.TypeFor[versioned]()) {
			headers = append(headers, "ETag")
		}
	}
	if op.pure {
		headers = append(headers, "ETag", "Content-Location")
	}
	if op.tagged() {
		headers = append(headers, "ETag")
	}
	if op.Method == http.MethodGet { // a list without a tag too, for If-None-Match: *
		d.Responses["304"] = &huma.Response{Description: "The caller has it already", Headers: describeHeaders("X-Request-Id", "Cache-Control", "ETag")}
	}
	if op.Status == http.StatusCreated {
		headers = append(headers, "Location")
	}
	if op.computes() && slices.Contains(op.Media, mediaText) {
		d.Responses["303"] = &huma.Response{Description: "The text is too long for an answer; it stands at Location for a while", Headers: describeHeaders("X-Request-Id", "Cache-Control", "Location")}
	}
	for _, m := range op.Media {
		s := &huma.Schema{Type: "string", Description: "a document of the type " + m}
		switch {
		case m == mediaJSON && op.variants != nil:
			s = op.anyOf(set, func(v Variant) reflect.Type { return v.Output })
		case m == mediaJSON:
			s.Type = "object"
		}
		success.Content[m] = &huma.MediaType{Schema: s}
	}
	success.Headers = describeHeaders(headers...)
	d.Responses[strconv.Itoa(op.Status)] = success
	for _, status := range op.problems() {
		d.Responses[strconv.Itoa(status)] = &huma.Response{Description: problemTitles(status), Headers: describeHeaders("X-Request-Id"),
			Content: map[string]*huma.MediaType{problem.MediaType: {Schema: set.of(reflect.TypeFor[problem.Document]())}}}
	}
}

// anyOf is the schema of what one of the variants takes or answers.
func (op *Operation) anyOf(set *schemaSet, of func(Variant) reflect.Type) *huma.Schema {
	s := &huma.Schema{}
	for _, v := range op.variants {
		s.AnyOf = append(s.AnyOf, set.of(of(v)))
	}
	return s
}

// tagged reports whether an answer to a GET has an entity tag: that of one resource or document, and a list's as a page.
func (op *Operation) tagged() bool {
	return op.Method == http.MethodGet && (!op.Query.List || slices.Contains(op.Media, mediaHTML))
}

// problems lists the statuses of the problems that the operation can answer with.
func (op *Operation) problems() []int {
	statuses := []int{400, 401, 403, 404, 406, 412, 431, 500, 503}
	if op.computes() {
		statuses = append(statuses, 409, 413, 422)
	}
	if op.class() != "" {
		statuses = append(statuses, 429)
	}
	switch op.Method {
	case http.MethodPost:
		statuses = append(statuses, 415)
		if !op.pure {
			statuses = append(statuses, 409, 413, 422)
		}
	case http.MethodPatch:
		statuses = append(statuses, 409, 413, 415, 422)
	case http.MethodDelete:
		statuses = append(statuses, 409)
	}
	if op.Changes() || op.computes() {
		statuses = append(statuses, http.StatusInsufficientStorage)
	}
	slices.Sort(statuses)
	return statuses
}

func problemTitles(status int) string {
	var titles []string
	for _, k := range problem.Kinds {
		if k.Status == status {
			titles = append(titles, k.Title+" (`"+k.Slug+"`)")
		}
	}
	return strings.Join(titles, ", or ")
}

var headerDescriptions = map[string]string{
	"X-Request-Id":     "identifies the request in the server's log",
	"Cache-Control":    "who may keep the answer, and how long",
	"ETag":             "strong entity tag of what is shown",
	"Link":             "the next page, as `links.next` (RFC 8288)",
	"Content-Location": "where a GET has the same answer, if the input is short enough",
	"RateLimit":        "what is left of the caller's limit, and in how many seconds all of it is there again: \"write\";r=499;t=1 (draft-ietf-httpapi-ratelimit-headers); absent without a limit",
	"RateLimit-Policy": "the limit: \"write\";q=500;w=5 is 500 requests at once, and as many again within 5 seconds",
	"Location":         "address of the new resource, or of the answer",
}

func describeHeaders(names ...string) map[string]*huma.Param {
	all := map[string]*huma.Param{}
	for _, n := range names {
		all[n] = &huma.Param{Description: headerDescriptions[n], Schema: &huma.Schema{Type: "string"}}
	}
	return all
}

// DocumentJSON renders the document of the groups as JSON.
func DocumentJSON(groups []Group) ([]byte, error) { return json.Marshal(Document(groups)) }

// DocumentYAML renders the document of the groups as YAML.
func DocumentYAML(groups []Group) ([]byte, error) { return Document(groups).YAML() }
