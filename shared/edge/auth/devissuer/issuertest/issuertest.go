// Package issuertest serves a development issuer over HTTP for tests of programs that use an OpenID Connect issuer.
package issuertest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"assay/shared/edge/auth/devissuer"
)

// Issuer is an issuer at a URL.
type Issuer struct {
	*devissuer.Issuer
	URL  string
	Away atomic.Bool // while it is set, the issuer closes connections without an answer
}

// Start serves an issuer of tokens for the audience until the test ends.
func Start(t testing.TB, audience string) *Issuer {
	t.Helper()
	i := new(Issuer)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.Away.Load() {
			panic(http.ErrAbortHandler)
		}
		i.Handler(func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}).ServeHTTP(w, r)
	}))
	i.URL = "http://" + server.Listener.Addr().String()
	var err error
	if i.Issuer, err = devissuer.Open("", i.URL, audience); err != nil {
		t.Fatal(err)
	}
	server.Start() // after the fields that the handler reads are set
	t.Cleanup(server.Close)
	return i
}
