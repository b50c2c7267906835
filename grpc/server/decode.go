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

// Messages that cannot be decoded are the caller's fault, though gRPC calls that an internal error of the server, and tells
// the caller so itself, before any handler or interceptor could say anything else. So decoding never fails for gRPC: a fault
// is kept with the message, and reported by the caller that asked for the message.

// decodeTarget is a message to decode into, with what was wrong with its bytes.
type decodeTarget struct {
	into  any
	fault error
}

// codec is the one of Protocol Buffers, save that faults of a received stay with it.
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
		r.fault = problem.BadRequest.Wrap(err, "The message cannot be decoded: it is cut off, is of another type, or has a string that is not valid UTF-8.")
	}
	return nil
}

// decode receives a message by a function that hands its bytes to the codec.
func decode(receive func(any) error, into any) error {
	r := decodeTarget{into: into}
	if err := receive(&r); err != nil {
		return err
	}
	return r.fault
}

// decoding is a service whose methods answer with a problem when a message cannot be decoded.
func (s *Server) decoding(d grpc.ServiceDesc) *grpc.ServiceDesc {
	methods := make([]grpc.MethodDesc, len(d.Methods))
	for i, m := range d.Methods {
		methods[i] = grpc.MethodDesc{MethodName: m.MethodName, Handler: func(srv any, ctx context.Context, dec func(any) error, i grpc.UnaryServerInterceptor) (any, error) {
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
