package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// TestWorker_ExecutesAndEvaluatesAnImage executes and evaluates a submission with the worker program, on a dataset with a built-in
// evaluator and on a dataset with an organizer's evaluator. Meanwhile the owner watches over gRPC and reads over HTTP.
func TestWorker_ExecutesAndEvaluatesAnImage(t *testing.T) {
	s := start(t, "-demo=false")
	owner, user := s.token(t, "owner"), s.token(t, "user")
	task := s.task(t, owner, "Task")
	s.post(t, user, task+"/registrations", map[string]any{"team": "Team"})
	var datasets []string
	for name, evaluator := range map[string]map[string]any{
		"builtin": {"kind": "retrieval", "measures": []string{"AP"}},
		"own": {"kind": "worker", "image": "judge", "measures": []string{"Lines"}, "command": `cat "$ASSAY_TRUTH"/qrels
printf 'measure{\n key: "Lines"\n value: "%d"\n}\n' "$(cat "$ASSAY_RUN"/run.txt | wc -l)" > "$ASSAY_OUTPUT/evaluation.prototext"`},
	} {
		datasets = append(datasets, s.dataset(t, owner, task, "1 0 a 1\n", map[string]any{
			"name": name, "inputs": []any{inline("input.txt", "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n")}, "evaluator": evaluator,
		}))
	}
	var made record.Submission
	s.call(t, user, http.MethodPost, task+"/submissions", map[string]any{
		"type": "image", "image": "ranker", "datasetIds": datasets,
		"command": `echo first; cp "$ASSAY_INPUT/input.txt" "$ASSAY_OUTPUT/run.txt"; echo second >&2`,
	}, &made)
	watched := make(chan watchResult, len(made.RunIDs))
	var begun sync.WaitGroup
	for _, run := range made.RunIDs {
		begun.Add(1)
		go func() { watched <- watchRun(s.grpc, user, run, sync.OnceFunc(begun.Done)) }()
	}
	begun.Wait()
	log := s.startWorker(t, buildWorker(t))
	for range made.RunIDs {
		w := waittest.Receive(t, "the watcher has seen the end of a run", watched)
		if w.err != nil {
			t.Fatalf("%v\n%s", w.err, log)
		}
		want := []string{"RUN_STATE_QUEUED", "RUN_STATE_RUNNING", "RUN_STATE_EVALUATING", "RUN_STATE_COMPLETED"}
		if evaluating := want[2]; !slices.Contains(w.states, evaluating) { // it may be over before the run is read
			want = slices.Delete(want, 2, 3)
		}
		if !slices.Equal(w.states, want) {
			t.Errorf("the watcher saw %v", w.states)
		}
		lines := strings.Join(w.lines, "\n")
		for _, line := range []string{"Attempt 1 of 3 begins", "STREAM_STDOUT first", "STREAM_STDERR second"} {
			if strings.Count(lines, line) != 1 {
				t.Errorf("the watcher read %q %d times in\n%s", line, strings.Count(lines, line), lines)
			}
		}
		if strings.Contains(lines, "1 0 a 1") {
			t.Errorf("the truth is in what the run's owner read:\n%s", lines)
		}
		var run record.Run
		s.get(t, user, "/v1/runs/"+w.id, &run)
		if run.State != record.Completed || len(run.Files) != 1 || run.EvaluationLogTail != "" {
			t.Errorf("%+v", run)
		}
		var e record.Evaluation
		s.get(t, user, "/v1/evaluations/"+run.EvaluationID, &e)
		if v := e.Measures[e.Columns[0]]; v == nil || *v != map[string]float64{"AP": 1, "Lines": 2}[e.Columns[0]] {
			t.Errorf("%+v", e)
		}
	}
}

// startWorker starts a worker that ends with the test, and returns its log.
func (s *testServer) startWorker(t *testing.T, worker string) fmt.Stringer {
	t.Helper()
	w := exec.Command(worker, "-server", s.grpc, "-exec", "local", "-work", t.TempDir())
	w.Env = append(os.Environ(), "ASSAY_WORKER_TOKEN="+s.token(t, "robot", "workers"))
	var log bytes.Buffer
	w.Stderr = &log
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Process.Signal(os.Interrupt)
		if err := w.Wait(); err != nil {
			t.Errorf("the worker ended with %v", err)
		}
		if t.Failed() {
			t.Logf("the worker logged:\n%s", log.String())
		}
	})
	return &log
}

// watchResult holds the data that a watcher of a run received.
type watchResult struct {
	id            string
	states, lines []string
	err           error
}

// watchRun watches a run to its end. It calls begun after the first answer.
func watchRun(addr, token, id string, begun func()) (w watchResult) {
	w.id = id
	defer begun()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		w.err = err
		return w
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	stream, err := assayv1.NewRunServiceClient(conn).WatchRun(ctx, &assayv1.WatchRunRequest{RunId: id})
	if err != nil {
		w.err = err
		return w
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return w
		}
		if err != nil {
			w.err = err
			return w
		}
		if state := m.GetRun().GetState().String(); m.GetRun() != nil && (len(w.states) == 0 || w.states[len(w.states)-1] != state) {
			w.states = append(w.states, state)
		}
		for _, l := range m.GetLines() {
			w.lines = append(w.lines, l.GetStream().String()+" "+l.GetText())
		}
		begun()
	}
}

func buildWorker(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "worker")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "assay/grpc/worker")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
