package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/server"
	"assay/shared/api/servertest"
	"assay/shared/store"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// failingStore is a store that can stop answering.
type failingStore struct {
	store.Store
	down atomic.Bool
}

func (s *failingStore) Ping(ctx context.Context) error {
	if s.down.Load() {
		return errors.New("no answer")
	}
	return s.Store.Ping(ctx)
}

func TestHealth_FollowsTheStore(t *testing.T) {
	for _, down := range []bool{false, true} {
		table := &failingStore{Store: servertest.New(t).Store}
		table.down.Store(down)
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		edge := server.New(server.Env{Store: table, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, server.Options{Lease: leaseTime, FirstLease: leaseTime, QueuePollInterval: time.Hour})
		ended := make(chan error)
		go func() { ended <- edge.Serve(ctx, l) }()
		conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		health := grpc_health_v1.NewHealthClient(conn)
		serves := func() bool {
			out, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			return err == nil && out.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING
		}
		for range 20 {
			if serves() {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if serves() == down {
			t.Errorf("the store is down: %v, and the server serves: %v", down, serves())
		}
		_ = conn.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
