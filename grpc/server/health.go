package server

import (
	"context"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/wait"

	"google.golang.org/grpc/health/grpc_health_v1"
)

// services are those that the health service knows; the empty name is the whole server.
var services = []string{"", assayv1.WorkerService_ServiceDesc.ServiceName, assayv1.RunService_ServiceDesc.ServiceName}

const (
	pingInterval = 5 * time.Second // how often to ping the store
	pingTimeout  = 3 * time.Second // for the store to answer
)

// watchHealth sets the serving status by whether the store answers.
func (s *Server) watchHealth(ctx context.Context) {
	wait.Every(ctx, pingInterval, func() { s.ping(ctx) })
	s.health.Shutdown()
}

func (s *Server) ping(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, pingTimeout)
	defer cancel()
	now := grpc_health_v1.HealthCheckResponse_SERVING
	if err := s.env.Store.Ping(ctx); err != nil {
		now = grpc_health_v1.HealthCheckResponse_NOT_SERVING
		if parent.Err() == nil {
			s.env.Log.ErrorContext(ctx, "the store does not answer", "error", err)
		}
	}
	for _, name := range services {
		s.health.SetServingStatus(name, now)
	}
}
