package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/danielgtaylor/huma/v2"
)

func (op *Operation) describeAnswers(set *schemaSet, d *huma.Operation) {
	success := &huma.Response{Description: http.StatusText(op.Status), Content: map[string]*huma.MediaType{}}
	headers := []string{"X-Request-Id", "Cache-Control"}
	if op.class() != "" {
		headers = append(headers, "RateLimit", "RateLimit-Policy")
	}
	if op.Result != nil {
		success.Content[mediaJSON] = &huma.MediaType{Schema: set.of(op.Result)}
		if op.Query.List {
			headers = append(headers, "Link")
			d.Responses["204"] = &huma.Response{
				Description: "The page is empty, so there is no body. Nothing passes the filters, or the offset is past the end of a sorted list.",
				Headers:     describeHeaders("X-Request-Id", "Cache-Control")}
		} else if op.Method != http.MethodGet && op.Result.Implements(reflect.TypeFor[versioned]()) {
			headers = append(headers, "ETag")
		}
	}
	if op.safe {
		headers = append(headers, "ETag", "Content-Location")
	}
	if op.Method == http.MethodGet { // includes lists without a tag, which answer 304 to If-None-Match: *
		d.Responses["304"] = &huma.Response{Description: "The caller already has it", Headers: describeHeaders("X-Request-Id", "Cache-Control")}
	}
	if op.hasETag() {
		headers = append(headers, "ETag")
		maps.Copy(d.Responses["304"].Headers, describeHeaders("ETag"))
	}
	if op.Status == http.StatusCreated {
		headers = append(headers, "Location", "Idempotent-Replay")
	}
	if op.Large || op.computes() && slices.Contains(op.Media, mediaText) {
		d.Responses["303"] = &huma.Response{Description: "The text is too long for an answer; it is at Location for a while",
			Headers: describeHeaders("X-Request-Id", "Cache-Control", "Location")}
	}
	for _, m := range op.Media {
		s := &huma.Schema{Type: "string", Description: "a document of the type " + m}
		switch {
		case m == mediaJSON && op.variants != nil:
			s = op.anyOf(set, func(v Variant) reflect.Type { return v.Output })
		case strings.HasSuffix(m, "/yaml"):
			s.Type = "" // any type
		case m == mediaJSON:
			s.Type = "object"
		}
		success.Content[m] = &huma.MediaType{Schema: s}
	}
	success.Headers = describeHeaders(headers...)
	d.Responses[strconv.Itoa(op.Status)] = success
	op.describePreview(set, d)
	byStatus := map[int][]*problem.Kind{}
	for _, k := range op.problems() {
		byStatus[k.Status] = append(byStatus[k.Status], k)
	}
	for status, kinds := range byStatus {
		d.Responses[strconv.Itoa(status)] = describeProblems(set, kinds)
	}
}

// describePreview adds the answer to a preview, which has status 200.
func (op *Operation) describePreview(set *schemaSet, d *huma.Operation) {
	if !op.previews() {
		return
	}
	if d.Responses["200"] == nil {
		d.Responses["200"] = &huma.Response{Description: "The effects of the change, with preview=true", Content: map[string]*huma.MediaType{},
			Headers: describeHeaders("X-Request-Id", "Cache-Control", "RateLimit", "RateLimit-Policy")}
	}
	d.Responses["200"].Content[mediaPreview] = &huma.MediaType{Schema: set.of(reflect.TypeFor[Preview]())}
}

// describeProblems describes the answer for problems of the kinds. The kinds have the same status.
func describeProblems(set *schemaSet, kinds []*problem.Kind) *huma.Response {
	headers := []string{"X-Request-Id"}
	content := &huma.MediaType{Schema: set.of(reflect.TypeFor[problem.Document]()), Examples: map[string]*huma.Example{}}
	var titles []string
	for _, k := range kinds {
		titles = append(titles, k.Title+" (`"+k.Slug+"`)")
		content.Examples[k.Slug] = &huma.Example{
			Summary: k.Title, Value: k.New("What to do next.").Document("/v1/tasks", "01JZ3V7Q0D8T5RZ0S6R1W9C4XK")}
	}
	switch kinds[0].Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		headers = append(headers, "WWW-Authenticate")
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers = append(headers, "Retry-After")
	case http.StatusUnsupportedMediaType:
		headers = append(headers, "Accept-Patch", "Accept-Post", "Accept-Encoding")
	}
	return &huma.Response{Description: strings.Join(titles, ", or "), Headers: describeHeaders(headers...),
		Content: map[string]*huma.MediaType{problem.MediaType: content}}
}

// anyOf returns the schema of a document of any of the variants. of returns the type of a variant's document.
func (op *Operation) anyOf(set *schemaSet, of func(Variant) reflect.Type) *huma.Schema {
	if len(op.variants) == 1 {
		return set.of(of(op.variants[0]))
	}
	return &huma.Schema{AnyOf: lists.Map(op.variants, func(v Variant) *huma.Schema { return set.of(of(v)) })}
}

// hasETag reports whether the answer to a GET has an entity tag. Single resources and documents have one, and so have leaderboards and
// lists with a page of their own.
func (op *Operation) hasETag() bool {
	return op.Method == http.MethodGet && (!op.Query.List || op.Query.Sort || slices.Contains(op.Media, mediaHTML))
}

// Quotas lists the kinds of problems of an operation that charges its caller.
var Quotas = []*problem.Kind{problem.QuotaExhausted, problem.QuotaToday}

// problems lists the kinds of problems that the operation can answer with: those that its declaration implies, and its Problems.
func (op *Operation) problems() []*problem.Kind {
	kinds := []*problem.Kind{problem.InvalidParameter, problem.InvalidToken, problem.InsufficientScope,
		problem.PreconditionFailed, problem.HeadersTooLarge, problem.Internal, problem.Unavailable}
	add := func(when bool, more ...*problem.Kind) {
		if when {
			kinds = append(kinds, more...)
		}
	}
	add(op.Query.List, problem.InvalidCursor)
	add(op.Result != nil || op.Media != nil, problem.NotAcceptable)
	refusals := access.Refusals(op.May, op.widest)
	add(slices.Contains(refusals, access.Login), problem.Unauthorized)
	add(slices.Contains(refusals, access.Forbid), problem.Forbidden)
	add(strings.Contains(op.Path, "Id}") || op.computes() || op.variantParam() != "", problem.NotFound)
	add(op.computes(), problem.TooLarge, problem.Invalid, problem.BadRequest)
	for _, v := range op.variants {
		add(true, v.Problems...)
	}
	add(op.class() != "", problem.TooManyRequests)
	add(op.Body != nil, problem.BadRequest, problem.TooLarge, problem.Invalid)
	add(op.Body != nil || op.safe, problem.UnsupportedMedia)
	add(op.Changes(), problem.Conflict, problem.StorageFull)
	add(op.Changes() && op.Method == http.MethodPost && op.Body != nil, problem.UnderWay, problem.IdempotencyMismatch)
	add(op.patch, problem.PatchFailed)
	add(true, op.Problems...)
	return slices.DeleteFunc(slices.Clone(problem.Kinds), func(k *problem.Kind) bool { return !slices.Contains(kinds, k) })
}

var headerDescriptions = map[string]string{
	"X-Request-Id":     "identifies the request in the server's log",
	"Cache-Control":    "which caches may keep the answer, and how long",
	"ETag":             "strong entity tag of the body",
	"Link":             "the next page, like `links.next` (RFC 8288)",
	"Content-Location": "address of a GET with the same answer, if the input is short enough",
	"RateLimit": "the remaining part of the caller's limit, and the seconds until the whole limit is available again: \"write\";r=499;t=1 " +
		"(draft-ietf-httpapi-ratelimit-headers); absent without a limit",
	"RateLimit-Policy":  "the limit: \"write\";q=500;w=5 means 500 requests at once, and as many again within 5 seconds",
	"Location":          "address of the new resource, or of the answer",
	"Idempotent-Replay": "true if this repeats the answer to an earlier request with the same Idempotency-Key; absent otherwise",
	"WWW-Authenticate":  "the authentication scheme, and the error of an invalid or insufficient token (RFC 6750)",
	"Retry-After":       "seconds to wait before trying again; absent if waiting does not help",
	"Accept-Patch":      "the media types that a PATCH accepts (RFC 5789)",
	"Accept-Post":       "the media types that a POST accepts",
	"Accept-Encoding":   "the content codings that a body can have (RFC 9110, section 12.5.3)",
}

func describeHeaders(names ...string) map[string]*huma.Param {
	all := map[string]*huma.Param{}
	for _, n := range names {
		all[n] = &huma.Param{Description: headerDescriptions[n], Schema: &huma.Schema{Type: "string"}}
	}
	return all
}
