package server_test

import (
	"testing"

	"assay/grpc/assayv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestCallSlots_LeaveRoomForOtherCallers opens more calls without messages than there are slots, by a few users and without a login.
// Another user and a worker still get slots.
func TestCallSlots_LeaveRoomForOtherCallers(t *testing.T) {
	s := newFixture(t)
	open := func(caller string, calls int) {
		for range calls { // they are taken in the order in which they come on the connection
			if _, err := s.conn.NewStream(s.as(caller), &grpc.StreamDesc{ServerStreams: true},
				assayv1.RunService_WatchRun_FullMethodName); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func(caller string) codes.Code {
		_, err := s.runs.ListRuns(s.as(caller), &assayv1.ListRunsRequest{TaskId: s.task.ID})
		return status.Code(err)
	}
	for _, user := range []string{"ada", "dan", "eve"} {
		open(user, 80)
	}
	open("", 60)
	if code := list(""); code != codes.Unavailable {
		t.Errorf("another call without a login from the same address: %v", code)
	}
	if code := list("eve"); code != codes.Unavailable {
		t.Errorf("another call of one of the users with the most: %v", code)
	}
	if code := list("bob"); code != codes.OK {
		t.Errorf("a call of another user: %v", code)
	}
	_, err := s.work.Heartbeat(s.as("robot"), &assayv1.HeartbeatRequest{RunId: s.task.ID, LeaseId: s.task.ID})
	if status.Code(err) == codes.Unavailable {
		t.Errorf("a call of a worker: %v", err)
	}
}
