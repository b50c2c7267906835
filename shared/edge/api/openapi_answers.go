package api

import (
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

// describeAnswers adds the answers of the operation: success, answers without a body, previews and problems.
func (op *Operation) describeAnswers(set *schemaSet, d *huma.Operation) {
	d.Responses[strconv.Itoa(op.Status)] = op.describeSuccess(set)
	if op.Repeated != "" {
		d.Responses["200"] = op.describeRepeated(set)
	}
	if op.returnsList() {
		d.Responses["204"] = describeAnswer(
			"The page is empty, so there is no body. Nothing passes the filters, or the offset is past the end of a sorted list.")
	}
	if op.Method == http.MethodGet { // includes lists without a tag, which answer 304 to If-None-Match: *
		d.Responses["304"] = op.describeNotModified()
	}
	if op.mayRedirect() {
		d.Responses["303"] = describeAnswer("The text is too long for an answer; it is at Location for a while", "Location")
	}
	op.describePreview(set, d)
	byStatus := map[int][]*problem.Kind{}
	for _, k := range op.problems() {
		byStatus[k.Status] = append(byStatus[k.Status], k)
	}
	for status, kinds := range byStatus {
		d.Responses[strconv.Itoa(status)] = describeProblems(set, kinds)
	}
}

// returnsList reports whether the operation returns a page of resources.
func (op *Operation) returnsList() bool { return op.Result != nil && op.Query.List }

// returnsVersion reports whether the answer to a change is a resource with an entity tag.
func (op *Operation) returnsVersion() bool {
	return op.Result != nil && !op.Query.List && op.Method != http.MethodGet && op.Result.Implements(reflect.TypeFor[versioned]())
}

// mayRedirect reports whether the operation stores texts that are too long for an answer, and redirects to them.
func (op *Operation) mayRedirect() bool {
	return op.Large || (op.computes() && slices.Contains(op.Media, mediaText))
}

// describeSuccess describes the answer with the operation's own status.
func (op *Operation) describeSuccess(set *schemaSet) *huma.Response {
	success := describeAnswer(http.StatusText(op.Status), op.successHeaders()...)
	success.Content = map[string]*huma.MediaType{}
	if op.Result != nil {
		success.Content[mediaJSON] = &huma.MediaType{Schema: set.of(op.Result)}
	}
	for _, m := range op.Media {
		success.Content[m] = &huma.MediaType{Schema: op.mediaSchema(set, m)}
	}
	return success
}

// describeRepeated describes the answer of a creation whose resource exists already.
func (op *Operation) describeRepeated(set *schemaSet) *huma.Response {
	repeated := describeAnswer(op.Repeated, op.successHeaders()...)
	repeated.Content = map[string]*huma.MediaType{mediaJSON: {Schema: set.of(op.Result)}}
	return repeated
}

// successHeaders returns the headers of the answer with the operation's own status, besides the headers of every answer.
func (op *Operation) successHeaders() (names []string) {
	for _, header := range []struct {
		name string
		when bool
	}{
		{"RateLimit", op.class() != ""},
		{"RateLimit-Policy", op.class() != ""},
		{"Link", op.returnsList()},
		{"ETag", op.hasETag() || op.safe || op.returnsVersion()},
		{"Content-Location", op.safe},
		{"Location", op.Status == http.StatusCreated},
		{"Idempotent-Replay", op.Status == http.StatusCreated},
	} {
		if header.when {
			names = append(names, header.name)
		}
	}
	return names
}

// mediaSchema returns the schema of a document of a media type that the operation declares.
func (op *Operation) mediaSchema(set *schemaSet, media string) *huma.Schema {
	s := &huma.Schema{Type: "string", Description: "a document of the type " + media}
	switch {
	case media == mediaJSON && op.variants != nil:
		return op.anyOf(set, func(v Variant) reflect.Type { return v.Output })
	case media == mediaJSON:
		s.Type = "object"
	case strings.HasSuffix(media, "/yaml"):
		s.Type = "" // any type
	}
	return s
}

// describeNotModified describes the answer 304 to a GET.
func (op *Operation) describeNotModified() *huma.Response {
	var headers []string
	if op.hasETag() {
		headers = append(headers, "ETag")
	}
	return describeAnswer("The caller already has it", headers...)
}

// describePreview adds the answer to a preview, which has status 200.
func (op *Operation) describePreview(set *schemaSet, d *huma.Operation) {
	if !op.previews() {
		return
	}
	if d.Responses["200"] == nil {
		answer := describeAnswer("The effects of the change, with preview=true", "RateLimit", "RateLimit-Policy")
		answer.Content = map[string]*huma.MediaType{}
		d.Responses["200"] = answer
	}
	d.Responses["200"].Content[mediaPreview] = &huma.MediaType{Schema: set.of(reflect.TypeFor[Preview]())}
}

// describeAnswer describes an answer without a body. It has the headers of every answer, and those with the names.
func describeAnswer(description string, headers ...string) *huma.Response {
	all := append([]string{"X-Request-Id", "Cache-Control"}, headers...)
	return &huma.Response{Description: description, Headers: describeHeaders(all...)}
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
