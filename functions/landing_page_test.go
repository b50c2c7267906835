package functions_test

import (
	"net/http"
	"testing"
	"time"
)

// Caches keep the page of the public tasks until one of them opens or closes, and for a minute at most.
func TestLandingPage_IsKeptUntilATaskChangesItsStage(t *testing.T) {
	f := newPhases(t)
	check := func(when, want string) {
		t.Helper()
		a := f.Want(http.StatusOK, nil, "", http.MethodGet, "/", nil, "Accept", "text/html")
		if got := a.Header.Get("Cache-Control"); got != want {
			t.Errorf("%s it is %q, want %q", when, got, want)
		}
	}
	check("without a close", "public, max-age=60")
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"submissions": map[string]any{"closesAt": f.in(time.Hour)}})
	check("long before the close", "public, max-age=60")
	f.ahead.Store(int64(time.Hour - 20500*time.Millisecond))
	check("shortly before it", "public, max-age=20")
	f.ahead.Store(int64(time.Hour))
	check("after it", "public, max-age=60")
}
