package server

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/testing/waittest"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// watchServer is a gRPC server over the store of a fixture, whose watched runs are the server's. The bearer token of a caller is its id.
type watchServer struct {
	*watchFixture
	addr string
	stop func() // stops the server, and waits for its end
}

func startWatchServer(t testing.TB, source string) *watchServer {
	t.Helper()
	s := &watchServer{watchFixture: newWatchFixture(t, source, watchInterval)}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	s.addr = l.Addr().String()
	verify := func(_ context.Context, token string) (access.Caller, error) { return access.Caller{ID: token}, nil }
	server := New(Env{Store: s.pages.logs.Store, Files: s.pages.logs.Files, Now: time.Now, Log: slog.New(slog.DiscardHandler), Verify: verify},
		Options{Lease: time.Minute, FirstLease: time.Minute, QueuePollInterval: time.Minute})
	s.use(server.watched, watchInterval)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	s.stop = func() {
		stop()
		err := <-ended
		ended <- err
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(s.stop)
	return s
}

func (s *watchServer) dial(t testing.TB) (assayv1.RunServiceClient, *grpc.ClientConn) {
	t.Helper()
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return assayv1.NewRunServiceClient(conn), conn
}

func as(ctx context.Context, caller access.Caller) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+caller.ID)
}

func TestWatchRun_StreamsUntilTheRunEnds(t *testing.T) {
	s := startWatchServer(t, hooked)
	r := s.newRun()
	r.append(record.ExecutionLog, "one", "two")
	runs, _ := s.dial(t)
	stream, err := runs.WatchRun(as(t.Context(), organizer), &assayv1.WatchRunRequest{RunId: r.run.ID})
	must(t, err)
	first, err := stream.Recv()
	if err != nil || first.GetRun().GetState() != assayv1.RunState_RUN_STATE_RUNNING || len(first.GetLines()) != 2 ||
		first.GetLines()[1].GetNumber() != 1 {
		t.Fatalf("%v, %v", first, err)
	}
	if l := first.GetLines()[0]; l.GetText() != "one" || l.GetLog() != assayv1.Log_LOG_EXECUTION ||
		l.GetStream() != assayv1.Stream_STREAM_STDERR || !l.GetTime().AsTime().Equal(r.Now()) {
		t.Errorf("%v", l)
	}
	r.append(record.EvaluationLog, "judged")
	r.setState(record.Completed)
	states, lines := rest(t, stream)
	if !slices.Equal(states, []assayv1.RunState{assayv1.RunState_RUN_STATE_RUNNING, assayv1.RunState_RUN_STATE_COMPLETED}) ||
		!slices.Equal(lines, []string{"LOG_EVALUATION judged"}) {
		t.Errorf("%v, %v", states, lines)
	}
	again, err := runs.WatchRun(as(t.Context(), organizer), &assayv1.WatchRunRequest{RunId: r.run.ID, ResumeToken: first.GetResumeToken()})
	must(t, err)
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
		must(t, err)
		if m.GetRun() != nil {
			states = append(states, m.GetRun().GetState())
		}
		for _, l := range m.GetLines() {
			lines = append(lines, l.GetLog().String()+" "+l.GetText())
		}
	}
}

func TestWatchRun_RefusesInvalidRequests(t *testing.T) {
	s := startWatchServer(t, hooked)
	id := s.newRun().run.ID
	runs, _ := s.dial(t)
	for _, tt := range []struct {
		name, id, token string
		caller          access.Caller
		code            codes.Code
		field           string
	}{
		{"no id", "", "", organizer, codes.InvalidArgument, "run_id"},
		{"an invalid id", "run 1", "", organizer, codes.InvalidArgument, "run_id"},
		{"an unknown run", record.NewID(time.Now()), "", organizer, codes.NotFound, ""},
		{"an unrelated caller", id, "", unrelated, codes.NotFound, ""},
		{"a token of an unrelated caller", id, position{version: 9}.token(id), unrelated, codes.NotFound, ""},
		{"an invalid token", id, "invalid", organizer, codes.InvalidArgument, "resume_token"},
		{"a token of another run", id, position{version: 1}.token(record.NewID(time.Now())), organizer, codes.InvalidArgument, "resume_token"},
		{"a token from the future", id, position{version: 9}.token(id), organizer, codes.InvalidArgument, "resume_token"},
	} {
		stream, err := runs.WatchRun(as(t.Context(), tt.caller), &assayv1.WatchRunRequest{RunId: tt.id, ResumeToken: tt.token})
		must(t, err)
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

// TestWatchRun_BoundsThoseOfACaller watches a run on as many streams as one caller may open. One more is refused; another caller and,
// once a stream has ended, the same one watch it.
func TestWatchRun_BoundsThoseOfACaller(t *testing.T) {
	s := startWatchServer(t, hooked)
	r := s.newRun()
	var client assayv1.RunServiceClient
	watch := func(ctx context.Context, caller access.Caller) error {
		stream, err := client.WatchRun(as(ctx, caller), &assayv1.WatchRunRequest{RunId: r.run.ID})
		must(t, err)
		_, err = stream.Recv()
		return err
	}
	last, end := context.WithCancel(t.Context())
	for i := range maxWatches {
		if i%100 == 0 {
			client, _ = s.dial(t) // a connection has fewer streams
		}
		ctx := t.Context()
		if i == maxWatches-1 {
			ctx = last
		}
		must(t, watch(ctx, organizer))
	}
	if err := watch(t.Context(), organizer); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one stream too many: %v", err)
	}
	must(t, watch(t.Context(), owner))
	end()
	waittest.Until(t, "the place of the stream that ended", func() bool { return watch(t.Context(), organizer) == nil })
}

// TestWatchRun_LeaksNoGoroutine ends streams in every way: by the end of the run, by the client, with the connection, and by a stop of
// the server.
func TestWatchRun_LeaksNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("watch", func(t *testing.T) {
		s := startWatchServer(t, hooked)
		r, ended := s.newRun(), s.newRun()
		for range 3 {
			r.append(record.ExecutionLog, slices.Repeat([]string{strings.Repeat("x", 8000)}, 150)...)
		}
		runs, conn := s.dial(t)
		_, gone := s.dial(t)
		ctx, cancel := context.WithCancel(t.Context())
		watch := func(ctx context.Context, runs assayv1.RunServiceClient, id string) grpc.ServerStreamingClient[assayv1.WatchRunResponse] {
			stream, err := runs.WatchRun(as(ctx, organizer), &assayv1.WatchRunRequest{RunId: id})
			if err == nil {
				_, err = stream.Recv()
			}
			must(t, err)
			return stream
		}
		stays := watch(t.Context(), runs, r.run.ID)
		for range 3 {
			watch(ctx, runs, r.run.ID)
			watch(t.Context(), assayv1.NewRunServiceClient(gone), r.run.ID)
			watch(t.Context(), runs, ended.run.ID)
		}
		cancel()
		if err := gone.Close(); err != nil {
			t.Error(err)
		}
		ended.setState(record.Completed)
		last := make(chan error, 1)
		go func() {
			var err error
			for err == nil {
				_, err = stays.Recv()
			}
			last <- err
		}()
		waittest.Value(t, "only one stream is watched", func() (int, bool) {
			n := s.watchers()
			return n, n == 1
		})
		s.stop()
		if err := <-last; status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "resume token") {
			t.Error(err)
		}
		if n := s.watchers(); n > 0 {
			t.Errorf("%d watchers stay", n)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	defer func() {
		if t.Failed() {
			_ = pprof.Lookup("goroutine").WriteTo(t.Output(), 1)
		}
	}()
	waittest.Value(t, "no goroutine stays", func() (int, bool) {
		stay := runtime.NumGoroutine() - before
		return stay, stay <= 0
	})
}

// watchers counts the watchers.
func (f *watchFixture) watchers() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.by {
		n += r.streams
	}
	return n
}

func TestParseToken_RefusesWhatTheServerDidNotSend(t *testing.T) {
	id, other := record.NewID(time.Now()), record.NewID(time.Now())
	p := position{version: 1 << 40, lines: [logCount]int64{7, 0}}
	token := p.token(id)
	if got, faults := parseToken(id, token); len(faults) > 0 || got != p {
		t.Fatalf("%+v, %v", got, faults)
	}
	bad := map[string]string{
		"empty": "", "words": "resume please", "cut": token[:len(token)-2], "longer": token + "AA", "of another run": p.token(other),
		"no version": position{}.token(id), "negative": position{version: -1}.token(id),
	}
	for name, text := range map[string]string{"a letter": " 3 x 0", "a line number below 0": " 3 5 -1", "another space": "  3 5 1",
		"a leading zero": " 03 5 1", "too few numbers": " 3 5"} {
		bad[name] = base64.RawURLEncoding.EncodeToString([]byte(id + text))
	}
	for name, token := range bad {
		if got, faults := parseToken(id, token); len(faults) != 1 || faults[0].Pointer != "/resume_token" {
			t.Errorf("%s: %+v, %v", name, got, faults)
		}
	}
	run := &record.RunItem{}
	run.Version, run.Logs.Execution.Lines = 3, 5
	for _, tt := range []struct {
		position
		valid bool
	}{
		{position{3, [logCount]int64{5, 0}}, true}, {position{4, [logCount]int64{}}, false}, {position{3, [logCount]int64{6, 0}}, false},
		{position{3, [logCount]int64{0, 1}}, false},
	} {
		if faults := tt.checkReached(run, recordtest.SightOf(run, access.Organizer)); (len(faults) == 0) != tt.valid {
			t.Errorf("%+v: %v", tt.position, faults)
		}
	}
	if faults := (position{3, [logCount]int64{0, 99}}).checkReached(run, recordtest.SightOf(run, access.Owner)); len(faults) > 0 {
		t.Errorf("the length of a log is revealed to a caller who may not read it: %v", faults)
	}
}

func FuzzResumeToken(f *testing.F) {
	id := record.NewID(time.Now())
	f.Add(position{version: 3, lines: [logCount]int64{5, 1}}.token(id))
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		p, faults := parseToken(id, token)
		if len(faults) == 0 && (p.token(id) != token || p.version < 1 || p.lines[0] < 0 || p.lines[1] < 0) {
			t.Errorf("%q is taken for %+v", token, p)
		}
	})
}
