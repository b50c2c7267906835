package server

import (
	"context"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/panics"
	"assay/shared/problem"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Names of metadata.
const (
	authorizationKey = "authorization"
	requestIDKey     = "x-request-id"
)

// Timeouts of unary calls. Lease waits for as long as its worker asks.
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
		out, err = handle(ctx, in)
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

// callStream is a stream with the context of its call, which ends when the server stops.
type callStream struct {
	grpc.ServerStream
	ctx  context.Context //nolint:containedctx // as grpc.ServerStream has it
	call *call
}

// Context implements grpc.ServerStream.
func (s *callStream) Context() context.Context { return s.ctx }

// RecvMsg implements grpc.ServerStream.
func (s *callStream) RecvMsg(m any) error {
	defer s.call.releaseSlot()
	return decode(s.ServerStream.RecvMsg, m)
}
