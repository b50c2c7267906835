package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The benchmarks measure requests to the handler without a connection.

func BenchmarkGet(b *testing.B) {
	s := serve(b)
	ask(b, s, s.note("one"))
}

func BenchmarkPage50(b *testing.B) {
	s := serve(b)
	for i := range 60 {
		s.note(fmt.Sprint(i))
	}
	ask(b, s, "/v1/notes?limit=50")
}

func ask(b *testing.B, s *noteServer, path string) {
	handler := s.handler()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
