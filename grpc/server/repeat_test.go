package server_test

import (
	"math"
	"net/http"
	"testing"

	"assay/grpc/assayv1"
	"assay/shared/record"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// repeated makes the call three times as the worker with the lease, whose answers were lost, and wants the same answer each time. A
// request with other content, and one of another worker, must be refused.
func repeated[Request, Answer proto.Message](s *fixture, call func(user string, in Request) (Answer, error), in, other Request) Answer {
	s.t.Helper()
	first, err := call("robot", in)
	if err != nil {
		s.t.Fatal(err)
	}
	for range 2 {
		again, err := call("robot", proto.CloneOf(in))
		if err != nil || !proto.Equal(first, again) {
			s.t.Errorf("%T: a repeat is answered with %v, %v; the first was with %v", in, again, err, first)
		}
	}
	_, err = call("robot", other)
	wantCode(s.t, err, codes.FailedPrecondition, "expired")
	_, err = call("other robot", in)
	wantCode(s.t, err, codes.FailedPrecondition, "expired")
	return first
}

func TestWorkerService_AnswersRepeatsAsTheFirst(t *testing.T) {
	s := newFixture(t)
	complete := func(user string, in *assayv1.CompleteRunRequest) (*assayv1.CompleteRunResponse, error) {
		return s.work.CompleteRun(s.as(user), in)
	}
	report := func(user string, in *assayv1.ReportEvaluationRequest) (*assayv1.ReportEvaluationResponse, error) {
		return s.work.ReportEvaluation(s.as(user), in)
	}
	fail := func(user string, in *assayv1.FailRunRequest) (*assayv1.FailRunResponse, error) {
		return s.work.FailRun(s.as(user), in)
	}
	produced := func(w *assayv1.Work, content string) *assayv1.CompleteRunRequest {
		return &assayv1.CompleteRunRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), Files: []*assayv1.File{file("run.txt", content)}}
	}

	// The end of the evaluation changes no answer to the worker that executed the run.
	id := s.image("ada", s.dataset())[0]
	w := s.lease(&assayv1.LeaseRequest{})
	s.deliver(w, output)
	s.await(id, record.Completed)
	if out := repeated(s, complete, produced(w, output),
		produced(w, "1 Q0 b 1 1 x\n")); out.GetState() != assayv1.RunState_RUN_STATE_EVALUATING {
		t.Errorf("%v", out)
	}

	data := s.dataset(byWorkers)
	id = s.image("ada", data)[0]
	s.deliver(s.lease(&assayv1.LeaseRequest{}), output)
	w = s.lease(&assayv1.LeaseRequest{})
	in := &assayv1.ReportEvaluationRequest{
		RunId: id, LeaseId: w.GetLeaseId(), TruthVersion: w.GetTruthVersion(), Measures: map[string]float64{"Errors": 3, "Score": math.NaN()},
		Topics: map[string]*assayv1.TopicMeasures{
			"1": {Measures: map[string]float64{"Errors": 3}}, "2": {Measures: map[string]float64{"Errors": 1}}},
	}
	other := proto.CloneOf(in)
	other.Topics["2"].Measures["Errors"] = 2
	if out := repeated(s, report, in, other); out.GetState() != assayv1.RunState_RUN_STATE_COMPLETED ||
		out.GetEvaluationId() != s.run("olga", id).EvaluationID {
		t.Errorf("%v", out)
	}
	var list struct{ Data []record.Evaluation }
	s.Want(http.StatusOK, &list, "olga", http.MethodGet, "/v1/evaluations?filter[runId]="+id, nil)
	if len(list.Data) != 1 {
		t.Errorf("a report that came several times made %d evaluations", len(list.Data))
	}

	id = s.image("ada", data)[0]
	w = s.lease(&assayv1.LeaseRequest{})
	why := &assayv1.Diagnostic{Severity: assayv1.Diagnostic_SEVERITY_ERROR, Message: "It ended with exit code 3.", Discreet: true}
	repeated(s, fail, &assayv1.FailRunRequest{RunId: id, LeaseId: w.GetLeaseId(), Fault: assayv1.FailRunRequest_FAULT_RUN,
		Diagnostics: []*assayv1.Diagnostic{why}},
		&assayv1.FailRunRequest{RunId: id, LeaseId: w.GetLeaseId(), Fault: assayv1.FailRunRequest_FAULT_NONE})
	if r := s.run("ada", id); r.State != record.Failed || len(r.Diagnostics) != 1 {
		t.Errorf("%+v", r)
	}
}
