package work_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/sandbox"
	"assay/grpc/worker/scratch"
	"assay/grpc/worker/transfer"
	"assay/grpc/worker/work"
	"assay/shared/testing/waittest"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server implements the protocol for one run, and fails on demand, which the real server cannot. It is also the object store.
type server struct {
	assayv1.UnimplementedWorkerServiceServer
	t     *testing.T
	files *httptest.Server
	ended chan struct{}

	mu       sync.Mutex
	work     *assayv1.Work
	stored   map[string]string // by SHA-256
	lines    []*assayv1.OutputLine
	declared []*assayv1.File
	failed   *assayv1.FailRunRequest
	reported *assayv1.ReportEvaluationRequest
	over     bool
	stop     string
	calls    map[string]int
	lease    time.Duration

	before func(method string, call int) error // fails calls before they take effect
	after  func(method string, call int) error // fails calls that have taken effect
}

const (
	leaseTime = time.Hour // longer than any test
	interval  = 100 * time.Millisecond
)

func newServer(t *testing.T, w *assayv1.Work) *server {
	s := &server{t: t, work: w, stored: map[string]string{}, ended: make(chan struct{}), calls: map[string]int{}}
	s.files = httptest.NewServer(http.HandlerFunc(s.serveFile))
	t.Cleanup(s.files.Close)
	w.RunId = "01JRUN"
	w.LeaseId = "01JLEASE"
	w.Attempt = 1
	s.setLease(leaseTime, interval)
	return s
}

// setLease sets the duration of leases and the interval of heartbeats.
func (s *server) setLease(lease, interval time.Duration) {
	s.lease = lease
	s.work.LeaseDuration = durationpb.New(lease)
	s.work.HeartbeatInterval = durationpb.New(interval)
}

// file stores content and describes it with its link.
func (s *server) file(name, content string) *assayv1.File {
	sum := sha256.Sum256([]byte(content))
	digest := hex.EncodeToString(sum[:])
	s.stored[digest] = content
	return &assayv1.File{Name: name, Size: int64(len(content)), Sha256: digest, Url: s.files.URL + "/" + digest}
}

func (s *server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := path.Base(r.URL.Path)
	if r.Method == http.MethodGet {
		content, ok := s.stored[digest]
		if !ok {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, content)
		return
	}
	if r.Header.Get("Authorization") != "" {
		s.t.Error("a token travels to the object store")
	}
	if r.Header.Get("X-Signed") != digest {
		s.t.Errorf("headers of the upload: %v", r.Header)
	}
	content, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(content)
	if err != nil || hex.EncodeToString(sum[:]) != digest {
		s.t.Errorf("uploaded %d bytes: %v", len(content), err)
	}
	s.stored[digest] = string(content)
}

// intercept counts a call, fails it on demand, and checks the lease. It holds the lock, except while Lease waits.
func (s *server) intercept(ctx context.Context, in any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (out any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	method := path.Base(info.FullMethod)
	s.calls[method]++
	n := s.calls[method]
	if s.before != nil {
		err = s.before(method, n)
	}
	if err == nil && s.over && method != "Lease" {
		err = refuse(codes.FailedPrecondition, "STALE_LEASE")
	}
	if err == nil {
		out, err = handle(ctx, in)
	}
	if err == nil && s.after != nil {
		err = s.after(method, n)
	}
	return out, err
}

func refuse(code codes.Code, reason string) error {
	st, err := status.New(code, "as the test wants it").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "assay"})
	if err != nil {
		panic(err)
	}
	return st.Err()
}

func (s *server) end() {
	if !s.over {
		s.over = true
		close(s.ended)
	}
}

func (s *server) Lease(ctx context.Context, _ *assayv1.LeaseRequest) (*assayv1.LeaseResponse, error) {
	w := s.work
	s.work = nil
	if w == nil || s.over {
		s.mu.Unlock()
		defer s.mu.Lock()
		<-ctx.Done()
		return &assayv1.LeaseResponse{}, nil
	}
	return &assayv1.LeaseResponse{Work: w}, nil
}

func (s *server) Heartbeat(_ context.Context, r *assayv1.HeartbeatRequest) (*assayv1.HeartbeatResponse, error) {
	if size := proto.Size(r); len(r.GetLines()) > 1000 || size > 256<<10 {
		s.t.Errorf("a heartbeat of %d lines and %d bytes", len(r.GetLines()), size)
	}
	have := int64(len(s.lines))
	if r.GetFirstLine() > have {
		return nil, status.Error(codes.OutOfRange, "lines are missing")
	}
	s.lines = append(s.lines, r.GetLines()[min(have-r.GetFirstLine(), int64(len(r.GetLines()))):]...)
	if s.stop != "" {
		s.end()
		return &assayv1.HeartbeatResponse{Stop: true, StopReason: s.stop}, nil
	}
	return &assayv1.HeartbeatResponse{LeaseDuration: durationpb.New(s.lease), NextLine: int64(len(s.lines))}, nil
}

func (s *server) CompleteRun(_ context.Context, r *assayv1.CompleteRunRequest) (*assayv1.CompleteRunResponse, error) {
	answer := &assayv1.CompleteRunResponse{State: assayv1.RunState_RUN_STATE_RUNNING}
	for _, f := range r.GetFiles() {
		if _, ok := s.stored[f.GetSha256()]; !ok {
			answer.Uploads = append(answer.Uploads, &assayv1.Upload{
				Name: f.GetName(), Method: http.MethodPut, Url: s.files.URL + "/" + f.GetSha256(), Headers: map[string]string{
					"X-Signed": f.GetSha256()},
			})
		}
	}
	if len(answer.GetUploads()) == 0 {
		s.declared = r.GetFiles()
		s.end()
	}
	return answer, nil
}

func (s *server) ReportEvaluation(_ context.Context, r *assayv1.ReportEvaluationRequest) (*assayv1.ReportEvaluationResponse, error) {
	s.reported = r
	s.end()
	return &assayv1.ReportEvaluationResponse{}, nil
}

func (s *server) FailRun(_ context.Context, r *assayv1.FailRunRequest) (*assayv1.FailRunResponse, error) {
	s.failed = r
	s.end()
	return &assayv1.FailRunResponse{}, nil
}

// printed returns the lines of the stream.
func (s *server) printed(stream assayv1.Stream) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, l := range s.lines {
		if l.GetStream() == stream {
			out = append(out, l.GetText())
		}
	}
	return out
}

// runningWorker is a started worker.
type runningWorker struct {
	stop   context.CancelFunc
	done   chan struct{}
	folder string
	err    error // returned by Run
}

// start starts a worker in local mode that uses the server.
func (s *server) start(change func(*work.Worker)) *runningWorker {
	s.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	must(s.t, err)
	g := grpc.NewServer(grpc.UnaryInterceptor(s.intercept))
	assayv1.RegisterWorkerServiceServer(g, s)
	go func() { _ = g.Serve(listener) }()
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(s.t, err)
	folder, err := scratch.Claim(s.t.TempDir(), "tester", func(string) {})
	must(s.t, err)
	w := &work.Worker{
		Client: assayv1.NewWorkerServiceClient(connection), Files: transfer.NewClient(), Sandbox: &sandbox.Local{
			Log: slog.New(slog.DiscardHandler)}, Folder: folder,
		Log: slog.New(slog.NewTextHandler(s.t.Output(), nil)), Name: "tester", Local: true, Concurrency: 1, Grace: time.Hour,
		Limits: sandbox.Limits{Disk: 1 << 20, Time: time.Hour}, RetryFor: work.DefaultRetryFor,
	}
	if change != nil {
		change(w)
	}
	ctx, stop := context.WithCancel(s.t.Context())
	r := &runningWorker{stop: stop, done: make(chan struct{}), folder: folder.Path}
	go func() {
		defer close(r.done)
		r.err = w.Run(ctx)
	}()
	s.t.Cleanup(func() {
		stop()
		<-r.done
		connection.Close()
		g.Stop()
		folder.Release()
	})
	return r
}

// finish runs a worker until the run ends, and checks that it leaves no files behind.
func (s *server) finish(change func(*work.Worker)) *server {
	s.t.Helper()
	r := s.start(change)
	waittest.Receive(s.t, "the run has ended", s.ended)
	r.stop()
	waittest.Receive(s.t, "the worker has ended", r.done)
	s.t.Cleanup(func() {
		if left := files(s.t, r.folder); len(left) > 0 {
			s.t.Errorf("files are left: %v", left)
		}
	})
	return s
}

// diagnostics returns the diagnostics of a failure: the safe ones, and the others.
func (s *server) diagnostics(fault assayv1.FailRunRequest_Fault) (safe, others string) {
	s.t.Helper()
	if s.failed.GetFault() != fault {
		s.t.Fatalf("the run ended with %v, want %v", s.failed, fault)
	}
	for _, d := range s.failed.GetDiagnostics() {
		if d.GetDiscreet() {
			safe += d.GetMessage() + "\n"
		} else {
			others += d.GetMessage() + "\n"
		}
	}
	return strings.TrimSpace(safe), strings.TrimSpace(others)
}
