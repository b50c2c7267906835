// Package apitest holds a server to its OpenAPI document. A Contract checks that what
// travels between a test and a server is what the document says, and Lint that the
// document says enough. Both are strict where general validators are lenient: an empty
// body, a body with 204 and an error that is no problem document do not pass.
package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is an OpenAPI 3.1 document, made ready to check exchanges against. It is safe for concurrent use.
type Contract struct {
	routes  []route
	problem *jsonschema.Schema // what application/problem+json holds
	outside []string
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
	problems []string // types of the problems that it has examples of
}

// media is a body of one media type. A body without a schema may hold anything of that type.
type media struct {
	mediaType string
	schema    *jsonschema.Schema
}

// New reads the document, which is JSON, and compiles every schema that an exchange can meet. Paths that begin with one of
// outside belong to the server and not to its API: exchanges with them are let through unread, unless the document
// declares the path.
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
	c := &Contract{outside: outside}
	for o := range d.operations() {
		compiled, err := compileOperation(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name(), err)
		}
		c.add(o.path, o.method, compiled)
		for _, a := range compiled.answers {
			for _, m := range a.media {
				if m.mediaType == problemType && c.problem == nil {
					c.problem = m.schema
				}
			}
		}
	}
	if len(c.routes) == 0 {
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
		for _, example := range response.get("content", problemType, "examples").all() {
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

// Check fails the test when the response, whose body has been read into body, is not one that the document declares for the
// request, or when the server took a request that the document does not allow. Preflight requests of CORS are let through.
func (c *Contract) Check(t testing.TB, request *http.Request, requestBody []byte, response *http.Response, body []byte) {
	t.Helper()
	faults := c.faults(exchange{request, requestBody, response, body})
	if len(faults) > 0 {
		t.Errorf("%s %s answered %d, which is against the OpenAPI document:\n\t%s\nbody: %s",
			request.Method, request.URL, response.StatusCode, strings.Join(faults, "\n\t"), excerpt(body))
	}
}

// isOutside reports whether a path is none of the document's business.
func (c *Contract) isOutside(path string) bool {
	found, _ := c.route(path)
	return found == nil && slices.ContainsFunc(c.outside, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// shown is how much of a body a failure prints.
const shown = 600

func excerpt(body []byte) string {
	if len(body) <= shown {
		return string(body)
	}
	return fmt.Sprintf("%s ... (%d bytes)", body[:shown], len(body))
}
