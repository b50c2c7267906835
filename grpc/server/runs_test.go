package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// TestGetRun_ShowsTheSameAsHTTP reads the same runs over gRPC and HTTP, as each kind of caller.
func TestGetRun_ShowsTheSameAsHTTP(t *testing.T) {
	s := newFixture(t)
	s.Records().Organizer("mallory")
	open, test := s.dataset(), s.dataset(recordtest.OnTestSplit)
	ids := s.image("ada", open, test)
	private := s.image("bob", open)[0]
	s.Want(http.StatusOK, nil, "bob", http.MethodPatch, s.task.Path()+"/submissions/"+s.run("bob", private).SubmissionID, map[string]any{
		"visibility": "private"})
	s.task.Register("eve", func(r *record.RegistrationItem) { r.Anonymous = true })
	ids = append(ids, s.image("eve", open)...)
	for range 4 {
		w := s.lease(&assayv1.LeaseRequest{})
		if _, err := s.beat(w, 0, "a line of "+w.GetRunId()); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"", "unrelated", "ada", "bob", "eve", "mallory", "olga", "robot", "root"} {
		for _, id := range append(slices.Clone(ids), private) {
			over := s.Do(user, http.MethodGet, "/v1/runs/"+id, nil)
			out, err := s.runs.GetRun(s.as(user), &assayv1.GetRunRequest{RunId: id})
			if over.Status != http.StatusOK {
				wantCode(t, err, codes.NotFound, "")
				continue
			}
			if err != nil {
				t.Fatal(user, err)
			}
			r, got := s.run(user, id), out.GetRun()
			for _, shown := range append(s.shown(user, id, r.SubmissionID), got) {
				var p *record.Person
				if u := shown.GetUser(); u != nil {
					p = &record.Person{ID: u.GetId(), Name: u.GetName(), Email: u.GetEmail()}
				}
				if !reflect.DeepEqual(p, r.User) || (p != nil && p.Name != "") != (user == "olga" || user == "root") {
					t.Errorf("as %q: the user is %v, over HTTP %v", user, p, r.User)
				}
			}
			if got.GetId() != id || got.GetTeam() != r.Team || got.GetUserId() != r.UserID || got.GetLogTail() != r.LogTail ||
				got.GetVersion() != r.Version || got.GetAlias() != r.Alias || got.GetRegistrationId() != r.RegistrationID ||
				len(got.GetDiagnostics()) != len(r.Diagnostics) || got.GetState() != assayv1.RunState_RUN_STATE_RUNNING ||
				!got.GetCreateTime().AsTime().Equal(r.CreatedAt.Time) {
				t.Errorf("as %q: %v\nand over HTTP %+v", user, got, r)
			}
		}
	}
	if got, err := s.runs.GetRun(s.as("bob"), &assayv1.GetRunRequest{RunId: ids[2]}); err != nil || got.GetRun().GetUserId() != "" ||
		got.GetRun().GetTeam() == recordtest.Team("eve") {
		t.Errorf("an anonymous team is shown: %v, %v", got, err)
	}
	if got, err := s.runs.GetRun(s.as("olga"), &assayv1.GetRunRequest{RunId: ids[2]}); err != nil || got.GetRun().GetAlias() == "" ||
		got.GetRun().GetRegistrationId() == "" {
		t.Errorf("organizers do not see the alias and the registration of an anonymous team: %v, %v", got, err)
	}
	_, missing := s.runs.GetRun(s.as("unrelated"), &assayv1.GetRunRequest{RunId: "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"})
	_, hidden := s.runs.GetRun(s.as("unrelated"), &assayv1.GetRunRequest{RunId: private})
	if missing.Error() != hidden.Error() {
		t.Errorf("%v\n%v", missing, hidden)
	}
}

// shown returns the run as the user sees it in the list of its submission and in a stream, with the other runs of the list.
func (s *fixture) shown(user, runID, submissionID string) []*assayv1.Run {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.as(user))
	defer cancel()
	list, err := s.runs.ListRuns(ctx, &assayv1.ListRunsRequest{SubmissionId: submissionID})
	must(s.t, err)
	stream, err := s.runs.WatchRun(ctx, &assayv1.WatchRunRequest{RunId: runID})
	must(s.t, err)
	first, err := stream.Recv()
	must(s.t, err)
	return append(list.GetRuns(), first.GetRun())
}

func TestListRuns_PagesAndMasks(t *testing.T) {
	s := newFixture(t)
	data := s.dataset()
	var want []string
	for range 3 {
		want = append(want, s.image("ada", data)...)
	}
	slices.Reverse(want)
	s.image("bob", data)
	in := &assayv1.ListRunsRequest{UserId: s.run("ada", want[0]).UserID, PageSize: 2, ReadMask: &fieldmaskpb.FieldMask{
		Paths: []string{"id", "create_time.seconds"}}}
	var got []string
	for {
		out, err := s.runs.ListRuns(s.as(""), in)
		must(t, err)
		for _, r := range out.GetRuns() {
			got = append(got, r.GetId())
			if r.GetTeam() != "" || r.GetCreateTime().GetSeconds() == 0 || r.GetCreateTime().GetNanos() != 0 {
				t.Errorf("%v", r)
			}
		}
		in.PageToken = out.GetNextPageToken()
		if in.PageToken == "" {
			break
		}
		other := &assayv1.ListRunsRequest{DatasetId: data, PageToken: in.GetPageToken()}
		_, err = s.runs.ListRuns(s.as(""), other)
		wantCode(t, err, codes.InvalidArgument, "faults")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	named, err := s.runs.ListRuns(s.as("olga"), &assayv1.ListRunsRequest{ReadMask: &fieldmaskpb.FieldMask{Paths: []string{"user.name"}}})
	if err != nil || len(named.GetRuns()) != 4 {
		t.Fatal(named, err)
	}
	for _, r := range named.GetRuns() {
		if u := r.GetUser(); u.GetName() == "" || u.GetId()+u.GetEmail()+r.GetId() != "" {
			t.Errorf("%v", r)
		}
	}
	if out, err := s.runs.ListRuns(s.as(""), &assayv1.ListRunsRequest{
		States: []assayv1.RunState{assayv1.RunState_RUN_STATE_COMPLETED}}); err != nil || len(out.GetRuns()) != 0 {
		t.Errorf("%v, %v", out, err)
	}
}

func TestRequestID_IsTakenOrMade(t *testing.T) {
	s := newFixture(t)
	for sent, kept := range map[string]bool{"mine-1": true, "": false, "has space": false, strings.Repeat("x", 129): false} {
		var header metadata.MD
		ctx := metadata.AppendToOutgoingContext(s.as(""), "x-request-id", sent)
		_, err := s.runs.GetRun(ctx, &assayv1.GetRunRequest{}, grpc.Header(&header))
		wantCode(t, err, codes.InvalidArgument, "")
		if got := strings.Join(header.Get("x-request-id"), " "); (got == sent) != kept || got == "" {
			t.Errorf("sent %q, got %q", sent, got)
		}
	}
}

// TestServer_RefusesLargeMessages names gzip as a string, because importing its package would register it. The messages are small enough
// to arrive in time on a busy machine.
func TestServer_RefusesLargeMessages(t *testing.T) {
	s := newFixture(t)
	for _, compressor := range []string{"identity", "gzip"} {
		_, err := s.runs.GetRun(s.as(""), &assayv1.GetRunRequest{RunId: strings.Repeat("x", 4<<20)}, grpc.UseCompressor(compressor))
		wantCode(t, err, codes.ResourceExhausted, "Send less")
		_, err = s.runs.GetRun(s.as(""), &assayv1.GetRunRequest{RunId: strings.Repeat("x", 5<<20)}, grpc.UseCompressor(compressor))
		wantCode(t, err, codes.ResourceExhausted, "larger than max")
	}
}

func TestServer_PanicEndsOneCall(t *testing.T) {
	s := newFixture(t)
	_, err := s.runs.GetRun(s.as("panic"), &assayv1.GetRunRequest{})
	wantCode(t, err, codes.Internal, "report the request id")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	_, err = s.runs.GetRun(s.as(""), &assayv1.GetRunRequest{})
	wantCode(t, err, codes.InvalidArgument, "")
}

func TestServer_ServesReflection(t *testing.T) {
	s := newFixture(t)
	stream, err := reflectionv1.NewServerReflectionClient(s.conn).ServerReflectionInfo(s.as(""))
	must(t, err)
	ask := &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}
	must(t, stream.Send(ask))
	if out, err := stream.Recv(); err != nil || !strings.Contains(fmt.Sprint(out), "assay.v1.WorkerService") {
		t.Errorf("%v, %v", out, err)
	}
}

func TestServer_StopEndsWaitingCalls(t *testing.T) {
	s := newFixture(t)
	health, err := grpc_health_v1.NewHealthClient(s.conn).Watch(s.as(""), &grpc_health_v1.HealthCheckRequest{})
	must(t, err)
	if _, err := health.Recv(); err != nil {
		t.Fatal(err)
	}
	watched := make(chan error)
	go func() {
		var err error
		for err == nil {
			_, err = health.Recv()
		}
		watched <- err
	}()
	answered := make(chan error)
	go func() {
		out, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{Worker: "x", Wait: wait(time.Minute)})
		if out.GetWork() != nil {
			err = errors.New("there was no work")
		}
		answered <- err
	}()
	s.awaitWaitingWorker()
	s.stop()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	wantCode(t, <-watched, codes.Unavailable, "stops")
	waittest.Receive(t, "the server has stopped although somebody watched", s.ended)
	ctx, cancel := context.WithTimeout(s.as("robot"), time.Second)
	defer cancel()
	if _, err := s.work.Lease(ctx, &assayv1.LeaseRequest{Worker: "x"}); status.Code(err) != codes.Unavailable &&
		status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("%v", err)
	}
}

// TestCallSlots_LeaveRoomForOtherCallers opens more calls without messages than there are slots, as a few users and without a login.
// Another user and a worker still get slots.
func TestCallSlots_LeaveRoomForOtherCallers(t *testing.T) {
	s := newFixture(t)
	open := func(caller string, calls int) {
		for range calls { // the server handles them in the order of the connection
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
