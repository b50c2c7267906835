// Package apitest checks a server against its OpenAPI document. A Contract checks the requests and answers of tests against the document.
// Lint checks the document itself. Both are stricter than general validators: they refuse an empty body, a body with status 204, and an
// error without a problem document.
package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"assay/shared/language/problem"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is a compiled OpenAPI 3.1 document to check exchanges against. It is safe for concurrent use.
type Contract struct {
	paths      *http.ServeMux                   // finds the document's path for the path of a request
	operations map[string]map[string]*operation // by pattern of the path and method
	problem    *jsonschema.Schema               // of application/problem+json
	outside    []string
}

// operation is one operation with its schemas compiled.
type operation struct {
	parameters   []parameter
	bodies       []media
	bodyRequired bool
	answers      map[string]answer // by status: 200, 4XX, default
}

// answer is one response that an operation declares.
type answer struct {
	media    []media
	headers  []parameter
	problems []string // problem types in its examples
}

// media is a body of one media type. A body without a schema may hold anything of that type.
type media struct {
	mediaType string
	schema    *jsonschema.Schema
}

// New reads a JSON document and compiles every schema that an exchange can need. Paths that begin with one of the prefixes in outside are
// not part of the API. Exchanges with such paths pass unread, unless the document declares the path.
func New(t testing.TB, document []byte, outside ...string) *Contract {
	t.Helper()
	c, err := newContract(document, outside)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newContract(content []byte, outside []string) (*Contract, error) {
	d, err := parse(content)
	if err != nil {
		return nil, err
	}
	c := &Contract{paths: http.NewServeMux(), operations: map[string]map[string]*operation{}, outside: outside}
	for o := range d.operations() {
		compiled, err := compileOperation(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name(), err)
		}
		c.add(o.path, o.method, compiled)
		for _, a := range compiled.answers {
			for _, m := range a.media {
				if m.mediaType == problem.MediaType && c.problem == nil {
					c.problem = m.schema
				}
			}
		}
	}
	if len(c.operations) == 0 {
		return nil, fmt.Errorf("the document declares no operation, so every exchange would be against it")
	}
	return c, nil
}

func compileOperation(o declared) (*operation, error) {
	out := &operation{answers: map[string]answer{}, bodyRequired: o.get("requestBody", "required").isTrue()}
	var err error
	if out.bodies, err = compileMedia(o.get("requestBody", "content")); err != nil {
		return nil, err
	}
	for _, p := range o.parameters() {
		compiled, err := compileParameter(p, p.get("name").text())
		if err != nil {
			return nil, err
		}
		out.parameters = append(out.parameters, compiled)
	}
	for status, response := range o.get("responses").all() {
		var a answer
		if a.media, err = compileMedia(response.get("content")); err != nil {
			return nil, err
		}
		for _, example := range response.get("content", problem.MediaType, "examples").all() {
			a.problems = append(a.problems, example.get("value", "type").text())
		}
		for name, header := range response.get("headers").all() {
			compiled, err := compileParameter(header, name)
			if err != nil {
				return nil, err
			}
			a.headers = append(a.headers, compiled)
		}
		out.answers[strings.ToUpper(status)] = a
	}
	return out, nil
}

func compileMedia(content node) ([]media, error) {
	var out []media
	for mediaType, declared := range content.all() {
		m := media{mediaType: strings.ToLower(mediaType)}
		if s := declared.get("schema"); s.exists() {
			var err error
			if m.schema, err = s.compile(); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// Check fails the test if the document does not declare the response for the request, or if the server accepted a request that the
// document does not allow. body is the body of the response. Preflight requests of CORS pass.
func (c *Contract) Check(t testing.TB, request *http.Request, requestBody []byte, response *http.Response, body []byte) {
	t.Helper()
	faults := c.faults(exchange{request: request, requestBody: requestBody, response: response, body: body})
	if len(faults) > 0 {
		t.Errorf("%s %s answered %d, which is against the OpenAPI document:\n\t%s\nbody: %s",
			request.Method, request.URL, response.StatusCode, strings.Join(faults, "\n\t"), excerpt(body))
	}
}

// add adds an operation at a path of the document. Like OpenAPI, net/http prefers the most literal of several matching paths.
func (c *Contract) add(pattern, method string, o *operation) {
	if strings.HasSuffix(pattern, "/") {
		pattern += "{$}"
	}
	if c.operations[pattern] == nil {
		c.operations[pattern] = map[string]*operation{}
		c.paths.Handle(pattern, http.NotFoundHandler())
	}
	c.operations[pattern][method] = o
}

// route returns the operations at the path of a request, and a copy of the request with the values of the path parameters.
func (c *Contract) route(r *http.Request) (*http.Request, map[string]*operation) {
	r = r.Clone(r.Context())
	if path.Clean(r.URL.Path) != r.URL.Path {
		return r, nil // net/http would redirect
	}
	c.paths.ServeHTTP(httptest.NewRecorder(), r)
	return r, c.operations[r.Pattern]
}

// isOutside reports whether the contract does not cover a request.
func (c *Contract) isOutside(r *http.Request) bool {
	_, operations := c.route(r)
	return operations == nil && slices.ContainsFunc(c.outside, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) })
}

// maxExcerpt is the number of bytes of a body that a failure prints.
const maxExcerpt = 600

func excerpt(body []byte) string {
	if len(body) <= maxExcerpt {
		return string(body)
	}
	return fmt.Sprintf("%s ... (%d bytes)", body[:maxExcerpt], len(body))
}

// Transport returns a RoundTripper that sends requests over base and checks every exchange.
func (c *Contract) Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	return &transport{c, t, base}
}

type transport struct {
	contract *Contract
	t        testing.TB
	base     http.RoundTripper
}

// RoundTrip reads both bodies into memory, except for paths outside the contract, whose bodies may be large.
func (tr *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	tr.t.Helper()
	if tr.contract.isOutside(request) {
		return tr.base.RoundTrip(request)
	}
	var sent []byte
	if request.Body != nil && request.Body != http.NoBody {
		var err error
		if sent, err = readAll(request.Body); err != nil {
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := tr.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := readAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	tr.contract.Check(tr.t, request, sent, response, body)
	return response, nil
}

func readAll(body io.ReadCloser) ([]byte, error) {
	content, err := io.ReadAll(body)
	return content, errors.Join(err, body.Close())
}
