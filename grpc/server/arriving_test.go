package server_test

import (
	"testing"

	"assay/grpc/assayv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestArriving_CallersKeepNobodyOut opens calls of one user whose messages never come, more than are taken of all users.
func TestArriving_CallersKeepNobodyOut(t *testing.T) {
	s := newScene(t)
	for _, caller := range []string{"ada", ""} {
		for range 220 { // they are taken in the order in which they come on the connection
			if _, err := s.conn.NewStream(s.as(caller), &grpc.StreamDesc{ServerStreams: true}, assayv1.RunService_WatchRun_FullMethodName); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.runs.ListRuns(s.as(caller), &assayv1.ListRunsRequest{TaskId: s.task}); status.Code(err) != codes.Unavailable {
			t.Errorf("another call of %q: %v", caller, err)
		}
		if _, err := s.runs.ListRuns(s.as("bob"), &assayv1.ListRunsRequest{TaskId: s.task}); err != nil {
			t.Errorf("a call of another user: %v", err)
		}
		_, err := s.work.Heartbeat(s.as("robot"), &assayv1.HeartbeatRequest{RunId: s.task, LeaseId: s.task})
		if status.Code(err) == codes.Unavailable {
			t.Errorf("a call of a worker: %v", err)
		}
	}
}
