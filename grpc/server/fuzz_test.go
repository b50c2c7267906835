package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

func wait(d time.Duration) *durationpb.Duration { return durationpb.New(d) }

// rawCodec sends bytes unchanged.
type rawCodec struct{ encoding.Codec }

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (rawCodec) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = slices.Clone(b)
	return nil
}

// methods returns all methods of the protocol.
func methods() []grpc.StreamDesc {
	var all []grpc.StreamDesc
	for _, d := range []grpc.ServiceDesc{assayv1.WorkerService_ServiceDesc, assayv1.RunService_ServiceDesc} {
		for _, m := range d.Methods {
			all = append(all, grpc.StreamDesc{StreamName: "/" + d.ServiceName + "/" + m.MethodName})
		}
		for _, m := range d.Streams {
			all = append(all, grpc.StreamDesc{StreamName: "/" + d.ServiceName + "/" + m.StreamName, ServerStreams: true})
		}
	}
	return all
}

// call sends the bytes to the method as the user, and returns the error of the first answer.
func (s *fixture) call(user string, m grpc.StreamDesc, message []byte) error {
	ctx, cancel := context.WithCancel(s.as(user))
	defer cancel()
	stream, err := s.conn.NewStream(ctx, &m, m.StreamName, grpc.ForceCodec(rawCodec{}))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(&message); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	var answer []byte
	return stream.RecvMsg(&answer)
}

// statusFault returns what is wrong with the status of a call, whatever its request was; "" for a correct status.
func statusFault(err error) string {
	if err == nil {
		return ""
	}
	s := status.Convert(err)
	violations, slug := 0, ""
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.BadRequest:
			violations += len(d.GetFieldViolations())
		case *errdetails.ErrorInfo:
			slug = d.GetMetadata()["slug"]
		}
	}
	switch s.Code() {
	case codes.Unknown, codes.Internal, codes.DeadlineExceeded, codes.Unavailable, codes.Unimplemented:
		return fmt.Sprintf("ended with %v", s)
	case codes.InvalidArgument:
		if violations == 0 && slug != "bad-request" {
			return fmt.Sprintf("names no field that is at fault: %v %v", s, s.Details())
		}
	}
	if slug == "" {
		return fmt.Sprintf("has no slug: %v", s)
	}
	return ""
}

// FuzzMethods sends arbitrary bytes to every method, as a worker and without a login.
func FuzzMethods(f *testing.F) {
	id := "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"
	for _, m := range []proto.Message{
		&assayv1.LeaseRequest{Worker: "w", Pools: []string{"gpu"}, Kinds: []assayv1.WorkKind{1, 9}, Wait: wait(-time.Second)},
		&assayv1.HeartbeatRequest{RunId: id, LeaseId: id, FirstLine: -1, Lines: []*assayv1.OutputLine{{Stream: 9, Text: "x"}}},
		&assayv1.CompleteRunRequest{RunId: id, LeaseId: id, Files: []*assayv1.File{{Name: "../x", Size: -1, Sha256: "x"}}},
		&assayv1.ReportEvaluationRequest{RunId: id, LeaseId: id, Measures: map[string]float64{"x": 1}, EvaluatorVersion: "\n"},
		&assayv1.FailRunRequest{RunId: id, LeaseId: id, Fault: 9, Diagnostics: []*assayv1.Diagnostic{{}}},
		&assayv1.GetRunRequest{RunId: id, ReadMask: &fieldmaskpb.FieldMask{Paths: []string{"id", "x.y", "files.name"}}},
		&assayv1.ListRunsRequest{PageSize: -1, PageToken: "x", TaskId: "x", States: []assayv1.RunState{99}},
		&assayv1.WatchRunRequest{RunId: id, ResumeToken: "x"},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("\x0a\x02\xff\xfe"))
	f.Add([]byte("\x0a\x7f"))
	s := newFixture(f)
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, m := range methods() {
			if strings.HasSuffix(m.StreamName, "/Lease") && waits(message) {
				continue // the call waits, as its message asks
			}
			for _, user := range []string{"robot", ""} {
				if wrong := statusFault(s.call(user, m, message)); wrong != "" {
					t.Errorf("%s as %q, sent %q: %s", m.StreamName, user, message, wrong)
				}
			}
		}
	})
}

// waits reports whether a message to Lease asks to wait.
func waits(message []byte) bool {
	var in assayv1.LeaseRequest
	return proto.Unmarshal(message, &in) == nil && in.GetWait().AsDuration() > 0
}
