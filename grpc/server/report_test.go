package server_test

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"assay/grpc/assayv1"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// evaluation leases the evaluation of a new run by an organizer's image.
func (s *fixture) evaluation() *assayv1.Work {
	s.t.Helper()
	s.image("ada", s.dataset(byWorkers, recordtest.OnTestSplit))
	s.deliver(s.lease(&assayv1.LeaseRequest{}), output)
	return s.lease(&assayv1.LeaseRequest{Kinds: []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_EVALUATION}})
}

// violations returns the field violations of an error.
func violations(err error) string {
	var text strings.Builder
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, f := range bad.GetFieldViolations() {
				text.WriteString(f.GetField() + " " + f.GetDescription() + "\n")
			}
		}
	}
	return text.String()
}

// Names in a report must fit on a line, and values must be summable. Otherwise the answer tells the author of the evaluator the fault.
func TestReportEvaluation_TakesNamesAndNumbersThatCanBeUsed(t *testing.T) {
	s := newFixture(t)
	w := s.evaluation()
	report := func(change func(*assayv1.ReportEvaluationRequest)) (*assayv1.ReportEvaluationResponse, error) {
		in := &assayv1.ReportEvaluationRequest{
			RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), TruthVersion: w.GetTruthVersion(), EvaluatorVersion: "sha256:1",
			Measures: map[string]float64{"Errors": -measure.MaxReported, "Score": measure.MaxReported}, Topics: map[string]*assayv1.TopicMeasures{},
		}
		for _, topic := range []string{"1", "Größe 2", strings.Repeat("x", record.MaxTopicName)} {
			in.Topics[topic] = &assayv1.TopicMeasures{Measures: map[string]float64{"Errors": measure.MaxReported, "Score": math.NaN()}}
		}
		change(in)
		return s.work.ReportEvaluation(s.as("robot"), in)
	}
	for name, c := range map[string]struct {
		change func(*assayv1.ReportEvaluationRequest)
		want   string
	}{
		"the largest double":           {value("Score", math.MaxFloat64), "measures Score is 1.7976931348623157e+308: measures are numbers"},
		"a large negative double":      {value("Score", -1e61), "measures Score is -1e+61"},
		"infinity":                     {value("Score", math.Inf(1)), "measures Score is +Inf"},
		"a topic with a large value":   {topic("t", 1.7e308), `topics topic "t" has 1.7e+308 as Errors`},
		"a topic with infinity":        {topic("t", math.Inf(-1)), `topics topic "t" has -Inf as Errors`},
		"a topic of several lines":     {topic("a\nb", 1), `topics has the topic "a\nb"`},
		"a topic with a terminal code": {topic("\x1b[2J", 1), `topics has the topic "\x1b[2J"`},
		"a topic that turns text":      {topic("a\u202eb", 1), `topics has the topic "a\u202eb"`},
		"a topic without a name":       {topic("", 1), `topics has the topic ""`},
		"a topic with a long name":     {topic(strings.Repeat("x", record.MaxTopicName+1), 1), "at most 200 bytes"},
		"a version of several lines":   {version("1\n2"), "evaluator_version must be one line"},
		"a version that turns text":    {version("1\u202e2"), "evaluator_version must be one line"},
		"a version that is long":       {version(strings.Repeat("1", 201)), "evaluator_version must have at most 200 bytes"},
	} {
		_, err := report(c.change)
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(violations(err), c.want) {
			t.Errorf("%s: %v, %s, want %s", name, err, violations(err), c.want)
		}
	}
	out, err := report(func(*assayv1.ReportEvaluationRequest) {})
	if err != nil || out.GetState() != assayv1.RunState_RUN_STATE_COMPLETED {
		t.Fatal(out, err)
	}
	var e record.Evaluation
	s.Want(http.StatusOK, &e, "olga", http.MethodGet, "/v1/evaluations/"+out.GetEvaluationId(), nil)
	if *e.Measures["Score"] != measure.MaxReported || len(e.PerTopic) != 3 || e.PerTopic["Größe 2"]["Errors"] != measure.MaxReported {
		t.Errorf("%+v", e)
	}
}

func value(name string, v float64) func(*assayv1.ReportEvaluationRequest) {
	return func(in *assayv1.ReportEvaluationRequest) { in.Measures[name] = v }
}

func topic(name string, v float64) func(*assayv1.ReportEvaluationRequest) {
	return func(in *assayv1.ReportEvaluationRequest) {
		in.Topics[name] = &assayv1.TopicMeasures{Measures: map[string]float64{"Errors": v}}
	}
}

func version(v string) func(*assayv1.ReportEvaluationRequest) {
	return func(in *assayv1.ReportEvaluationRequest) { in.EvaluatorVersion = v }
}

// A diagnostic may end with the output of a program. It keeps line breaks, and loses characters that control a terminal.
func TestFailRun_ReplacesCharactersThatSteer(t *testing.T) {
	s := newFixture(t)
	s.image("ada", s.dataset())
	w := s.lease(&assayv1.LeaseRequest{})
	_, err := s.work.FailRun(s.as("robot"), &assayv1.FailRunRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(),
		Fault: assayv1.FailRunRequest_FAULT_RUN, Diagnostics: []*assayv1.Diagnostic{{Severity: assayv1.Diagnostic_SEVERITY_ERROR,
			Message: "It printed:\n\x1b[31mred\u202e\tend", File: "run\n\x1b[2J.txt", Discreet: true}}})
	if err != nil {
		t.Fatal(err)
	}
	r := s.run("ada", w.GetRunId())
	if d := r.Diagnostics; len(d) != 1 || d[0].Message != "It printed:\n\ufffd[31mred\ufffd\tend" || d[0].File != "run[2J.txt" {
		t.Errorf("%+v", d)
	}
}
