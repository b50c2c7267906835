package gateway

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/config"

	"github.com/aws/aws-lambda-go/events"
)

// get has the adapter answer a GET.
func get(t *testing.T, a *Adapter, path string, headers map[string]string) events.APIGatewayV2HTTPResponse {
	t.Helper()
	e := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: path, Headers: headers}
	e.RequestContext.HTTP.Method, e.RequestContext.DomainName = http.MethodGet, "api.example.org"
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

// An answer that Lambda would not send as it is reaches those who accept gzip.
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
	if answer = get(t, a, "/v1/large", nil); answer.StatusCode != http.StatusBadRequest || !strings.Contains(answer.Body, "gzip") {
		t.Errorf("without gzip: %d %.300s", answer.StatusCode, answer.Body)
	}
}

// A function asks its issuer while it starts. Only a request with a token waits for the answer, and a failure is that
// request's alone.
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
