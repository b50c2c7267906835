package server_test

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// Kinds of work that workers request.
var (
	images       = []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_IMAGE}
	repositories = []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_REPOSITORY}
	evaluations  = []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_EVALUATION}
)

// A worker that names no kinds of work gets no repository, because it may build without a sandbox.
func TestLease_RepositoriesNeedWorkersThatNameThem(t *testing.T) {
	s := newFixture(t)
	s.repository(s.dataset(inPool, withBuilds))
	info := func() []string {
		t.Helper()
		var info struct{ Builds []string }
		s.Want(http.StatusOK, &info, "", http.MethodGet, "/info", nil)
		return info.Builds
	}
	if w := s.lease(&assayv1.LeaseRequest{Pools: []string{"gpu"}}); w != nil {
		t.Errorf("a worker that names no kinds got %v", w)
	}
	if of := info(); of == nil || len(of) > 0 {
		t.Errorf("before a builder asks, repositories are built in %q", of)
	}
	for i, builds := range []bool{false, true, true} { // the third request changes nothing
		if of := info(); i < 2 && len(of) > 0 {
			t.Errorf("before a builder asks, repositories are built in %q", of)
		}
		w := s.lease(&assayv1.LeaseRequest{Worker: "new", Pools: []string{"gpu", "default"}, Kinds: repositories, Builds: builds})
		if w != nil && (w.GetKind() != assayv1.WorkKind_WORK_KIND_REPOSITORY || w.GetRepositoryUrl() == "") {
			t.Errorf("work %v", w)
		}
	}
	if of := info(); !slices.Equal(of, []string{"default", "gpu"}) {
		t.Errorf("repositories are built in %q", of)
	}
}

func TestLease_FailsRepositoriesThatAreNoLongerBuilt(t *testing.T) {
	s := newFixture(t)
	d := s.dataset(withBuilds)
	id := s.repository(d)
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/datasets/"+d, map[string]any{"builds": false})
	if w := s.lease(&assayv1.LeaseRequest{Kinds: repositories}); w != nil {
		t.Errorf("a builder got %v", w)
	}
	if r := s.run("ada", id); r.State != record.Failed || len(r.Diagnostics) != 1 ||
		!strings.Contains(r.Diagnostics[0].Message, "stopped having repositories built") {
		t.Errorf("%+v", r)
	}
}

func TestLease_RunsWaitForTheTruth(t *testing.T) {
	s := newFixture(t)
	file := inline("run.txt", "1 Q0 a 1 1.0 x\n")
	file["datasetId"] = s.dataset(byWorkers, recordtest.WithoutTruth, func(d *record.DatasetItem) { d.Truths[0].State = record.FilePending })
	id := s.submit("ada", map[string]any{"type": "upload", "files": []any{file}})[0]
	if w := s.lease(&assayv1.LeaseRequest{Kinds: evaluations}); w != nil {
		t.Fatalf("a worker got %v", w)
	}
	if r := s.run("ada", id); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 1 ||
		!strings.Contains(r.Diagnostics[0].Message, "waits for the truth") {
		t.Errorf("%s, %v", r.State, r.Diagnostics)
	}
}

func TestUnserved_RunsAndDatasetsSayThatNoWorkerServes(t *testing.T) {
	s := newFixture(t)
	var ahead atomic.Int64
	s.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	d := s.dataset(inPool)
	worked := s.image("ada", d)[0]
	waits := s.image("bob", d)[0]
	owner := "bob"
	check := func(when string, want bool) {
		t.Helper()
		says := func(body string) bool {
			return strings.Contains(body, `No worker of the pool \"gpu\" that executes images has been seen for a minute`)
		}
		for _, c := range []struct{ user, path string }{
			{owner, "/v1/runs/" + waits}, {"olga", "/v1/runs/" + waits}, {owner, "/v1/runs?filter[datasetId]=" + d},
			{"olga", "/v1/runs?filter[datasetId]=" + d}, {"olga", "/v1/datasets/" + d},
		} {
			body := string(s.Want(http.StatusOK, nil, c.user, http.MethodGet, c.path, nil).Body)
			if got := says(body); got != want || strings.Contains(body, "safeWhileBlinded") {
				t.Errorf("%s, %s as %s says that no worker was seen: %v", when, c.path, c.user, got)
			}
		}
		for _, path := range []string{"/v1/runs/" + waits, "/v1/datasets/" + d} {
			if says(string(s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil).Body)) {
				t.Errorf("%s, %s says to everyone that no worker was seen", when, path)
			}
		}
	}
	check("without workers", true)
	if w := s.lease(&assayv1.LeaseRequest{Worker: "default", Kinds: images}); w != nil {
		t.Errorf("the default pool got %v", w)
	}
	s.lease(&assayv1.LeaseRequest{Worker: "gpu", Pools: []string{"gpu"}, Kinds: evaluations})
	check("with workers of another pool and for other work", true)
	if w := s.lease(&assayv1.LeaseRequest{Worker: "gpu", Pools: []string{"gpu"}, Kinds: images}); w.GetRunId() == waits {
		worked, waits = waits, worked
		owner = "ada"
	}
	check("with a worker that has another run", false)
	got, err := s.runs.GetRun(s.as(owner), &assayv1.GetRunRequest{RunId: waits})
	if err != nil || len(got.GetRun().GetDiagnostics()) != 0 {
		t.Errorf("over gRPC: %v, %v", got, err)
	}
	ahead.Store(int64(2 * time.Minute))
	check("two minutes later", true)
	if r := s.run("olga", worked); r.State != record.Running || len(r.Diagnostics) != 0 {
		t.Errorf("a run that is worked on: %s, %v", r.State, r.Diagnostics)
	}
}

// repeated makes the call three times as the worker with the lease, as if the answers were lost. All answers must be equal. A request
// with other content, and a request of another worker, must be refused.
func repeated[Request, Answer proto.Message](s *fixture, call func(context.Context, Request, ...grpc.CallOption) (Answer, error),
	in, other Request) Answer {
	s.t.Helper()
	first, err := call(s.as("robot"), in)
	must(s.t, err)
	for range 2 {
		again, err := call(s.as("robot"), proto.CloneOf(in))
		if err != nil || !proto.Equal(first, again) {
			s.t.Errorf("%T: a repeat is answered with %v, %v; the first was with %v", in, again, err, first)
		}
	}
	_, err = call(s.as("robot"), other)
	wantCode(s.t, err, codes.FailedPrecondition, "expired")
	_, err = call(s.as("other robot"), in)
	wantCode(s.t, err, codes.FailedPrecondition, "expired")
	return first
}

func TestWorkerService_AnswersRepeatsAsTheFirst(t *testing.T) {
	s := newFixture(t)
	// The end of the evaluation does not change the answer to the worker that executed the run.
	id := s.image("ada", s.dataset())[0]
	w := s.lease(&assayv1.LeaseRequest{})
	s.deliver(w, output)
	s.await(id, record.Completed)
	done := repeated(s, s.work.CompleteRun, completion(w, output), completion(w, "1 Q0 b 1 1 x\n"))
	if done.GetState() != assayv1.RunState_RUN_STATE_EVALUATING {
		t.Errorf("%v", done)
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
	if out := repeated(s, s.work.ReportEvaluation, in, other); out.GetState() != assayv1.RunState_RUN_STATE_COMPLETED ||
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
	repeated(s, s.work.FailRun, failureOf(w, assayv1.FailRunRequest_FAULT_RUN, exited), failureOf(w, assayv1.FailRunRequest_FAULT_NONE))
	if r := s.run("ada", id); r.State != record.Failed || len(r.Diagnostics) != 1 {
		t.Errorf("%+v", r)
	}
}
