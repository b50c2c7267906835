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
	"assay/functions/evaluator"
	"assay/grpc/assayv1"
	"assay/grpc/server"
	"assay/shared/access"
	"assay/shared/api/servertest"
	"assay/shared/record"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// scene is a server with both edges over one store, and a task with two registered users. olga organizes it, robot works.
type scene struct {
	*servertest.Server
	t     testing.TB
	conn  *grpc.ClientConn
	work  assayv1.WorkerServiceClient
	runs  assayv1.RunServiceClient
	task  string
	ended chan struct{}
	stop  context.CancelFunc
}

const (
	lease = 2 * time.Second
	look  = 20 * time.Millisecond
)

func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{Server: servertest.New(t, functions.Operations()...), t: t, ended: make(chan struct{})}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	edge := server.New(server.Env{Store: s.Store, Files: s.Files, Now: time.Now, Log: s.Log, Verify: func(ctx context.Context, token string) (access.Caller, error) {
		if token == "panic" {
			panic("a secret")
		}
		c, err := s.Verify(ctx, token)
		c.Worker = c.Worker || token == "other robot" // a worker with an identity of its own
		return c, err
	}}, server.Options{Lease: lease, FirstLease: lease, QueuePollInterval: look, Reflection: true})
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	builtin := &evaluator.Worker{Store: s.Store, Files: s.Files, Now: time.Now, Log: s.Log, Holder: "builtin"}
	go builtin.Run(ctx)
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
	s.work, s.runs = assayv1.NewWorkerServiceClient(s.conn), assayv1.NewRunServiceClient(s.conn)
	organizer := s.create("olga", "/v1/organizers", map[string]any{"name": "Lab"})
	s.task = s.create("olga", "/v1/tasks", map[string]any{"organizerId": organizer, "name": "Task"})
	for _, user := range []string{"ada", "bob"} {
		s.create(user, "/v1/tasks/"+s.task+"/registrations", map[string]any{"team": "Team " + user})
	}
	return s
}

// create posts as the user, and returns the id of what was made.
func (s *scene) create(user, path string, body map[string]any) string {
	s.t.Helper()
	a := s.Want(http.StatusCreated, nil, user, http.MethodPost, path, body)
	location := a.Header.Get("Location")
	return location[strings.LastIndex(location, "/")+1:]
}

func inline(name, content string) map[string]any {
	return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

const (
	input  = "1 lake\n"
	qrels  = "1 0 a 1\n1 0 b 0\n"
	output = "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n"
)

// dataset makes one with a built-in evaluator, or with what is given instead.
func (s *scene) dataset(with map[string]any) string {
	s.t.Helper()
	d := map[string]any{
		"taskId": s.task, "name": "Data", "split": "training", "runFormat": map[string]any{"kind": "trec-run"},
		"inputs": []any{inline("topics.txt", input)}, "truths": []any{inline("qrels", qrels)},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	}
	for member, value := range with {
		d[member] = value
	}
	return s.create("olga", "/v1/datasets", d)
}

var judge = map[string]any{"kind": "worker", "image": "judge@sha256:1", "command": "judge", "measures": []string{"Errors", "Score"}, "lowerIsBetter": []string{"Errors"}}

// image has the user submit an image for the datasets, and returns the ids of the runs.
func (s *scene) image(user string, datasets ...string) []string {
	s.t.Helper()
	var made record.Submission
	s.Want(http.StatusCreated, &made, user, http.MethodPost, "/v1/tasks/"+s.task+"/submissions", map[string]any{
		"type": "image", "image": "ranker@sha256:2", "command": "rank", "datasetIds": datasets, "visibility": "public",
	})
	return made.RunIDs
}

// as is the context of calls of the user.
func (s *scene) as(user string) context.Context {
	if user == "" {
		return context.Background()
	}
	return metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+user)
}

func (s *scene) lease(in *assayv1.LeaseRequest) *assayv1.Work {
	s.t.Helper()
	if in.GetWorker() == "" {
		in.Worker = "w1"
	}
	out, err := s.work.Lease(s.as("robot"), in)
	if err != nil {
		s.t.Fatal(err)
	}
	return out.GetWork()
}

func (s *scene) beat(w *assayv1.Work, first int64, texts ...string) (*assayv1.HeartbeatResponse, error) {
	in := &assayv1.HeartbeatRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), FirstLine: first}
	for _, text := range texts {
		in.Lines = append(in.Lines, &assayv1.OutputLine{Stream: assayv1.Stream_STREAM_STDOUT, Text: text})
	}
	return s.work.Heartbeat(s.as("robot"), in)
}

// run is what the user sees of a run over HTTP.
func (s *scene) run(user, id string) record.Run {
	s.t.Helper()
	var r record.Run
	s.Want(http.StatusOK, &r, user, http.MethodGet, "/v1/runs/"+id, nil)
	return r
}

// await waits until the run is in the state.
func (s *scene) await(id string, state record.RunState) record.Run {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r := s.run("olga", id)
		if r.State == state {
			return r
		}
		if r.State.Ended() || time.Now().After(deadline) {
			s.t.Fatalf("run %s is %s and not %s: %v", id, r.State, state, r.Diagnostics)
		}
	}
}

func wantCode(t testing.TB, err error, code codes.Code, says string) {
	t.Helper()
	if status.Code(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %s and %q", err, code, says)
	}
}
