package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// tasksDocument is a small API that uses every feature that the contract checks.
func tasksDocument(t testing.TB) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/tasks.json")
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// call describes an exchange; headers are "Name: value" lines.
type call struct {
	request, requestHeaders, requestBody string
	status                               int
	headers, body                        string
}

func (c call) exchange() exchange {
	method, target, _ := strings.Cut(c.request, " ")
	request := httptest.NewRequest(method, target, strings.NewReader(c.requestBody))
	request.Header = headerOf(c.requestHeaders)
	response := &http.Response{StatusCode: c.status, Header: headerOf(c.headers)}
	return exchange{
		request:     request,
		requestBody: []byte(c.requestBody),
		response:    response,
		body:        []byte(c.body),
	}
}

func headerOf(lines string) http.Header {
	out := http.Header{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		out.Add(name, value)
	}
	return out
}

const (
	aTask       = `{"id":"AB12","name":"Ad hoc","createdAt":"2026-01-02T03:04:05.678Z"}`
	aPage       = `{"data":[` + aTask + `]}`
	jsonType    = "Content-Type: application/json; charset=utf-8\n"
	pageHeaders = jsonType + "X-Request-Id: r1\n"
	problemJSON = "Content-Type: application/problem+json\n"
	notFound    = `{"title":"Not found","status":404}`
	notAllowed  = `{"title":"Method not allowed","status":405}`
	posted      = "Content-Type: application/json\nIdempotency-Key: k1\n"
)

func TestFaults_NoneInWhatTheDocumentAllows(t *testing.T) {
	for name, c := range map[string]call{
		"a page": {request: "GET /v1/tasks", status: 200, headers: pageHeaders, body: aPage},
		"declared parameters": {request: "GET /v1/tasks?limit=7&fields=id,name&filter[open]=true&filter[year]=2026", status: 200,
			headers: pageHeaders, body: aPage},
		"selected members":  {request: "GET /v1/tasks?fields=id", status: 200, headers: pageHeaders, body: `{"data":[{"id":"AB12"}]}`},
		"a declared header": {request: "GET /v1/tasks", status: 200, headers: pageHeaders + "X-Total: 12\n", body: aPage},
		"another media type": {request: "GET /v1/tasks", status: 200, headers: "Content-Type: text/csv; charset=utf-8\nX-Request-Id: r1\n",
			body: "id,name\nAB12,Ad hoc\n"},
		"an empty page":       {request: "GET /v1/tasks", status: 204},
		"not modified":        {request: "GET /v1/tasks", status: 304},
		"the default answer":  {request: "GET /v1/tasks", status: 503, headers: problemJSON, body: `{"title":"Busy","status":503}`},
		"a range of statuses": {request: "POST /v1/tasks", status: 422, headers: problemJSON, body: `{"title":"Invalid","status":422}`},
		"a refused wrong request": {request: "POST /v1/tasks?x=1", requestBody: "{", status: 400, headers: problemJSON,
			body: `{"title":"Invalid","status":400}`},
		"a creation": {request: "POST /v1/tasks", requestHeaders: posted, requestBody: `{"name":"x"}`, status: 201,
			headers: jsonType + "Location: /v1/tasks/AB12\n", body: aTask},
		"a null and any value": {request: "GET /v1/tasks/AB12", status: 200, headers: jsonType,
			body: `{"id":"AB12","name":"","createdAt":"2026-01-02T03:04:05Z","score":null,"extra":[1,{}]}`},
		"HEAD":                     {request: "HEAD /v1/tasks", status: 200, headers: pageHeaders},
		"a literal segment":        {request: "GET /v1/tasks/newest", status: 200, headers: "Content-Type: text/plain\n", body: "Ad hoc"},
		"an unknown path refused":  {request: "GET /v2/tasks", status: 404, headers: problemJSON, body: notFound},
		"a wrong method refused":   {request: "PUT /v1/tasks", status: 405, headers: problemJSON + "Allow: GET, HEAD, POST\n", body: notAllowed},
		"a preflight request":      {request: "OPTIONS /v1/tasks", status: 204},
		"a path outside the API":   {request: "PUT /files/x", status: 201, headers: "Content-Type: text/plain\n", body: "stored"},
		"an escaped parameter":     {request: "GET /v1/tasks/AB%31%32", status: 200, headers: jsonType, body: aTask},
		"an undeclared header":     {request: "GET /v1/tasks/AB12", status: 200, headers: jsonType + "Vary: Origin\n", body: aTask},
		"no answer to an odd path": {request: "GET /v1/tasks/", status: 404, headers: problemJSON, body: notFound},
	} {
		if faults := New(t, tasksDocument(t), "/files/").faults(c.exchange()); len(faults) > 0 {
			t.Errorf("%s: faults %q", name, faults)
		}
	}
}

func TestFaults_NameWhatTheDocumentForbids(t *testing.T) {
	for name, c := range map[string]struct {
		call
		want string
	}{
		"undeclared status": {call{request: "GET /v1/tasks/AB12", status: 418, headers: problemJSON, body: `{"title":"x","status":418}`},
			"the status is not declared"},
		"undeclared success": {
			call{request: "POST /v1/tasks", requestHeaders: posted, requestBody: `{"name":"x"}`, status: 200, headers: jsonType, body: aTask},
			"the status is not declared"},
		"wrong media type": {call{request: "GET /v1/tasks/AB12", status: 200, headers: "Content-Type: text/html\n", body: aTask},
			`the media type is "text/html" and not application/json`},
		"no media type": {call{request: "GET /v1/tasks/AB12", status: 200, body: aTask}, `the media type is ""`},
		"missing member": {call{request: "GET /v1/tasks/AB12", status: 200, headers: jsonType, body: `{"id":"AB12","name":"x"}`},
			"body: at /: missing property 'createdAt'"},
		"undeclared member": {
			call{request: "GET /v1/tasks", status: 200, headers: pageHeaders,
				body: `{"data":[{"id":"AB12","name":"x","createdAt":"2026-01-02T03:04:05Z","truth":1}]}`},
			"body: at /data/0: additional properties 'truth' not allowed"},
		"wrong type": {
			call{request: "GET /v1/tasks/AB12", status: 200, headers: jsonType, body: `{"id":"AB12","name":3,"createdAt":"2026-01-02T03:04:05Z"}`},
			"body: at /name: got number, want string"},
		"wrong format": {
			call{request: "GET /v1/tasks/AB12", status: 200, headers: jsonType, body: `{"id":"AB12","name":"x","createdAt":"yesterday"}`},
			"body: at /createdAt: 'yesterday' is not valid date-time"},
		"text that does not match": {
			call{request: "GET /v1/tasks", status: 200, headers: "Content-Type: text/csv\nX-Request-Id: r1\n", body: "name,id\n"}, "body: at /: "},
		"empty body": {call{request: "GET /v1/tasks/AB12", status: 200, headers: jsonType}, "body: not JSON"},
		"two values": {call{request: "GET /v1/tasks/AB12", status: 200, headers: jsonType, body: aTask + aTask}, "body: not JSON"},
		"half a selection": {call{request: "GET /v1/tasks?fields=id", status: 200, headers: pageHeaders, body: `{"data":[{"id"`},
			"body: not JSON"},
		"problem with fields": {call{request: "GET /v1/tasks?fields=id", status: 503, headers: problemJSON, body: `{"status":503}`},
			"missing property 'title'"},
		"body with 204":  {call{request: "GET /v1/tasks", status: 204, headers: jsonType, body: `{}`}, "there must be no body"},
		"body with 304":  {call{request: "GET /v1/tasks", status: 304, headers: jsonType, body: `{}`}, "there must be no body"},
		"body with HEAD": {call{request: "HEAD /v1/tasks", status: 200, headers: pageHeaders, body: aPage}, "there must be no body"},
		"HEAD of another type": {call{request: "HEAD /v1/tasks", status: 200, headers: "Content-Type: text/html\nX-Request-Id: r1\n"},
			"the media type"},
		"missing header": {call{request: "GET /v1/tasks", status: 200, headers: jsonType, body: aPage},
			`the required header "X-Request-Id" is missing`},
		"wrong header": {call{request: "GET /v1/tasks", status: 200, headers: pageHeaders + "X-Total: many\n", body: aPage},
			`header "X-Total": at /: got string, want integer`},
		"bare text for an error": {
			call{request: "GET /v1/tasks/AB12", status: 404, headers: "Content-Type: text/plain\n", body: "404 page not found"},
			"application/problem+json"},
		"JSON for an error": {call{request: "GET /v1/tasks/AB12", status: 404, headers: jsonType, body: notFound},
			"application/problem+json"},
		"invalid problem": {call{request: "GET /v1/tasks/AB12", status: 404, headers: problemJSON, body: `{"status":404}`},
			"missing property 'title'"},
		"instant in plain text": {call{request: "GET /v1/tasks/AB12", status: 404, headers: problemJSON,
			body: `{"title":"x","status":404,"detail":"Closed at 2026-01-02T03:04:05Z."}`}, "in no part of its own"},
		"id in plain text of a fault": {call{request: "GET /v1/tasks/AB12", status: 404, headers: problemJSON,
			body: `{"title":"x","status":404,"errors":[{"pointer":"/a","detail":"is 01JZ3V7Q0D8T5RZ0S6R1W9C4XK"}]}`}, "in no part of its own"},
		"parts of another text": {call{request: "GET /v1/tasks/AB12", status: 404, headers: problemJSON,
			body: `{"title":"x","status":404,"detail":"Leave a out.","parts":[{"type":"member","value":"a"}]}`}, "values of the parts"},
		"problem of another status": {call{request: "GET /v1/tasks/AB12", status: 404, headers: problemJSON, body: `{"title":"x","status":403}`},
			"the problem document says status 403"},
		"unknown path answered": {call{request: "GET /v1/secrets", status: 200, headers: jsonType, body: `{}`},
			"the document declares no such path, so the status must be 404"},
		"unknown path redirected": {call{request: "GET /v1//tasks", status: 301, headers: "Content-Type: text/html\n", body: "<a>"},
			"the status must be 404"},
		"unknown path as text": {call{request: "GET /v1/secrets", status: 404, headers: "Content-Type: text/plain\n", body: "no"},
			"the media type"},
		"unknown method answered": {
			call{request: "DELETE /v1/tasks/AB12", status: 204}, "the document does not declare the method, so the status must be 405"},
		"wrong method without Allow": {
			call{request: "PUT /v1/tasks", status: 405, headers: problemJSON + "Allow: GET\n", body: notAllowed}, "does not name POST",
		},
		"a parameter taken that is not declared": {call{request: "GET /v1/tasks?colour=red", status: 200, headers: pageHeaders, body: aPage},
			`query parameter "colour", which is not declared`},
		"a filter taken that is not declared": {
			call{request: "GET /v1/tasks?filter[colour]=red", status: 200, headers: pageHeaders, body: aPage},
			"additional properties 'colour' not allowed"},
		"a parameter taken of the wrong type": {call{request: "GET /v1/tasks?limit=many", status: 200, headers: pageHeaders, body: aPage},
			`query parameter "limit": at /: got string, want integer`},
		"a list taken with an unknown element": {call{request: "GET /v1/tasks?fields=id,truth", status: 200, headers: pageHeaders, body: aPage},
			`query parameter "fields": at /1`},
		"a path parameter taken": {call{request: "GET /v1/tasks/nonsense", status: 200, headers: jsonType, body: aTask},
			`path parameter "taskId"`},
		"a required header not sent": {
			call{request: "POST /v1/tasks", requestHeaders: jsonType, requestBody: `{"name":"x"}`, status: 201, headers: jsonType + "Location: /x\n",
				body: aTask}, `required header parameter "Idempotency-Key"`},
		"a header taken that is too long": {
			call{request: "POST /v1/tasks", requestHeaders: jsonType + "Idempotency-Key: 123456789\n", requestBody: `{"name":"x"}`, status: 201,
				headers: jsonType + "Location: /x\n", body: aTask}, `header parameter "Idempotency-Key"`},
		"a body taken that is not valid": {
			call{request: "POST /v1/tasks", requestHeaders: posted, requestBody: `{"name":""}`, status: 201, headers: jsonType + "Location: /x\n",
				body: aTask}, "the server took a request body that is not valid: at /name"},
		"a body taken of another type": {
			call{request: "POST /v1/tasks", requestHeaders: "Content-Type: text/plain\nIdempotency-Key: k\n", requestBody: `{"name":"x"}`,
				status: 201, headers: jsonType + "Location: /x\n", body: aTask}, "the server took a request body of media type"},
		"no body taken for a required one": {
			call{request: "POST /v1/tasks", requestHeaders: posted, status: 201, headers: jsonType + "Location: /x\n", body: aTask},
			"without the required body"},
		"a body taken where none is declared": {
			call{request: "GET /v1/tasks/AB12", requestHeaders: jsonType, requestBody: `{}`, status: 200, headers: jsonType, body: aTask},
			"a body, and none is declared"},
	} {
		if faults := New(t, tasksDocument(t), "/files/").faults(c.exchange()); !strings.Contains(strings.Join(faults, "\n"), c.want) {
			t.Errorf("%s: faults %q have no %q", name, faults, c.want)
		}
	}
}

// recorder is a testing.TB that records errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestTransport_ChecksEveryExchange(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			t.Error(err)
		case r.URL.Path == "/files/x":
			w.Write(sent)
		case r.Method == http.MethodPost:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "/v1/tasks/AB12")
			w.WriteHeader(http.StatusCreated)
			w.Write(bytes.Replace([]byte(aTask), []byte(`"Ad hoc"`), bytes.TrimSuffix(bytes.TrimPrefix(sent, []byte(`{"name":`)), []byte("}")), 1))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()

	test := &recorder{TB: t}
	contract := New(t, tasksDocument(t), "/files/")
	client := &http.Client{Transport: contract.Transport(test, server.Client().Transport)}

	do := func(method, path, body string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = headerOf(posted)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return string(content)
	}

	if got := do("POST", "/v1/tasks", `{"name":"Sent on"}`); !strings.Contains(got, "Sent on") {
		t.Errorf("the caller reads %q, not what the server made of the body", got)
	}
	if got := do("PUT", "/files/x", "bytes"); got != "bytes" {
		t.Errorf("outside the API the caller reads %q", got)
	}
	if len(test.errors) > 0 {
		t.Fatalf("good exchanges fail the test: %q", test.errors)
	}
	if got := do("GET", "/v1/tasks/AB12", ""); !strings.Contains(got, "page not found") {
		t.Errorf("the caller reads %q", got)
	}
	if len(test.errors) != 1 || !strings.Contains(test.errors[0], "application/problem+json") {
		t.Errorf("an error in bare text gives %q", test.errors)
	}
}

func TestNew_RefusesBadDocuments(t *testing.T) {
	for document, want := range map[string]string{
		`{`:             "not JSON",
		`{"paths": {}}`: "declares no operation",
		`{"paths": {"/x": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/X"}}}}}}}}}`: "GET /x: #/paths/~1x/get",
		`{"paths": {"/x": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"type": "strnig"}}}}}}}}}`:                 "is not a valid schema",
		`{"paths": {"/x": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "http://127.0.0.1/x"}}}}}}}}}`:     "must not refer to what lies outside",
	} {
		if _, err := newContract([]byte(document), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", document, err, want)
		}
	}
}

// BenchmarkCheck checks a page of 50 tasks, the largest body of most tests.
func BenchmarkCheck(b *testing.B) {
	contract := New(b, tasksDocument(b))
	x := call{
		request: "GET /v1/tasks", status: 200, headers: pageHeaders,
		body: `{"data":[` + strings.Repeat(aTask+",", 49) + aTask + `]}`,
	}.exchange()
	b.SetBytes(int64(len(x.body)))
	b.ReportAllocs()
	for b.Loop() {
		contract.Check(b, x.request, x.requestBody, x.response, x.body)
	}
}
