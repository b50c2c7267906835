// Package server serves the gRPC API: workers lease runs by long polling and extend their leases with heartbeats, and programs
// watch runs as server streams. One dispatcher polls the queue for all workers that wait, and one sweeper reclaims expired leases.
//
// Each stream of WatchRun is one loop: it reads the run, sends what its client does not have, and waits until this process has written
// to the run or a second has passed. The streams of a run share what they read, the run in watchedRuns and lines in logPages. Otherwise
// 200 streams would read the same item 200 times a second, and their memory would grow with the logs.
//
// The server shares its rules and stores with the HTTP API: shared/service/queue has the transitions of runs, and
// shared/service/visibility and shared/service/runview decide what a caller sees. call.go has the role that each method requires, and
// problems.go converts errors.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/metrics"
	"assay/shared/language/wait"
	"assay/shared/service/queue"
	"assay/shared/service/runlog"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // of messages; maxReceived bounds them decoded too
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// Env holds the dependencies of a Server.
type Env struct {
	Store  store.Store
	Files  blob.Store
	Now    func() time.Time
	Log    *slog.Logger
	Verify func(ctx context.Context, token string) (access.Caller, error) // its errors are problems
	Quotas record.Quotas                                                  // outputs of runs count against them
	// Metrics records events of runs. RecordMetrics records current values.
	Metrics metrics.Recorder
}

// Options are settings of a Server.
type Options struct {
	Lease      time.Duration // how long a heartbeat extends a lease
	FirstLease time.Duration // how long a lease lasts until the first heartbeat
	// QueuePollInterval is the interval of polls without a notification. It can be long if Changed reports all writes. If other
	// processes write too, two seconds suit.
	QueuePollInterval time.Duration
	Credentials       credentials.TransportCredentials // nil: plain text
	Reflection        bool                             // whether server reflection is served
	// ProxyHeader is a header whose last address is the caller's. Set it only for a server behind a proxy that sets the header.
	// Empty: none.
	ProxyHeader string
}

// Defaults of leases.
const (
	DefaultLease      = time.Minute
	DefaultFirstLease = 20 * time.Second
)

// maxSweepInterval bounds the interval between sweeps for expired leases.
const maxSweepInterval = 2 * time.Second

// Server is the gRPC server.
type Server struct {
	env         Env
	proxyHeader string
	grpc        *grpc.Server
	health      *health.Server

	dispatch *dispatcher
	sweep    *sweeper
	watched  *watchedRuns
	workers  *workerService
	slots    callSlots

	stopping context.Context //nolint:containedctx // ends all streams, which have contexts of their own
	stop     context.CancelFunc
}

// Limits of connections.
const (
	maxMessage       = 4 << 20
	maxReceived      = maxMessage + 64<<10 // a message slightly over the limit is received, and refused with a reason
	maxStreams       = 250                 // concurrent calls of one connection
	idleTime         = 15 * time.Minute    // after which an idle connection is closed
	connectionAge    = time.Hour           // after which clients are asked to reconnect
	connectionGrace  = 2 * time.Minute     // after which the connection is then closed
	keepAliveTime    = time.Minute         // after which a silent client is pinged
	minKeepAliveTime = 10 * time.Second    // between a client's pings
	shutdownTimeout  = 15 * time.Second    // for active calls when the server stops
)

// New returns a server. Serve starts it.
func New(env Env, o Options) *Server {
	s := &Server{env: env, health: health.NewServer(), proxyHeader: o.ProxyHeader}
	s.stopping, s.stop = context.WithCancel(context.Background())
	q := queue.Queue{Store: env.Store, Now: env.Now, Metrics: env.Metrics}
	s.dispatch = newDispatcher(q, env.Log, o.FirstLease, o.QueuePollInterval)
	s.workers = newWorkerService(env, s.dispatch, o.Lease)
	s.sweep = &sweeper{queue: q, log: env.Log, lease: o.Lease,
		interval: min(o.QueuePollInterval, maxSweepInterval)}
	s.watched = newWatchedRuns(runlog.Logs{Store: env.Store, Files: env.Files})
	s.grpc = grpc.NewServer(
		grpc.Creds(o.Credentials), grpc.InTapHandle(s.tap), grpc.ForceServerCodecV2(newCodec()), grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
		grpc.MaxRecvMsgSize(maxReceived), grpc.MaxConcurrentStreams(maxStreams),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTime, MaxConnectionAge: connectionAge,
			MaxConnectionAgeGrace: connectionGrace, Time: keepAliveTime}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minKeepAliveTime, PermitWithoutStream: true}),
	)
	s.grpc.RegisterService(s.decoding(assayv1.WorkerService_ServiceDesc), s.workers)
	s.grpc.RegisterService(s.decoding(assayv1.RunService_ServiceDesc), &runService{env: env, watched: s.watched,
		watches: openCalls{method: "WatchRun", most: maxWatches}})
	s.grpc.RegisterService(s.decoding(grpc_health_v1.Health_ServiceDesc), s.health)
	s.setHealth(grpc_health_v1.HealthCheckResponse_NOT_SERVING, live, ready) // until the store's first answer
	if o.Reflection {
		reflection.Register(s.grpc)
	}
	return s
}

// Changed notifies the server of items that were just written. It serves as a store's hook.
func (s *Server) Changed(items []store.Item) {
	s.dispatch.changed(items)
	s.watched.changed(items)
}

// RecordMetrics records the number of live workers and of waiting runs.
func (s *Server) RecordMetrics(ctx context.Context, r metrics.Recorder) error {
	s.workers.serving.recordAlive(r, s.env.Now())
	return queue.Queue{Store: s.env.Store, Now: s.env.Now, Metrics: r}.RecordWaiting(ctx)
}

// Serve serves until the context ends. Then it leases no more runs, answers waiting workers with no run, and waits up to shutdownTimeout
// for calls to end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, run := range []func(context.Context){s.watchHealth, s.dispatch.run, s.sweep.run} {
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
	force := time.AfterFunc(shutdownTimeout, s.grpc.Stop)
	s.grpc.GracefulStop()
	force.Stop()
	if err != nil {
		return fmt.Errorf("gRPC on %s: %w", l.Addr(), err)
	}
	return nil
}

// Names of the health service. The empty name is for liveness. It serves from the store's first answer until the server stops. So a
// server that never reaches its store is replaced, and an outage of the store restarts no server. The names of the services are for
// readiness: they serve while the store answers. The issuer does not matter, because access tokens, and tokens with known keys, are
// verified without it.
var (
	live  = []string{""}
	ready = []string{assayv1.WorkerService_ServiceDesc.ServiceName, assayv1.RunService_ServiceDesc.ServiceName}
)

const (
	pingInterval = 5 * time.Second // between pings of the store
	pingTimeout  = 3 * time.Second // for the store's answer
)

// watchHealth sets the serving statuses according to the store's answers.
func (s *Server) watchHealth(ctx context.Context) {
	wait.Every(ctx, pingInterval, func() { s.ping(ctx) })
	s.health.Shutdown()
}

func (s *Server) ping(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, pingTimeout)
	defer cancel()
	if err := s.env.Store.Ping(ctx); err != nil {
		s.setHealth(grpc_health_v1.HealthCheckResponse_NOT_SERVING, ready)
		if parent.Err() == nil {
			s.env.Log.ErrorContext(ctx, "the store does not answer", "error", err)
		}
		return
	}
	s.setHealth(grpc_health_v1.HealthCheckResponse_SERVING, live, ready)
}

func (s *Server) setHealth(status grpc_health_v1.HealthCheckResponse_ServingStatus, names ...[]string) {
	for _, name := range slices.Concat(names...) {
		s.health.SetServingStatus(name, status)
	}
}
