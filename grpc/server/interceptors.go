package server

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/record"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

// Names of metadata.
const (
	authorizationKey = "authorization"
	requestIDKey     = "x-request-id"
)

// Limits of time of one call that is no stream. Lease waits as long as its worker wants to.
const (
	callTime  = 30 * time.Second
	leaseTime = maxWait + 15*time.Second
)

// maxRequestID is how long an id of a request may be; it is taken from the caller as over HTTP.
const maxRequestID = 128

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// call is what is known of one call on its way.
type call struct {
	server    *Server
	method    string
	requestID string
	started   time.Time
	caller    access.Caller
}

// begin takes or makes the id of the call, and finds out who calls and whether he may.
func (s *Server) begin(ctx context.Context, method string) (*call, context.Context, error) {
	c := &call{server: s, method: method, started: time.Now()}
	md, _ := metadata.FromIncomingContext(ctx)
	if ids := md.Get(requestIDKey); len(ids) > 0 {
		c.requestID = ids[0]
	}
	if len(c.requestID) > maxRequestID || !requestIDs.MatchString(c.requestID) {
		c.requestID = record.NewID(c.started)
	}
	err := safely(func() error {
		if err := c.authenticate(ctx, md.Get(authorizationKey)); err != nil {
			return err
		}
		return authorize(c.caller, method)
	})
	return c, context.WithValue(ctx, callerKey{}, c.caller), err
}

// authenticate finds out who calls. A token that is not valid is refused everywhere, for whoever sends one means to be known.
func (c *call) authenticate(ctx context.Context, values []string) (err error) {
	if len(values) == 0 {
		return nil
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") {
		return problem.InvalidToken.New("Send one value of the metadata authorization, of the form: Bearer <token>.")
	}
	c.caller, err = c.server.env.Verify(ctx, strings.TrimSpace(token))
	return err
}

// end returns the status of the call, and logs the call.
func (c *call) end(ctx context.Context, err error) error {
	attrs := []slog.Attr{
		slog.String("requestId", c.requestID), slog.String("method", c.method), slog.String("user", c.caller.ID), slog.Duration("took", time.Since(c.started)),
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
		err = st.Err()
	}
	attrs = append(attrs, slog.String("code", code.String()))
	c.server.env.Log.LogAttrs(ctx, level, "call", attrs...)
	return err
}

// safely calls do, and turns a panic into an error.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

func (s *Server) unary(ctx context.Context, in any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (out any, err error) {
	limit := callTime
	if info.FullMethod == assayv1.WorkerService_Lease_FullMethodName {
		limit = leaseTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, ctx, err := s.begin(ctx, info.FullMethod)
	_ = grpc.SetHeader(ctx, metadata.Pairs(requestIDKey, c.requestID)) // the one who would be told is gone
	if err == nil {
		err = safely(func() (err error) {
			out, err = handle(ctx, in)
			return err
		})
	}
	return out, c.end(ctx, err)
}

func (s *Server) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	unlink := context.AfterFunc(s.stopping, cancel)
	defer unlink()
	c, ctx, err := s.begin(ctx, info.FullMethod)
	_ = stream.SetHeader(metadata.Pairs(requestIDKey, c.requestID))
	if err == nil {
		err = safely(func() error { return handle(srv, &ownStream{stream, ctx}) })
	}
	if err != nil && s.stopping.Err() != nil {
		err = errStopping
	}
	return c.end(stream.Context(), err)
}

var errStopping = problem.Unavailable.New("The server stops. Ask again, and another one answers; a watcher goes on from its last resume token.").After(time.Second)

// ownStream is a stream with the context of its call.
type ownStream struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // as grpc.ServerStream has it
}

// Context implements grpc.ServerStream.
func (s *ownStream) Context() context.Context { return s.ctx }

// RecvMsg implements grpc.ServerStream.
func (s *ownStream) RecvMsg(m any) error { return decode(s.ServerStream.RecvMsg, m) }
