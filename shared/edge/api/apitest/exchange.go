package apitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// exchange is a request with its response.
type exchange struct {
	request     *http.Request
	requestBody []byte
	response    *http.Response
	body        []byte
}

// faults returns all departures of an exchange from the document.
func (c *Contract) faults(x exchange) []string {
	routed, operations := c.route(x.request)
	if operations == nil {
		if c.isOutside(x.request) {
			return nil
		}
		return c.refusal(x, http.StatusNotFound, "the document declares no such path")
	}
	method := x.request.Method
	op := operations[method]
	if op == nil && method == http.MethodHead {
		op = operations[http.MethodGet]
	}
	switch {
	case op != nil:
	case method == http.MethodOptions:
		return nil
	default:
		return append(c.refusal(x, http.StatusMethodNotAllowed, "the document does not declare the method"),
			allowFaults(x.response, operations)...)
	}

	faults := c.answerFaults(op, x)
	if x.response.StatusCode < 400 {
		faults = append(faults, op.parameterFaults(routed)...)
		faults = append(faults, op.bodyFaults(x.request.Header, x.requestBody)...)
	}
	return faults
}

// refusal checks that the server refused an undeclared request with the status.
func (c *Contract) refusal(x exchange, status int, reason string) []string {
	if x.response.StatusCode != status {
		return []string{fmt.Sprintf("%s, so the status must be %d", reason, status)}
	}
	return c.contentFaults(x, []media{{problem.MediaType, c.problem}})
}

func allowFaults(response *http.Response, operations map[string]*operation) []string {
	var allowed []string
	for _, list := range response.Header.Values("Allow") {
		for method := range strings.SplitSeq(list, ",") {
			allowed = append(allowed, strings.TrimSpace(method))
		}
	}
	var faults []string
	for method := range operations {
		if !slices.Contains(allowed, method) {
			faults = append(faults, fmt.Sprintf("header Allow is %q and does not name %s (RFC 9110, section 15.5.6)", allowed, method))
		}
	}
	slices.Sort(faults)
	return faults
}

// answerFaults checks status, headers and body of an answer.
func (c *Contract) answerFaults(op *operation, x exchange) []string {
	status := x.response.StatusCode
	declared, ok := op.answers[strconv.Itoa(status)]
	if !ok {
		declared, ok = op.answers[fmt.Sprintf("%dXX", status/100)]
	}
	if !ok {
		declared, ok = op.answers["DEFAULT"]
	}
	if !ok {
		return []string{"the status is not declared"}
	}
	var faults []string
	for _, h := range declared.headers {
		texts := x.response.Header.Values(h.name)
		switch {
		case len(texts) > 0:
			faults = append(faults, h.faults(decode(h.schema, texts, true))...)
		case h.required:
			faults = append(faults, fmt.Sprintf("the required header %q is missing", h.name))
		}
	}
	if status >= 400 && len(declared.problems) > 0 && x.request.Method != http.MethodHead {
		var p struct{ Type string }
		if err := json.Unmarshal(x.body, &p); err != nil || !slices.Contains(declared.problems, p.Type) {
			faults = append(faults, fmt.Sprintf("the type of the problem is none of %q", declared.problems))
		}
	}
	if status >= 400 {
		declared.media = slices.DeleteFunc(slices.Clone(declared.media), func(m media) bool { return m.mediaType != problem.MediaType })
		if len(declared.media) == 0 {
			declared.media = []media{{problem.MediaType, c.problem}}
		}
	}
	return append(faults, c.contentFaults(x, declared.media)...)
}

// contentFaults checks the body and its media type against the declared ones.
func (c *Contract) contentFaults(x exchange, declared []media) []string {
	status := x.response.StatusCode
	bodiless := len(declared) == 0 || status == http.StatusNoContent || status == http.StatusNotModified
	if bodiless || x.request.Method == http.MethodHead {
		if len(x.body) > 0 {
			return []string{"there must be no body"}
		}
		if bodiless {
			return nil
		}
	}
	contentType := x.response.Header.Get("Content-Type")
	m, ok := choose(declared, contentType)
	if !ok {
		return []string{fmt.Sprintf("the media type is %q and not %s", contentType, names(declared))}
	}
	if x.request.Method == http.MethodHead {
		return nil
	}
	if x.selects() {
		m.schema = nil
	}
	faults := prefixed("body: ", m.faults(contentType, x.body))
	if m.mediaType == problem.MediaType {
		faults = append(faults, statusFaults(x.body, status)...)
		faults = append(faults, problemFaults(x.body)...)
	}
	if m.mediaType == mediaPreview {
		faults = append(faults, previewFaults(x.body)...)
	}
	return faults
}

// selects reports whether the caller selected members of the resources, so that the body may lack required members. Problems are always
// complete.
func (x exchange) selects() bool {
	return x.response.StatusCode < 400 && x.request.URL.Query().Has("fields")
}

// statusFaults checks that a problem document repeats the status of its answer (RFC 9457, section 3.1.2).
func statusFaults(body []byte, status int) []string {
	var p struct{ Status *int }
	if err := json.Unmarshal(body, &p); err != nil || p.Status == nil || *p.Status == status {
		return nil // the schema reports unreadable documents and a missing status
	}
	return []string{fmt.Sprintf("the problem document says status %d", *p.Status)}
}

// bodyFaults checks the body of a request that the server accepted.
func (o *operation) bodyFaults(header http.Header, body []byte) []string {
	switch {
	case len(body) == 0 && o.bodyRequired:
		return []string{"the server took a request without the required body"}
	case len(body) == 0:
		return nil
	case len(o.bodies) == 0:
		return []string{"the server took a request with a body, and none is declared"}
	}
	contentType := header.Get("Content-Type")
	m, ok := choose(o.bodies, contentType)
	if !ok {
		return []string{fmt.Sprintf("the server took a request body of media type %q and not %s", contentType, names(o.bodies))}
	}
	return prefixed("the server took a request body that is not valid: ", m.faults(contentType, body))
}

// choose finds the declared media type that matches a Content-Type. Exact names come before ranges such as text/*.
func choose(declared []media, contentType string) (media, bool) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return media{}, false
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	for _, wanted := range []string{mediaType, kind + "/*", "*/*"} {
		for _, m := range declared {
			if m.mediaType == wanted {
				return m, true
			}
		}
	}
	return media{}, false
}

func names(declared []media) string {
	return strings.Join(lists.Map(declared, func(m media) string { return m.mediaType }), ", ")
}

// faults checks a body. A JSON body is checked as its value. Any other body is checked as a string if its schema accepts strings.
func (m media) faults(contentType string, body []byte) []string {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	if mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json") {
		return schemaFaults(m.schema, string(body))
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []string{"not JSON: " + err.Error()}
	}
	return schemaFaults(m.schema, value)
}

// schemaFaults validates a value and returns a fault for each invalid place in it.
func schemaFaults(schema *jsonschema.Schema, value any) []string {
	if schema == nil {
		return nil
	}
	err := schema.Validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []string{err.Error()}
	}
	return leaves(invalid, message.NewPrinter(language.English), nil)
}

func leaves(e *jsonschema.ValidationError, printer *message.Printer, out []string) []string {
	for _, cause := range e.Causes {
		out = leaves(cause, printer, out)
	}
	if len(e.Causes) > 0 {
		return out
	}
	place := cmp.Or(problem.Pointer(e.InstanceLocation...), "/")
	return append(out, "at "+place+": "+e.ErrorKind.LocalizedString(printer))
}

func prefixed(prefix string, faults []string) []string {
	for i := range faults {
		faults[i] = prefix + faults[i]
	}
	return faults
}
