package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"assay/local/cli/client"
)

// TestDo_TakesNoTokenElsewhere follows a redirect to another port of the same host, like for a result in the object store, and an endless
// chain of redirects.
func TestDo_TakesNoTokenElsewhere(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := r.Header.Get("Authorization"); token != "" {
			t.Errorf("another server gets %s", token)
		}
		_, _ = w.Write([]byte(`"stored"`))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/endless" {
			http.Redirect(w, r, "/endless", http.StatusSeeOther)
			return
		}
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Error("the server gets no token")
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(base, "test", func(string, time.Duration) {})
	c.Token = func(context.Context, bool) (string, error) { return "secret", nil }
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if got, err := client.Call[string](t.Context(), c, method, "/result", nil); err != nil || got != "stored" {
			t.Errorf("%s: %q, %v", method, got, err)
		}
	}
	_, err = c.Do(t.Context(), client.Request{Method: http.MethodGet, Path: "/endless"})
	if err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("the error is %v", err)
	}
}

// TestDo_NamesTheServerOfAnUnreadableAnswer names the host. People in a terminal do not know the paths of the API.
func TestDo_NamesTheServerOfAnUnreadableAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("[", 10_000))
	}))
	defer server.Close()
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(base, "test", func(string, time.Duration) {})
	_, err = c.Do(t.Context(), client.Request{Method: http.MethodGet, Path: "/v1/tasks"})
	if err == nil || strings.Contains(err.Error(), "/v1") || !strings.Contains(err.Error(), base.Host) {
		t.Errorf("the error is %v", err)
	}
}
