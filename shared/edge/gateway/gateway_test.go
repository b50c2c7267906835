package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/config"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// get sends a GET through the adapter.
func get(t *testing.T, a *Adapter, path string, headers map[string]string) events.APIGatewayV2HTTPResponse {
	t.Helper()
	e := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: path, Headers: headers}
	e.RequestContext.HTTP.Method = http.MethodGet
	e.RequestContext.DomainName = "api.example.org"
	answer, err := a.Handle(t.Context(), e)
	if err != nil {
		t.Error(err)
	}
	return answer
}

// large answers with 8 MiB of JSON.
var large = api.Document(api.Spec{ID: "large", Path: "/v1/large", May: access.Anyone}, []string{"application/json"},
	func(_ context.Context, c *api.Call) error {
		return c.WriteDocument("application/json", []byte(`"`+strings.Repeat("x", 8<<20)+`"`))
	})

// An answer that is too large for Lambda reaches callers who accept gzip.
func TestHandle_SendsMoreWhenItIsCoded(t *testing.T) {
	a := New(api.New(&api.Env{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, []api.Operation{large}))
	answer := get(t, a, "/v1/large", map[string]string{"accept-encoding": "gzip, deflate, br"})
	if answer.StatusCode != http.StatusOK || answer.Headers["Content-Encoding"] != "gzip" || !answer.IsBase64Encoded {
		t.Fatalf("%d %v", answer.StatusCode, answer.Headers)
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(answer.Body)))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(r); err != nil || len(body) != 8<<20+2 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	answer = get(t, a, "/v1/large", nil)
	if answer.StatusCode != http.StatusBadRequest || !strings.Contains(answer.Body, "gzip") {
		t.Errorf("without gzip: %d %.300s", answer.StatusCode, answer.Body)
	}
}

// A function contacts its issuer while it starts. Only requests with a token wait for that, and only they fail if it fails.
func TestOpen_AsksTheIssuerInTheBackground(t *testing.T) {
	asked, fails := make(chan struct{}), make(chan struct{})
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-fails
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer issuer.Close()
	t.Setenv(config.IssuerVariable, issuer.URL)
	t.Setenv(config.AudienceVariable, "assay")
	a, err := open(new(config.Environment), []api.Operation{
		api.Document(api.Spec{ID: "text", Path: "/v1/text", May: access.Anyone}, []string{"text/plain"},
			func(_ context.Context, c *api.Call) error { return c.WriteDocument("text/plain", []byte("text")) })}, nil, nil,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	status := func(headers map[string]string) int { return get(t, a, "/v1/text", headers).StatusCode }
	if status := status(nil); status != http.StatusOK {
		t.Errorf("without a token: %d", status)
	}
	waiting := make(chan int)
	const token = "eyJhbGciOiJFUzI1NiJ9.e30." + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	go func() { waiting <- status(map[string]string{"authorization": "Bearer " + token}) }()
	close(fails)
	if status := <-waiting; status != http.StatusServiceUnavailable {
		t.Errorf("with a token: %d", status)
	}
	if status := status(nil); status != http.StatusOK {
		t.Errorf("after the failure: %d", status)
	}
}

// recorded returns an event that API Gateway sent.
func recorded(t *testing.T) events.APIGatewayV2HTTPRequest {
	t.Helper()
	raw, err := os.ReadFile("testdata/event.json")
	if err != nil {
		t.Fatal(err)
	}
	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// seen is the request that the handler got.
type seen struct {
	method, uri, path, query, host, body string
	header                               http.Header
}

// pass sends the event through an adapter to a handler that answers with the given function.
func pass(t *testing.T, e events.APIGatewayV2HTTPRequest, answer http.HandlerFunc) (seen, events.APIGatewayV2HTTPResponse) {
	t.Helper()
	var got seen
	out, err := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = seen{
			method: r.Method,
			uri:    r.RequestURI,
			path:   r.URL.Path,
			query:  r.URL.RawQuery,
			host:   r.Host,
			body:   string(body),
			header: r.Header,
		}
		answer(w, r)
	})).Handle(t.Context(), e)
	if err != nil {
		t.Fatalf("the function itself failed: %v", err)
	}
	return got, out
}

func noContent(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func TestHandle_PassesTheRequestOn(t *testing.T) {
	got, _ := pass(t, recorded(t), noContent)
	want := seen{
		method: "POST", uri: "/v1/tasks?filter%5Bname%5D=a%2Cb&fields=id&fields=name", path: "/v1/tasks",
		query: "filter%5Bname%5D=a%2Cb&fields=id&fields=name", host: "api.example.org", body: `{"name":"é"}`,
	}
	header := got.header
	got.header = nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the handler was given %+v, want %+v", got, want)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer token", "Cookie": "one=1; two=2", "Idempotency-Key": "a, b",
		"Accept": "application/json,text/csv;q=0.5", "Content-Type": "application/json",
	} {
		if values := header.Values(name); len(values) != 1 || values[0] != value {
			t.Errorf("%s is %q, want %q", name, values, value)
		}
	}
}

func TestHandle_RestoresPaths(t *testing.T) {
	for _, c := range []struct{ stage, raw, uri, path string }{
		{"$default", "/v1/tasks/a%2Fb", "/v1/tasks/a%2Fb", "/v1/tasks/a/b"},
		{"$default", "/v1/a b/é", "/v1/a%20b/%C3%A9", "/v1/a b/é"}, // API Gateway removed the escapes
		{"$default", "/100%", "/100%25", "/100%"},
		{"$default", "/what?", "/what%3F", "/what?"},
		{"prod", "/prod/v1/tasks", "/v1/tasks", "/v1/tasks"},
		{"prod", "/prod", "/", "/"},
		{"prod", "/production", "/production", "/production"},
		{"prod", "/v1/tasks", "/v1/tasks", "/v1/tasks"}, // a custom domain maps to the stage
		{"$default", "/v1//tasks", "/v1//tasks", "/v1//tasks"},
	} {
		e := recorded(t)
		e.RequestContext.Stage = c.stage
		e.RawPath = c.raw
		e.RawQueryString = ""
		got, out := pass(t, e, noContent)
		if got.uri != c.uri || got.path != c.path || out.StatusCode != http.StatusNoContent {
			t.Errorf("%s on stage %s came as %s (%s), want %s (%s)", c.raw, c.stage, got.uri, got.path, c.uri, c.path)
		}
	}
}

func TestHandle_PassesBinaryBodies(t *testing.T) {
	e := recorded(t)
	binary := "\x1f\x8b\x00\xff"
	e.Body = base64.StdEncoding.EncodeToString([]byte(binary))
	e.IsBase64Encoded = true
	got, out := pass(t, e, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, binary)
	})
	if got.body != binary {
		t.Errorf("the body came as %q", got.body)
	}
	if back, err := base64.StdEncoding.DecodeString(out.Body); err != nil || !out.IsBase64Encoded || string(back) != binary {
		t.Errorf("the answer is %+v, %v", out, err)
	}
}

func TestHandle_AnswersHeadWithoutBody(t *testing.T) {
	e := recorded(t)
	e.RequestContext.HTTP.Method = http.MethodHead
	_, out := pass(t, e, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		_, _ = io.WriteString(w, "body")
	})
	if out.Body != "" || out.Headers["Etag"] != `"1"` || out.StatusCode != http.StatusOK {
		t.Errorf("HEAD is answered by %+v", out)
	}
}

func TestHandle_KeepsCookies(t *testing.T) {
	_, out := pass(t, recorded(t), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Add("Vary", "Origin")
		w.Header().Add("Vary", "Accept")
		w.WriteHeader(http.StatusNoContent)
	})
	if fmt.Sprint(out.Cookies) != "[a=1 b=2]" || out.Headers["Vary"] != "Origin,Accept" {
		t.Errorf("the answer is %+v", out)
	}
}

// Failures outside package api are answered with problems. An error of the function would make API Gateway answer with a text of its own.
func TestHandle_AnswersFailuresWithProblems(t *testing.T) {
	notBase64 := recorded(t)
	notBase64.Body, notBase64.IsBase64Encoded = "*", true
	badMethod := recorded(t)
	badMethod.RequestContext.HTTP.Method = "NO METHOD"
	for _, c := range []struct {
		name   string
		event  events.APIGatewayV2HTTPRequest
		answer http.HandlerFunc
		kind   *problem.Kind
	}{
		{"a body that is no base64", notBase64, noContent, problem.BadRequest},
		{"a method that is none", badMethod, noContent, problem.BadRequest},
		{"a panic", recorded(t), func(http.ResponseWriter, *http.Request) { panic("secret") }, problem.Internal},
		{"no status", recorded(t), func(http.ResponseWriter, *http.Request) {}, problem.Internal},
		{"an answer that Lambda cannot send", recorded(t), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(`"`, 4<<20)) // escaping doubles its length
		}, problem.InvalidParameter},
		{"an answer that is too long in base64", recorded(t), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "\x1f\x8b"+strings.Repeat("x", 5<<20))
		}, problem.InvalidParameter},
	} {
		_, out := pass(t, c.event, c.answer)
		var document problem.Document
		if err := json.Unmarshal([]byte(out.Body), &document); err != nil {
			t.Errorf("%s: %v\n%.200s", c.name, err, out.Body)
			continue
		}
		if out.StatusCode != c.kind.Status || document.Type != c.kind.Type() || out.Headers["Content-Type"] != problem.MediaType ||
			document.RequestID != "request-1" || document.Instance != "/v1/tasks" || strings.Contains(out.Body, "secret") {
			t.Errorf("%s is answered by %d %+v", c.name, out.StatusCode, document)
		}
	}
}

// One log line has the request ids of the answer, of API Gateway and of Lambda.
func TestHandle_LogsEveryRequestID(t *testing.T) {
	var log bytes.Buffer
	a := New(api.New(&api.Env{Now: time.Now, Log: slog.New(requestIDs{slog.NewJSONHandler(&log, nil)})}, nil))
	e := recorded(t)
	e.RequestContext.RequestID = "of the gateway"
	answer, err := a.Handle(lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of the function"}), e)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ RequestID, GatewayRequestID, FunctionRequestID string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.RequestID != answer.Headers["X-Request-Id"] || line.RequestID == "" ||
		line.GatewayRequestID != "of the gateway" || line.FunctionRequestID != "of the function" {
		t.Errorf("%v: %s", err, &log)
	}
}
