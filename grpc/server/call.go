package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/access"
	"assay/shared/edge/auth"
	"assay/shared/language/metrics"
	"assay/shared/language/panics"
	"assay/shared/language/problem"
	"assay/shared/language/wait"
	"assay/shared/service/visibility"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/tap"
)

// call is the state of one call.
type call struct {
	server      *Server
	method      string
	requestID   string
	started     time.Time
	network     string // network.Network of the address that it came from
	caller      access.Caller
	token       string // as sent
	releaseSlot func() // called when the first message has arrived, or cannot arrive any more
}

type callKey struct{}

// callIn returns the call that tap has put into the context.
func callIn(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// callerOf returns the caller of the call.
func callerOf(ctx context.Context) access.Caller { return callIn(ctx).caller }

const (
	firstMessageTimeout = 20 * time.Second // for the arrival of a call's first message
	slotRetryDelay      = time.Second      // suggested to a call without a slot

	authenticationTimeout = 3 * time.Second
)

// Like GETs over HTTP, calls have no rate limits, because a call costs a few reads. Concurrent calls are limited by slots. Calls of
// workers with access tokens that wait for work are limited by maxWaitingLeases.

// tap authenticates and authorizes a call, and takes a slot for it, before its message is read.
func (s *Server) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	c := &call{server: s, method: info.FullMethodName, started: time.Now()}
	md, _ := metadata.FromIncomingContext(ctx)
	sent := ""
	if ids := md.Get(requestIDKey); len(ids) > 0 {
		sent = ids[0]
	}
	c.requestID, c.network = auth.RequestID(sent, c.started), s.network(ctx, md)
	err := panics.Catch(func() error {
		if err := c.authenticate(ctx, md.Get(authorizationKey)); err != nil {
			return err
		}
		return authorize(c.caller, c.method)
	})
	if err == nil {
		if ctx, err = c.acquireSlot(context.WithValue(ctx, callKey{}, c)); err == nil {
			ctx = c.recheckToken(ctx) // only for accepted calls, because the contexts of refused calls do not end with them
		}
	}
	if err != nil {
		return ctx, c.end(ctx, err)
	}
	return ctx, nil
}

// acquireSlot takes a slot until the first message has arrived. The returned context ends if that takes longer than firstMessageTimeout.
func (c *call) acquireSlot(ctx context.Context) (context.Context, error) {
	receiveCtx, cancel := context.WithCancel(ctx)
	of, caller := c.slotOwner()
	end, ok := c.server.slots.acquire(of, caller, cancel)
	if !ok {
		cancel()
		return ctx, problem.Unavailable.New("Too many calls are on their way at the moment. Try again in a second.").After(slotRetryDelay)
	}
	timeout := time.AfterFunc(firstMessageTimeout, cancel)
	release := sync.OnceFunc(func() {
		timeout.Stop()
		end()
	})
	unlink := context.AfterFunc(receiveCtx, release)
	c.releaseSlot = func() {
		unlink()
		release()
	}
	return receiveCtx, nil
}

// authenticate identifies the caller. Every method refuses an invalid token, because the client expects to be identified.
func (c *call) authenticate(ctx context.Context, values []string) error {
	token, err := auth.BearerToken(values)
	if err != nil || token == "" {
		return err
	}
	ctx = auth.WithAddress(ctx, c.network)
	ctx, cancel := context.WithTimeout(ctx, authenticationTimeout) // other calls of the connection wait meanwhile
	defer cancel()
	c.token = token
	c.caller, err = c.server.env.Verify(ctx, token)
	return err
}

// revoked returns the problem with which recheckToken ended the context, or nil.
func revoked(ctx context.Context) error {
	if p, ok := errors.AsType[*problem.Error](context.Cause(ctx)); ok {
		return p
	}
	return nil
}

// tokenCheckInterval is the interval at which the access token of a running call is looked up again.
const tokenCheckInterval = 4 * time.Second

// recheckToken returns a context that ends when the access token of the call is no longer accepted, because a call can last for an hour.
// The cause of the end is the problem.
func (c *call) recheckToken(ctx context.Context) context.Context {
	if c.caller.Token == nil {
		return ctx
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go wait.Every(ctx, tokenCheckInterval, func() {
		if _, err := c.server.env.Verify(ctx, c.token); problem.InvalidToken.Is(err) {
			cancel(err)
		}
	})
	return ctx
}

// end logs the call, and returns its status.
func (c *call) end(ctx context.Context, err error) error {
	attrs := []slog.Attr{
		slog.String("requestId", c.requestID), slog.String("method", c.method), slog.String("user", c.caller.ID),
		slog.Duration("took", time.Since(c.started)),
	}
	level := slog.LevelInfo
	code := codes.OK
	if err != nil {
		st := statusOf(ctx, err, c.requestID)
		switch code = st.Code(); code {
		case codes.Internal, codes.Unknown:
			level = slog.LevelError
		case codes.Unavailable:
			level = slog.LevelWarn
		}
		attrs = append(attrs, slog.Any("error", err))
		if problem.TooManyRequests.Is(err) {
			c.server.env.Metrics.Record(metrics.QuotaRefusals, 1, problem.TooManyRequests.Slug)
		}
		err = st.Err()
	}
	attrs = append(attrs, slog.String("code", code.String()))
	c.server.env.Log.LogAttrs(ctx, level, "call", attrs...)
	return err
}

// Metadata keys.
const (
	authorizationKey = "authorization"
	requestIDKey     = "x-request-id"
)

// Timeouts of unary calls. Lease may wait as long as its worker requests.
const (
	callTimeout      = 30 * time.Second
	leaseCallTimeout = maxWait + 15*time.Second
)

func (s *Server) unary(ctx context.Context, in any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (out any, err error) {
	limit := callTimeout
	if info.FullMethod == assayv1.WorkerService_Lease_FullMethodName {
		limit = leaseCallTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := callIn(ctx)
	c.releaseSlot()
	_ = grpc.SetHeader(ctx, metadata.Pairs(requestIDKey, c.requestID))
	err = panics.Catch(func() (err error) {
		if methodRights[info.FullMethod].role == access.Worker {
			err = s.env.authorizeToken(ctx, c.caller)
		}
		if err == nil {
			out, err = handle(ctx, in)
		}
		return err
	})
	return out, c.end(ctx, err)
}

func (s *Server) stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	unlink := context.AfterFunc(s.stopping, cancel)
	defer unlink()
	c := callIn(ctx)
	_ = stream.SetHeader(metadata.Pairs(requestIDKey, c.requestID))
	err := panics.Catch(func() error { return handle(srv, &callStream{stream, ctx, c}) })
	if err != nil && s.stopping.Err() != nil {
		err = errStopping
	}
	return c.end(stream.Context(), err)
}

var errStopping = problem.Unavailable.New("The server stops. Call again, and another one answers; a watcher continues from its last " +
	"resume token.").After(time.Second)

// callStream is a stream with the context of its call. The context also ends when the server stops.
type callStream struct {
	grpc.ServerStream
	ctx  context.Context //nolint:containedctx // required by grpc.ServerStream
	call *call
}

func (s *callStream) Context() context.Context { return s.ctx }

func (s *callStream) RecvMsg(m any) error {
	defer s.call.releaseSlot()
	return decode(s.ServerStream.RecvMsg, m)
}

// If a message cannot be decoded, gRPC answers INTERNAL before any handler or interceptor is called, although the caller is at fault. So
// decoding always succeeds for gRPC. codec stores the fault with the message, and decode returns it.

// decodeTarget is a message to decode into, and the fault of the decoding.
type decodeTarget struct {
	into  any
	fault error
}

// codec is the codec of Protocol Buffers, except that it stores faults in a decodeTarget.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*decodeTarget)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	if n := data.Len(); n > maxMessage {
		r.fault = problem.TooLarge.New("The message has %s; at most %s are allowed. Send less in one call.", problem.Size(n),
			problem.Size(maxMessage))
		return nil
	}
	if err := c.CodecV2.Unmarshal(data, r.into); err != nil {
		r.fault = problem.BadRequest.Wrap(err,
			"The message cannot be decoded: it is cut off, is of another type, or has a string that is not valid UTF-8.")
	}
	return nil
}

// decode receives a message, and returns the fault of its decoding.
func decode(receive func(any) error, into any) error {
	r := decodeTarget{into: into}
	if err := receive(&r); err != nil {
		return err
	}
	return r.fault
}

// decoding returns the service with methods that answer with a problem if a message cannot be decoded.
func (s *Server) decoding(d grpc.ServiceDesc) *grpc.ServiceDesc {
	methods := make([]grpc.MethodDesc, len(d.Methods))
	for i, m := range d.Methods {
		methods[i] = grpc.MethodDesc{
			MethodName: m.MethodName, Handler: func(srv any, ctx context.Context, dec func(any) error, i grpc.UnaryServerInterceptor) (any, error) {
				var failed error
				out, err := m.Handler(srv, ctx, func(in any) error {
					failed = decode(dec, in)
					return failed
				}, i)
				if failed == nil {
					return out, err
				}
				c := callIn(ctx)
				c.releaseSlot()
				_ = grpc.SetHeader(ctx, metadata.Pairs(requestIDKey, c.requestID))
				return nil, c.end(ctx, failed)
			}}
	}
	d.Methods = methods
	return &d
}

// methodRights lists the requirements of each method: a role and, for callers with an access token, one of the scopes. Methods without
// an entry are refused. RunService also decides for each run what the caller sees.
var methodRights = map[string]struct {
	role  access.Role
	token access.TokenScope
}{
	assayv1.WorkerService_Lease_FullMethodName:            {access.Worker, access.ScopeWork},
	assayv1.WorkerService_Heartbeat_FullMethodName:        {access.Worker, access.ScopeWork},
	assayv1.WorkerService_CompleteRun_FullMethodName:      {access.Worker, access.ScopeWork},
	assayv1.WorkerService_ReportEvaluation_FullMethodName: {access.Worker, access.ScopeWork},
	assayv1.WorkerService_FailRun_FullMethodName:          {access.Worker, access.ScopeWork},

	assayv1.RunService_GetRun_FullMethodName:   {access.Anyone, access.ScopeReading},
	assayv1.RunService_ListRuns_FullMethodName: {access.Anyone, access.ScopeReading},
	assayv1.RunService_WatchRun_FullMethodName: {access.Anyone, access.ScopeReading},

	grpc_health_v1.Health_Check_FullMethodName: {access.Anyone, access.AnyScope},
	grpc_health_v1.Health_List_FullMethodName:  {access.Anyone, access.AnyScope},
	grpc_health_v1.Health_Watch_FullMethodName: {access.Anyone, access.AnyScope},

	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:            {access.Anyone, access.AnyScope},
	grpc_reflection_v1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: {access.Anyone, access.AnyScope},
}

// authorize returns a problem if the caller may not call the method.
func authorize(c access.Caller, method string) error {
	need := methodRights[method]
	if !c.Allows(need.token) {
		return visibility.LacksScope(c, need.token)
	}
	roles := access.Roles(c, access.Grants{}, access.Scope{})
	if c.Token != nil && c.Token.Scopes&access.ScopeWork != 0 {
		roles |= access.Worker // only here, because elsewhere this role may read ground truths
	}
	switch access.Decide(need.role, roles, access.Scope{Audience: access.Everyone}) {
	case access.Allow:
		return nil
	case access.Login:
		return problem.Unauthorized.New("This needs a login. Send a bearer token of the sign-in issuer, or an access token, in the metadata: " +
			"authorization: Bearer <token>.")
	case access.Forbid:
		return problem.Forbidden.New("Only %s can do this.", need.role)
	default:
		return visibility.Missing
	}
}
