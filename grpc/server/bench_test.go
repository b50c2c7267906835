package server_test

import (
	"io"
	"net/http"
	"testing"

	"assay/grpc/assayv1"
)

// BenchmarkGetRun gets the same public run over gRPC and over HTTP, with Go clients on the same machine.
func BenchmarkGetRun(b *testing.B) {
	s := newFixture(b)
	id := s.image("ada", s.dataset())[0]
	b.Run("gRPC", func(b *testing.B) {
		ctx := s.as("")
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if _, err := s.runs.GetRun(ctx, &assayv1.GetRunRequest{RunId: id}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
	b.Run("HTTP", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				resp, err := client.Get(s.URL + "/v1/runs/" + id)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	})
}
