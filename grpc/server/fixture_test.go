package server_test

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/background"
	"assay/functions/background/evaluator"
	"assay/grpc/assayv1"
	"assay/grpc/server"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// fixture is a gRPC server and an HTTP server over one store. olga has a task with the registered users ada and bob. robot is a worker.
type fixture struct {
	*servertest.Server
	t     testing.TB
	conn  *grpc.ClientConn
	work  assayv1.WorkerServiceClient
	runs  assayv1.RunServiceClient
	task  *recordtest.Task
	ended chan struct{}
	stop  context.CancelFunc
}

const (
	leaseTime    = time.Hour // longer than any test
	pollInterval = 20 * time.Millisecond
)

func newFixture(t testing.TB) *fixture {
	t.Helper()
	s := &fixture{Server: servertest.New(t, functions.Operations()...), t: t, ended: make(chan struct{})}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	edge := server.New(server.Env{Store: s.Store, Files: s.Files, Now: time.Now, Log: s.Log,
		Verify: func(ctx context.Context, token string) (access.Caller, error) {
			if token == "panic" {
				panic("a secret")
			}
			c, err := s.Verify(ctx, token)
			c.Worker = c.Worker || token == "other robot" // a second worker
			return c, err
		}}, server.Options{Lease: leaseTime, FirstLease: leaseTime, QueuePollInterval: pollInterval, Reflection: true})
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	builtin := &evaluator.Worker{Store: s.Store, Files: s.Files, Now: time.Now, Log: s.Log, Holder: "builtin"}
	go builtin.Run(ctx)
	go background.New(s.Store, s.Files, time.Now, s.Log).Run(ctx)
	go func() {
		defer close(s.ended)
		if err := edge.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-s.ended
	})
	if s.conn, err = grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	s.work = assayv1.NewWorkerServiceClient(s.conn)
	s.runs = assayv1.NewRunServiceClient(s.conn)
	s.task = s.Records().Task()
	s.task.Register("ada")
	s.task.Register("bob")
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inline(name, content string) map[string]any {
	return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

const (
	input  = "1 lake\n"
	qrels  = "1 0 a 1\n1 0 b 0\n"
	output = "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n"
)

// dataset creates a dataset with an input and a ground truth, and returns its id.
func (s *fixture) dataset(options ...func(*record.DatasetItem)) string {
	s.t.Helper()
	b := s.Records()
	files := []func(*record.DatasetItem){recordtest.Measures("AP"), b.Inputs("topics.txt", input), b.Truths("qrels", qrels)}
	return s.task.Dataset(append(files, options...)...).ID
}

// byWorkers makes workers evaluate the runs of a dataset.
func byWorkers(d *record.DatasetItem) {
	d.Evaluator = record.Evaluator{
		Kind: record.EvaluatorWorker, Image: "judge@sha256:1", Command: "judge", Measures: []string{"Errors", "Score"},
	}
	d.Columns = []record.Column{{Key: "Errors", LowerIsBetter: new(true)}, {Key: "Score"}}
}

func inPool(d *record.DatasetItem) { d.Pool = "gpu" }

func withBuilds(d *record.DatasetItem) { d.Builds = true }

// submit makes a submission as the user, and returns the ids of its runs.
func (s *fixture) submit(user string, body map[string]any) []string {
	s.t.Helper()
	var made record.Submission
	s.Want(http.StatusCreated, &made, user, http.MethodPost, s.task.Path()+"/submissions", body)
	return made.RunIDs
}

// image submits an image for the datasets as the user, and returns the ids of the runs.
func (s *fixture) image(user string, datasets ...string) []string {
	s.t.Helper()
	return s.submit(user, map[string]any{
		"type": "image", "image": "ranker@sha256:2", "command": "rank", "datasetIds": datasets, "visibility": "public",
		"again": true,
	})
}

// repository submits a repository for the dataset as ada, and returns the id of the run.
func (s *fixture) repository(dataset string) string {
	s.t.Helper()
	return s.submit("ada", map[string]any{"type": "repository", "url": "https://git.example.org/lab/ranker.git", "again": true,
		"datasetIds": []string{dataset}})[0]
}

// as returns the context of calls by the user.
func (s *fixture) as(user string) context.Context {
	if user == "" {
		return context.Background()
	}
	return metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+user)
}

func (s *fixture) lease(in *assayv1.LeaseRequest) *assayv1.Work {
	s.t.Helper()
	if in.GetWorker() == "" {
		in.Worker = "w1"
	}
	out, err := s.work.Lease(s.as("robot"), in)
	must(s.t, err)
	return out.GetWork()
}

func (s *fixture) beat(w *assayv1.Work, first int64, texts ...string) (*assayv1.HeartbeatResponse, error) {
	in := &assayv1.HeartbeatRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), FirstLine: first}
	for _, text := range texts {
		in.Lines = append(in.Lines, &assayv1.OutputLine{Stream: assayv1.Stream_STREAM_STDOUT, Text: text})
	}
	return s.work.Heartbeat(s.as("robot"), in)
}

// run returns the run as the user sees it over HTTP.
func (s *fixture) run(user, id string) record.Run {
	s.t.Helper()
	var r record.Run
	s.Want(http.StatusOK, &r, user, http.MethodGet, "/v1/runs/"+id, nil)
	return r
}

// await waits until the run is in the state.
func (s *fixture) await(id string, state record.RunState) record.Run {
	s.t.Helper()
	return waittest.Value(s.t, "the run is "+string(state), func() (record.Run, bool) {
		r := s.run("olga", id)
		if r.State.Ended() && r.State != state {
			s.t.Fatalf("run %s is %s and not %s: %v", id, r.State, state, r.Diagnostics)
		}
		return r, r.State == state
	})
}

// awaitWaitingWorker waits until a call of Lease that finds no work has arrived.
func (s *fixture) awaitWaitingWorker() {
	s.t.Helper()
	waittest.Until(s.t, "a worker waits for work", func() bool {
		return recordtest.Get[record.Serving](s.t, s.Store, record.ServingKey()) != nil
	})
}

func wantCode(t testing.TB, err error, code codes.Code, says string) {
	t.Helper()
	if status.Code(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %s and %q", err, code, says)
	}
}
