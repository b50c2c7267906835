package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/access"
	"assay/shared/record"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// cinema serves a gallery over gRPC. The bearer token of a caller is its id.
type cinema struct {
	*gallery
	addr string
	stop func() // stops the server, and waits for its end
}

func open(t testing.TB, place string, every time.Duration) *cinema {
	t.Helper()
	c := &cinema{gallery: newGallery(t, place, every)}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.addr = l.Addr().String()
	verify := func(_ context.Context, token string) (access.Caller, error) { return access.Caller{ID: token}, nil }
	s := New(Env{Store: c.store, Files: c.files, Now: time.Now, Log: slog.New(slog.DiscardHandler), Verify: verify},
		Options{Lease: time.Minute, FirstLease: time.Minute, QueuePollInterval: time.Minute, WatchPollInterval: c.pollInterval})
	c.hub = s.hub // which what is written from now on goes to
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	c.stop = func() {
		stop()
		err := <-ended
		if ended <- err; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(c.stop)
	return c
}

func (c *cinema) dial(t testing.TB) (assayv1.RunServiceClient, *grpc.ClientConn) {
	t.Helper()
	conn, err := grpc.NewClient(c.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return assayv1.NewRunServiceClient(conn), conn
}

func as(ctx context.Context, caller access.Caller) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+caller.ID)
}

func TestAProgramWatchesARunToItsEnd(t *testing.T) {
	c := open(t, "embedded", 0)
	p := c.play(t)
	p.append(record.ExecutionLog, "one", "two")
	runs, _ := c.dial(t)
	stream, err := runs.WatchRun(as(t.Context(), organizer), &assayv1.WatchRunRequest{RunId: p.run.ID})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil || first.GetRun().GetState() != assayv1.RunState_RUN_STATE_RUNNING || len(first.GetLines()) != 2 || first.GetLines()[1].GetNumber() != 1 {
		t.Fatalf("%v, %v", first, err)
	}
	if l := first.GetLines()[0]; l.GetText() != "one" || l.GetLog() != assayv1.Log_LOG_EXECUTION || l.GetStream() != assayv1.Stream_STREAM_STDERR || !l.GetTime().AsTime().Equal(p.clock) {
		t.Errorf("%v", l)
	}
	p.append(record.EvaluationLog, "judged")
	p.end(record.Completed)
	states, lines := rest(t, stream)
	if !slices.Equal(states, []assayv1.RunState{assayv1.RunState_RUN_STATE_RUNNING, assayv1.RunState_RUN_STATE_COMPLETED}) || !slices.Equal(lines, []string{"LOG_EVALUATION judged"}) {
		t.Errorf("%v, %v", states, lines)
	}
	again, err := runs.WatchRun(as(t.Context(), organizer), &assayv1.WatchRunRequest{RunId: p.run.ID, ResumeToken: first.GetResumeToken()})
	if err != nil {
		t.Fatal(err)
	}
	states, lines = rest(t, again)
	if states[len(states)-1] != assayv1.RunState_RUN_STATE_COMPLETED || !slices.Equal(lines, []string{"LOG_EVALUATION judged"}) {
		t.Errorf("from the first message on: %v, %v", states, lines)
	}
}

// rest reads a stream to its end.
func rest(t *testing.T, stream grpc.ServerStreamingClient[assayv1.WatchRunResponse]) (states []assayv1.RunState, lines []string) {
	t.Helper()
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return states, lines
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.GetRun() != nil {
			states = append(states, m.GetRun().GetState())
		}
		for _, l := range m.GetLines() {
			lines = append(lines, l.GetLog().String()+" "+l.GetText())
		}
	}
}

func TestFaultsOfARequestToWatch(t *testing.T) {
	c := open(t, "embedded", 0)
	p := c.play(t)
	runs, _ := c.dial(t)
	id := p.run.ID
	for _, tt := range []struct {
		name, id, token string
		caller          access.Caller
		code            codes.Code
		field           string
	}{
		{"no id", "", "", organizer, codes.InvalidArgument, "run_id"},
		{"an id that is none", "run 1", "", organizer, codes.InvalidArgument, "run_id"},
		{"an unknown run", record.NewID(time.Now()), "", organizer, codes.NotFound, ""},
		{"a stranger", id, "", stranger, codes.NotFound, ""},
		{"a stranger's token", id, position{version: 9}.token(id), stranger, codes.NotFound, ""},
		{"a garbled token", id, "garbled", organizer, codes.InvalidArgument, "resume_token"},
		{"a token of another run", id, position{version: 1}.token(record.NewID(time.Now())), organizer, codes.InvalidArgument, "resume_token"},
		{"a token from the future", id, position{version: 9}.token(id), organizer, codes.InvalidArgument, "resume_token"},
	} {
		stream, err := runs.WatchRun(as(t.Context(), tt.caller), &assayv1.WatchRunRequest{RunId: tt.id, ResumeToken: tt.token})
		if err != nil {
			t.Fatal(err)
		}
		_, err = stream.Recv()
		if status.Code(err) != tt.code || violated(err) != tt.field {
			t.Errorf("%s: %v, field %q", tt.name, err, violated(err))
		}
	}
}

// violated is the field that an error names.
func violated(err error) string {
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			return bad.GetFieldViolations()[0].GetField()
		}
	}
	return ""
}

// TestNothingStaysBehind counts goroutines after watchers have gone in every way: at the end of the run, by themselves, with
// their connection, and when the server stops.
func TestNothingStaysBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("watch", func(t *testing.T) {
		c := open(t, "embedded", 0)
		p, ended := c.play(t), c.play(t)
		for range 3 {
			p.append(record.ExecutionLog, slices.Repeat([]string{strings.Repeat("x", 8000)}, 150)...) // more than is kept, so that watchers read for themselves
		}
		runs, conn := c.dial(t)
		_, gone := c.dial(t)
		ctx, cancel := context.WithCancel(t.Context())
		watch := func(ctx context.Context, runs assayv1.RunServiceClient, id string) grpc.ServerStreamingClient[assayv1.WatchRunResponse] {
			stream, err := runs.WatchRun(as(ctx, organizer), &assayv1.WatchRunRequest{RunId: id})
			if err == nil {
				_, err = stream.Recv()
			}
			if err != nil {
				t.Fatal(err)
			}
			return stream
		}
		stays := watch(t.Context(), runs, p.run.ID)
		for range 10 {
			watch(ctx, runs, p.run.ID)
			watch(t.Context(), assayv1.NewRunServiceClient(gone), p.run.ID)
			watch(t.Context(), runs, ended.run.ID)
		}
		cancel()
		if err := gone.Close(); err != nil {
			t.Error(err)
		}
		ended.end(record.Completed)
		go func() {
			for deadline := time.Now().Add(10 * time.Second); c.watchers() > 1 && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			c.stop()
		}()
		for {
			_, err := stays.Recv()
			if err == nil {
				continue
			}
			if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "resume token") {
				t.Error(err)
			}
			break
		}
		if n := c.watchers(); n > 0 {
			t.Errorf("%d watchers stay", n)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines stay:\n%s", runtime.NumGoroutine()-before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// watchers is how many there are.
func (g *gallery) watchers() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.topics {
		n += t.watchers
	}
	return n
}
