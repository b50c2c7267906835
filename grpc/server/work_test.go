package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

func file(name, content string) *assayv1.File {
	sum := sha256.Sum256([]byte(content))
	return &assayv1.File{Name: name, Size: int64(len(content)), Sha256: hex.EncodeToString(sum[:]), MediaType: "text/plain"}
}

// get downloads the files.
func (s *fixture) get(files []*assayv1.File) string {
	s.t.Helper()
	var all strings.Builder
	for _, f := range files {
		all.Write(s.Want(http.StatusOK, nil, "", http.MethodGet, f.GetUrl(), nil).Body)
	}
	return all.String()
}

// completion returns the request that completes an execution with an output of one file.
func completion(w *assayv1.Work, content string) *assayv1.CompleteRunRequest {
	return &assayv1.CompleteRunRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), Files: []*assayv1.File{file("run.txt", content)}}
}

// deliver uploads an output of one file, and completes the run.
func (s *fixture) deliver(w *assayv1.Work, content string) *assayv1.CompleteRunResponse {
	s.t.Helper()
	in := completion(w, content)
	for {
		out, err := s.work.CompleteRun(s.as("robot"), in)
		must(s.t, err)
		if len(out.GetUploads()) == 0 {
			return out
		}
		for _, u := range out.GetUploads() {
			s.Upload(&record.Upload{Method: u.GetMethod(), URL: u.GetUrl(), Headers: u.GetHeaders()}, []byte(content))
		}
	}
}

// exited is a diagnostic that the owner of a blinded run may read.
var exited = &assayv1.Diagnostic{Severity: assayv1.Diagnostic_SEVERITY_ERROR, Message: "It ended with exit code 3.", Discreet: true}

func failureOf(w *assayv1.Work, fault assayv1.FailRunRequest_Fault, diagnostics ...*assayv1.Diagnostic) *assayv1.FailRunRequest {
	return &assayv1.FailRunRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), Fault: fault, Diagnostics: diagnostics}
}

func (s *fixture) fail(w *assayv1.Work, fault assayv1.FailRunRequest_Fault, diagnostics ...*assayv1.Diagnostic) assayv1.RunState {
	s.t.Helper()
	out, err := s.work.FailRun(s.as("robot"), failureOf(w, fault, diagnostics...))
	must(s.t, err)
	return out.GetState()
}

func TestWorkerService_ExecutesAndEvaluatesAnImage(t *testing.T) {
	s := newFixture(t)
	id := s.image("ada", s.dataset())[0]
	w := s.lease(&assayv1.LeaseRequest{Wait: durationpb.New(time.Minute)})
	if w.GetRunId() != id || w.GetKind() != assayv1.WorkKind_WORK_KIND_IMAGE || w.GetImage() != "ranker@sha256:2" ||
		w.GetCommand() != "rank" ||
		w.GetAttempt() != 1 || w.GetLeaseDuration().AsDuration() != leaseTime || len(w.GetTruths()) != 0 || s.get(w.GetInputs()) != input {
		t.Fatalf("%v", w)
	}
	if r := s.run("ada", id); r.State != record.Running || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
	if beat, err := s.beat(w, 0, "hello", "world"); err != nil || beat.GetNextLine() != 2 || beat.GetStop() {
		t.Fatal(beat, err)
	}
	if r := s.run("ada", id); !strings.HasSuffix(r.LogTail, "hello\nworld") {
		t.Errorf("tail %q", r.LogTail)
	}
	if out := s.deliver(w, output); out.GetState() != assayv1.RunState_RUN_STATE_EVALUATING {
		t.Errorf("%v", out)
	}
	r := s.await(id, record.Completed)
	var e record.Evaluation
	s.Want(http.StatusOK, &e, "ada", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
	if e.Measures["AP"] == nil || *e.Measures["AP"] != 1 {
		t.Errorf("%+v", e)
	}
	_, err := s.beat(w, 2, "too late")
	wantCode(t, err, codes.FailedPrecondition, "expired")
	r = waittest.Value(t, "the log is a file", func() (record.Run, bool) {
		r := s.run("ada", id)
		return r, r.ExecutionLog != nil
	})
	if log := string(s.Want(http.StatusOK, nil, "", http.MethodGet, r.ExecutionLog.URL, nil).Body); !strings.HasSuffix(log,
		"stdout world\n") || strings.Contains(log, "too late") {
		t.Errorf("%q", log)
	}
}

func TestReportEvaluation_CompletesTheRun(t *testing.T) {
	s := newFixture(t)
	id := s.image("ada", s.dataset(byWorkers, recordtest.OnTestSplit))[0]
	s.deliver(s.lease(&assayv1.LeaseRequest{}), output)
	if r := s.run("ada", id); r.State != record.Evaluating || r.Attempts != 0 {
		t.Errorf("%+v", r)
	}
	w := s.lease(&assayv1.LeaseRequest{Kinds: []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_EVALUATION}})
	if w.GetRunId() != id || w.GetKind() != assayv1.WorkKind_WORK_KIND_EVALUATION || w.GetImage() != "judge@sha256:1" ||
		w.GetCommand() != "judge" ||
		s.get(w.GetTruths()) != qrels || s.get(w.GetRunFiles()) != output || strings.Join(w.GetMeasures(), " ") != "Errors Score" {
		t.Fatalf("%v", w)
	}
	if _, err := s.beat(w, 0, "the truth is out"); err != nil {
		t.Fatal(err)
	}
	report := &assayv1.ReportEvaluationRequest{
		RunId: id, LeaseId: w.GetLeaseId(), TruthVersion: w.GetTruthVersion(), EvaluatorVersion: "sha256:1",
		Measures: map[string]float64{"Errors": 3, "Score": math.NaN()},
		Topics:   map[string]*assayv1.TopicMeasures{"1": {Measures: map[string]float64{"Errors": 3}}},
	}
	out, err := s.work.ReportEvaluation(s.as("robot"), report)
	if err != nil || out.GetState() != assayv1.RunState_RUN_STATE_COMPLETED {
		t.Fatal(out, err)
	}
	var e record.Evaluation
	s.Want(http.StatusOK, &e, "olga", http.MethodGet, "/v1/evaluations/"+out.GetEvaluationId(), nil)
	if *e.Measures["Errors"] != 3 || e.Measures["Score"] != nil || e.Reasons["Score"] == "" || e.Evaluator.Version != "sha256:1" ||
		e.PerTopic["1"]["Errors"] != 3 {
		t.Errorf("%+v", e)
	}
	publish := map[string]any{"published": true, "blinded": false}
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/runs/"+id+"/review", publish)
	for user, reads := range map[string]bool{"": false, "bob": false, "ada": false, "olga": true, "root": true} {
		if r := s.run(user, id); strings.Contains(r.EvaluationLogTail, "truth") != reads || (r.EvaluationLog != nil) && !reads ||
			strings.Contains(r.LogTail, "truth") {
			t.Errorf("%q reads what the evaluator wrote: %+v", user, r)
		}
	}
}

// TestLease_IsValidForItsIdentityAlone makes another worker use the ids of a lease. It gets the same answers as for an expired lease,
// both before and after the run is cancelled. Then the worker with the lease gets the order to stop.
func TestLease_IsValidForItsIdentityAlone(t *testing.T) {
	s := newFixture(t)
	refused := func(state record.RunState, w *assayv1.Work) {
		t.Helper()
		other, id := s.as("other robot"), w.GetRunId()
		var replies []string
		for _, in := range []*assayv1.Work{w, {RunId: id, LeaseId: record.NewID(s.Now())}} {
			_, beat := s.work.Heartbeat(other, &assayv1.HeartbeatRequest{RunId: id, LeaseId: in.GetLeaseId()})
			_, done := s.work.CompleteRun(other, completion(in, "y"))
			_, report := s.work.ReportEvaluation(other, &assayv1.ReportEvaluationRequest{RunId: id, LeaseId: in.GetLeaseId(), TruthVersion: 1})
			answers := []error{beat, done, report}
			for _, fault := range []assayv1.FailRunRequest_Fault{assayv1.FailRunRequest_FAULT_RUN, assayv1.FailRunRequest_FAULT_WORKER,
				assayv1.FailRunRequest_FAULT_NONE} {
				_, err := s.work.FailRun(other, failureOf(in, fault, exited))
				answers = append(answers, err)
			}
			for _, err := range answers {
				wantCode(t, err, codes.FailedPrecondition, "expired")
			}
			replies = append(replies, fmt.Sprint(answers))
		}
		if replies[0] != replies[1] {
			t.Errorf("under the lease of another the answers are %s, under none %s", replies[0], replies[1])
		}
		if r := s.run("olga", id); r.State != state || len(r.Diagnostics) > 0 {
			t.Errorf("%+v", r)
		}
	}
	data := s.dataset(byWorkers)
	s.image("ada", data)
	w := s.lease(&assayv1.LeaseRequest{})
	refused(record.Running, w)
	s.deliver(w, output)
	w = s.lease(&assayv1.LeaseRequest{})
	refused(record.Evaluating, w)
	if _, err := s.beat(w, 0); err != nil {
		t.Error(err)
	}
	s.Want(http.StatusOK, nil, "ada", http.MethodPatch, "/v1/runs/"+w.GetRunId(), map[string]any{"state": "cancelled"})
	refused(record.Cancelled, w)
	if beat, err := s.beat(w, 0); err != nil || !beat.GetStop() || beat.GetStopReason() == "" {
		t.Errorf("%v, %v", beat, err)
	}
	_, done := s.work.CompleteRun(s.as("robot"), completion(w, "y")) // under the old lease, which can end nothing any more
	_, report := s.work.ReportEvaluation(s.as("robot"), &assayv1.ReportEvaluationRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(),
		TruthVersion: 1})
	_, failed := s.work.FailRun(s.as("robot"), failureOf(w, assayv1.FailRunRequest_FAULT_RUN, exited))
	for _, err := range []error{done, report, failed} {
		wantCode(t, err, codes.FailedPrecondition, "expired")
	}
}

// resume queues a returned run again, as happens after its delay.
func (s *fixture) resume(id string) {
	s.t.Helper()
	afterDelay := queue.Queue{Store: s.Store, Now: func() time.Time { return s.Now().Add(queue.RetryDelay * record.MaxAttempts) }}
	must(s.t, afterDelay.Resume(s.t.Context(), id))
}

func TestFailRun_EndsOrQueuesTheRunByFault(t *testing.T) {
	s := newFixture(t)
	data := s.dataset(recordtest.OnTestSplit)
	secret := &assayv1.Diagnostic{Severity: assayv1.Diagnostic_SEVERITY_ERROR, Message: "Its last line was secret."}
	id := s.image("ada", data)[0]
	w := s.lease(&assayv1.LeaseRequest{})
	if state := s.fail(w, assayv1.FailRunRequest_FAULT_NONE); state != assayv1.RunState_RUN_STATE_QUEUED || s.run("ada", id).Attempts != 0 {
		t.Errorf("the run is %v", state)
	}
	if again := s.lease(&assayv1.LeaseRequest{}); again != nil {
		t.Errorf("a run that was given back is leased at once: %v", again)
	}
	s.resume(id)
	for n := range 3 {
		w = s.lease(&assayv1.LeaseRequest{})
		if w.GetAttempt() != int32(n+1) {
			t.Errorf("attempt %d, want %d", w.GetAttempt(), n+1)
		}
		s.fail(w, assayv1.FailRunRequest_FAULT_WORKER, secret, exited)
		s.resume(id)
	}
	r := s.run("ada", id)
	if r.State != record.Failed || len(r.Diagnostics) != 4 || !strings.Contains(r.Diagnostics[1].Message, "exit code 3") {
		t.Errorf("%+v", r)
	}
	id = s.image("ada", data)[0]
	w = s.lease(&assayv1.LeaseRequest{})
	if state := s.fail(w, assayv1.FailRunRequest_FAULT_RUN, exited, secret); state != assayv1.RunState_RUN_STATE_FAILED {
		t.Errorf("the run is %v", state)
	}
	if r := s.run("ada", id); len(r.Diagnostics) != 1 || r.Diagnostics[0].Message != exited.GetMessage() {
		t.Errorf("the owner of a blinded run reads %+v", r.Diagnostics)
	}
	if r := s.run("olga", id); len(r.Diagnostics) != 2 {
		t.Errorf("the organizers read %+v", r.Diagnostics)
	}
}

// TestFailRun_BoundsFailuresThatRevealTheTruth makes the organizers' evaluator fail. It reads the ground truth, so only organizers see
// the details, and the failure itself is shown five times a day.
func TestFailRun_BoundsFailuresThatRevealTheTruth(t *testing.T) {
	s := newFixture(t)
	data := s.dataset(byWorkers, recordtest.OnTestSplit)
	for n := range record.MaxTruthFailures + 1 {
		id := s.image("ada", data)[0]
		s.deliver(s.lease(&assayv1.LeaseRequest{}), output)
		s.fail(s.lease(&assayv1.LeaseRequest{}), assayv1.FailRunRequest_FAULT_RUN, exited)
		shown := s.run("ada", id)
		whole := s.run("olga", id)
		state := record.Failed
		if n == record.MaxTruthFailures {
			state = record.Completed
		}
		if shown.State != state || shown.EvaluationID != "" || strings.Contains(fmt.Sprint(shown.Diagnostics), "exit code") ||
			!strings.Contains(fmt.Sprint(whole.Diagnostics), "exit code") {
			t.Errorf("%d: the owner reads %+v, the organizers %+v", n, shown, whole.Diagnostics)
		}
	}
}

func TestReportEvaluation_RefusesAnOutdatedTruth(t *testing.T) {
	s := newFixture(t)
	data := s.dataset(byWorkers)
	id := s.image("ada", data)[0]
	s.deliver(s.lease(&assayv1.LeaseRequest{}), output)
	w := s.lease(&assayv1.LeaseRequest{})
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/datasets/"+data, map[string]any{"truths": []any{inline("qrels", "1 0 b 1\n")}})
	report := &assayv1.ReportEvaluationRequest{RunId: id, LeaseId: w.GetLeaseId(), TruthVersion: w.GetTruthVersion(),
		Measures: map[string]float64{"Errors": 1, "Score": 1}}
	_, err := s.work.ReportEvaluation(s.as("robot"), report)
	wantCode(t, err, codes.Aborted, "truth has changed")
	again := s.lease(&assayv1.LeaseRequest{Wait: durationpb.New(time.Minute)})
	if again.GetRunId() != id || again.GetTruthVersion() != w.GetTruthVersion()+1 || s.get(again.GetTruths()) != "1 0 b 1\n" ||
		again.GetAttempt() != 1 {
		t.Fatalf("%v", again)
	}
	report.LeaseId = again.GetLeaseId()
	report.TruthVersion = again.GetTruthVersion()
	if _, err := s.work.ReportEvaluation(s.as("robot"), report); err != nil {
		t.Fatal(err)
	}
}

func TestWorkerService_RefusesOtherCallers(t *testing.T) {
	s := newFixture(t)
	for user, code := range map[string]codes.Code{"": codes.Unauthenticated, "bad": codes.Unauthenticated, "ada": codes.PermissionDenied,
		"olga": codes.PermissionDenied, "root": codes.PermissionDenied} {
		_, err := s.work.Lease(s.as(user), &assayv1.LeaseRequest{Worker: "x"})
		wantCode(t, err, code, "")
	}
}
