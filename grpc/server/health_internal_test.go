package server

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"assay/shared/record/recordtest"
	"assay/shared/store"
	"assay/shared/store/embedded"

	"google.golang.org/grpc/health/grpc_health_v1"
)

// failingStore is a store that can stop answering.
type failingStore struct {
	store.Store
	down bool
}

func (s *failingStore) Ping(ctx context.Context) error {
	if s.down {
		return errors.New("no answer")
	}
	return s.Store.Ping(ctx)
}

func TestHealth_FollowsTheStore(t *testing.T) {
	table := &failingStore{Store: recordtest.OpenStore(t, embedded.Options{})}
	s := New(Env{Store: table, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, Options{QueuePollInterval: time.Hour})
	wantStatus := func(want grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for _, name := range services {
			if got, err := s.health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name}); err != nil || got.GetStatus() != want {
				t.Errorf("%q is %s, %v; want %s", name, got.GetStatus(), err, want)
			}
		}
	}
	wantStatus(grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	s.ping(t.Context())
	wantStatus(grpc_health_v1.HealthCheckResponse_SERVING)
	table.down = true
	s.ping(t.Context())
	wantStatus(grpc_health_v1.HealthCheckResponse_NOT_SERVING)
}
