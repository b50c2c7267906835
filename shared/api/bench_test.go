package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"assay/shared/api"
)

// The edge alone, without a connection: what a request costs from its first byte to the last of its answer.

func BenchmarkGet(b *testing.B) {
	sc := serve(b)
	ask(b, sc, sc.note("one"))
}

func BenchmarkPage50(b *testing.B) {
	sc := serve(b)
	for i := range 60 {
		sc.note(fmt.Sprint(i))
	}
	ask(b, sc, "/v1/notes?limit=50")
}

func ask(b *testing.B, sc *scene, path string) {
	handler := api.New(sc.Env, sc.operations)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
