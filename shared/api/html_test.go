package api_test

import (
	"context"
	"net/http"
	"testing"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/api/servertest"
)

// address answers with where the caller reaches the server.
type address struct {
	URL string `json:"url"`
}

func TestWithHTML_AnswersBrowsersWithThePage(t *testing.T) {
	op := api.WithHTML(
		api.Get(api.Spec{ID: "address", Path: "/v1/address", May: access.Anyone}, api.NoTarget,
			func(_ context.Context, c *api.Call, _ api.PublicTarget) (address, error) {
				return address{c.BaseURL()}, nil
			}),
		func(_ context.Context, c *api.Call, _ api.PublicTarget) error {
			return c.WriteDocument("text/html", []byte("<p>"+c.BaseURL()))
		})
	s := servertest.New(t, op)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for accept, want := range map[string]string{
		"":                                  `{"url":"` + s.URL + `"}` + "\n",
		"*/*":                               `{"url":"` + s.URL + `"}` + "\n",
		"text/html;q=0.5, application/json": `{"url":"` + s.URL + `"}` + "\n",
		"text/*":                            "<p>" + s.URL,
		browser:                             "<p>" + s.URL,
	} {
		a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/address", nil, "Accept", accept)
		if string(a.Body) != want {
			t.Errorf("with Accept %q it is %q, want %q", accept, a.Body, want)
		}
		s.Want(http.StatusNotModified, nil, "", http.MethodGet, "/v1/address", nil, "Accept", accept, "If-None-Match", a.Header.Get("ETag"))
	}
	s.Info.URL = "https://assay.example.org"
	if a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/address", nil, "Accept",
		browser); string(a.Body) != "<p>https://assay.example.org" {
		t.Errorf("where clients reach the server is not %s", a.Body)
	}
}
