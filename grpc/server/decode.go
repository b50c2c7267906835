package server

import (
	"context"

	"assay/shared/problem"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
)

// gRPC answers a message that cannot be decoded with INTERNAL, before any handler or interceptor is called, although it is the
// caller's fault. So decoding never fails for gRPC: the fault is kept with the message and reported by decode.

// decodeTarget is a message to decode into, with the fault of its bytes.
type decodeTarget struct {
	into  any
	fault error
}

// codec is that of Protocol Buffers, except that it stores faults in a decodeTarget.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*decodeTarget)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	if n := data.Len(); n > maxMessage {
		r.fault = problem.TooLarge.New("The message has %d bytes; %d are allowed. Send less in one call.", n, maxMessage)
		return nil
	}
	if err := c.CodecV2.Unmarshal(data, r.into); err != nil {
		r.fault = problem.BadRequest.Wrap(err,
			"The message cannot be decoded: it is cut off, is of another type, or has a string that is not valid UTF-8.")
	}
	return nil
}

// decode receives a message, and returns its fault.
func decode(receive func(any) error, into any) error {
	r := decodeTarget{into: into}
	if err := receive(&r); err != nil {
		return err
	}
	return r.fault
}

// decoding returns the service with methods that answer with a problem when a message cannot be decoded.
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
