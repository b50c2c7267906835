package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/environment"

	"github.com/aws/aws-lambda-go/events"
)

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
	t.Setenv(environment.IssuerVariable, issuer.URL)
	t.Setenv(environment.AudienceVariable, "assay")
	a, err := open([]api.Operation{api.Write(api.Spec{ID: "text", Path: "/v1/text", May: access.Anyone}, []string{"text/plain"},
		func(_ context.Context, c *api.Call) error { return c.WriteDocument("text/plain", []byte("text")) })}, nil, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	get := func(headers map[string]string) int {
		e := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: "/v1/text", Headers: headers}
		e.RequestContext.HTTP.Method, e.RequestContext.DomainName = http.MethodGet, "api.example.org"
		answer, err := a.Handle(t.Context(), e)
		if err != nil {
			t.Error(err)
		}
		return answer.StatusCode
	}
	if status := get(nil); status != http.StatusOK {
		t.Errorf("without a token: %d", status)
	}
	waiting := make(chan int)
	const token = "eyJhbGciOiJFUzI1NiJ9.e30." + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	go func() { waiting <- get(map[string]string{"authorization": "Bearer " + token}) }()
	close(fails)
	if status := <-waiting; status != http.StatusServiceUnavailable {
		t.Errorf("with a token: %d", status)
	}
	if status := get(nil); status != http.StatusOK {
		t.Errorf("after the failure: %d", status)
	}
}
