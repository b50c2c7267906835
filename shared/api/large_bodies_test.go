package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"assay/shared/api"
)

// TestLargeBodies_AreBoundedInNumber has users send bodies that do not end: a fifth large one of the same user is refused, and a
// seventeenth of all, while small ones are taken from everybody, and there is room again once a large one is answered.
func TestLargeBodies_AreBoundedInNumber(t *testing.T) {
	sc := serve(t)
	handler := api.New(sc.Env, sc.operations)
	post := func(user string, body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/notes", body)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+user)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	large := strings.Repeat(" ", 100<<10)
	var under sync.WaitGroup
	defer under.Wait()
	begin := func(user string) (end func()) {
		body, in := io.Pipe()
		under.Go(func() { post(user, body) })
		_, _ = in.Write([]byte(large)) // returns when all of it was read, so the body counts
		return func() { _ = in.Close() }
	}
	refusedTo := func(user string) bool {
		w := post(user, strings.NewReader(large))
		if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != "1" {
			t.Errorf("the refusal says to try again in %q seconds", w.Header().Get("Retry-After"))
		}
		return w.Code == http.StatusServiceUnavailable
	}
	var ends []func()
	for _, user := range []string{"a", "b", "c", "d"} {
		for range 4 {
			if refusedTo(user) {
				t.Errorf("a large body of %s is refused, of whom fewer than four are on their way", user)
			}
			ends = append(ends, begin(user))
		}
		if !refusedTo(user) {
			t.Errorf("a fifth large body of %s is taken", user)
		}
	}
	if !refusedTo("e") {
		t.Error("a seventeenth large body is taken")
	}
	for _, user := range []string{"a", "e"} {
		if w := post(user, strings.NewReader(`{"name":"`+user+`"}`)); w.Code != http.StatusCreated {
			t.Errorf("a small body of %s: status %d", user, w.Code)
		}
	}
	for _, end := range ends {
		end()
	}
	under.Wait()
	if refusedTo("a") {
		t.Error("a large body is refused although all others are answered")
	}
}
