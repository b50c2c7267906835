package functions_test

import (
	"net/http"
	"testing"

	"assay/functions"
	"assay/shared/api/servertest"
	"assay/shared/problem"
)

// TestMissingAddress_IsRefused: whoever shows a token that is not valid is told so wherever it was sent, and pages of other origins
// can read every refusal.
func TestMissingAddress_IsRefused(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	for _, c := range []struct {
		user, method, path string
		want               *problem.Kind
	}{
		{"", http.MethodGet, "/nope", problem.NotFound},
		{"bad", http.MethodGet, "/nope", problem.InvalidToken},
		{"", http.MethodGet, "/v1/tasks/", problem.NotFound},
		{"", http.MethodGet, "/v1//tasks", problem.NotFound},
		{"bad", http.MethodGet, "/v1/tasks/", problem.InvalidToken},
		{"", http.MethodPut, "/v1/tasks", problem.MethodNotAllowed},
		{"bad", http.MethodPut, "/v1/tasks", problem.InvalidToken},
	} {
		a := s.Do(c.user, c.method, c.path, nil, "Origin", "https://elsewhere.example.org")
		if a.Status != c.want.Status || a.Header.Get("Content-Type") != problem.MediaType || a.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s as %q: %d %v", c.method, c.path, c.user, a.Status, a.Header)
		}
	}
}
