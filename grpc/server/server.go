// Package server is the gRPC edge: workers lease runs through it, and programs watch runs. Behind it are the rules and the
// stores that the HTTP edge has: shared/queue moves runs, shared/visibility and functions/runs say what a caller sees.
//
// Who may call which method is told in access.go, and how problems travel in problems.go.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/access"
	"assay/shared/blob"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/store"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // of messages; maxReceived bounds them decoded too
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// Env is what the server works with.
type Env struct {
	Store  store.Store
	Files  blob.Store
	Now    func() time.Time
	Log    *slog.Logger
	Verify func(ctx context.Context, token string) (access.Caller, error) // an error is a problem
	Quotas record.Quotas                                                  // that outputs of runs count in
}

// Options of a Server.
type Options struct {
	Lease      time.Duration // how long a heartbeat extends a lease
	FirstLease time.Duration // how long a lease lasts until the first heartbeat
	// Look is how often to look into the store for what nobody told of: seldom where Changed tells of all that is written,
	// every other second where others write too. Lapsed leases are looked for at least that often.
	Look time.Duration
	// Poll is how often to ask for what others write to the runs that are watched; 0 where Changed tells of all.
	Poll        time.Duration
	Credentials credentials.TransportCredentials // nil: plain text
	Reflection  bool                             // whether the server tells its protocol to whoever asks
}

// Defaults of the times of leases.
const (
	DefaultLease      = time.Minute
	DefaultFirstLease = 20 * time.Second
)

// sweepTime is how often lapsed leases are looked for at least.
const sweepTime = 2 * time.Second

// Server is the gRPC server.
type Server struct {
	env      Env
	grpc     *grpc.Server
	health   *health.Server
	dispatch *dispatcher
	sweep    *sweeper
	hub      *hub
	arrivals arrivals

	stopping context.Context //nolint:containedctx // its end tells the streams, which have contexts of their own, to end
	stop     context.CancelFunc
}

// Limits of connections.
const (
	maxMessage    = 4 << 20
	maxReceived   = maxMessage + 64<<10 // a message that is a little too large is read to say so
	maxStreams    = 250                 // at the same time in one connection
	idleTime      = 15 * time.Minute    // after which an idle connection is closed
	connectionAge = time.Hour           // after which clients are asked to connect anew
	ageGrace      = 2 * time.Minute     // and then the connection is closed, whatever goes on in it
	pingTime      = time.Minute         // after which a silent client is asked whether it is there
	minPingTime   = 10 * time.Second    // more often a client may not ask the same
	stopTime      = 15 * time.Second    // for calls under way when the server stops
)

// New returns a server, which Serve starts.
func New(env Env, o Options) *Server {
	s := &Server{env: env, health: health.NewServer()}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.dispatch = newDispatcher(queue.Queue{Store: env.Store, Now: env.Now}, env.Log, o.FirstLease, o.Look)
	s.sweep = &sweeper{queue: queue.Queue{Store: env.Store, Now: env.Now}, log: env.Log, lease: o.Lease, every: min(o.Look, sweepTime)}
	s.hub = newHub(env.Store, env.Files, env.Log, o.Poll)
	s.grpc = grpc.NewServer(
		grpc.Creds(o.Credentials), grpc.InTapHandle(s.tap), grpc.ForceServerCodecV2(newCodec()), grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream),
		grpc.MaxRecvMsgSize(maxReceived), grpc.MaxConcurrentStreams(maxStreams),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTime, MaxConnectionAge: connectionAge, MaxConnectionAgeGrace: ageGrace, Time: pingTime}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPingTime, PermitWithoutStream: true}),
	)
	s.grpc.RegisterService(s.decoding(assayv1.WorkerService_ServiceDesc), newWorkers(env, s.dispatch, o.Lease))
	s.grpc.RegisterService(s.decoding(assayv1.RunService_ServiceDesc), &runService{env: env, hub: s.hub})
	s.grpc.RegisterService(s.decoding(grpc_health_v1.Health_ServiceDesc), s.health)
	for _, name := range services {
		s.health.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_NOT_SERVING) // until the store has answered
	}
	if o.Reflection {
		reflection.Register(s.grpc)
	}
	return s
}

// Changed tells the server of items that were just written; it is made to be the hook of a store.
func (s *Server) Changed(items []store.Item) {
	s.dispatch.changed(items)
	s.hub.changed(items)
}

// Serve serves until the context ends. Then no more work is handed out, who waits is sent away, and calls under way get some
// time to end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, run := range []func(context.Context){s.watchHealth, s.dispatch.run, s.sweep.run, s.hub.run} {
		all.Go(func() { run(work) })
	}
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(l) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	stop()
	s.stop()
	all.Wait()
	gone := time.AfterFunc(stopTime, s.grpc.Stop)
	s.grpc.GracefulStop()
	gone.Stop()
	if err != nil {
		return fmt.Errorf("gRPC on %s: %w", l.Addr(), err)
	}
	return nil
}
