package server

import (
	"context"

	"assay/shared/problem"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Messages that cannot be decoded are the caller's fault, though gRPC calls that an internal error of the server, and does so
// before any interceptor is asked. So the handlers of a service are wrapped where they decode.

// undecoded returns what a caller is told whose message could not be decoded.
func undecoded(err error) error {
	if s, ok := status.FromError(err); ok && s.Code() == codes.Internal {
		return problem.BadRequest.Wrap(err, "The message cannot be decoded: it is cut off, is of another type, or has a string that is not valid UTF-8.")
	}
	return err
}

// decoding is a service whose methods answer with a problem when a message cannot be decoded.
func (s *Server) decoding(d grpc.ServiceDesc) *grpc.ServiceDesc {
	methods := make([]grpc.MethodDesc, len(d.Methods))
	for i, m := range d.Methods {
		methods[i] = grpc.MethodDesc{MethodName: m.MethodName, Handler: func(srv any, ctx context.Context, dec func(any) error, i grpc.UnaryServerInterceptor) (any, error) {
			var failed error
			out, err := m.Handler(srv, ctx, func(in any) error {
				failed = dec(in)
				return failed
			}, i)
			if failed == nil {
				return out, err
			}
			c, ctx, err := s.begin(ctx, "/"+d.ServiceName+"/"+m.MethodName)
			if err == nil {
				err = undecoded(failed)
			}
			return nil, c.end(ctx, err)
		}}
	}
	d.Methods = methods
	return &d
}
