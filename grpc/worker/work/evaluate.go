package work

import (
	"context"
	"errors"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/measures"
	"assay/grpc/worker/sandbox"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// evaluate runs an organizer's image over a run and the truth, and reports the measures. Since the image reads the truth, only its
// log, which organizers read, has what it prints.
func (t *task) evaluate(ctx context.Context) error {
	folders := make([]sandbox.Folder, 0, 4)
	for _, of := range []struct {
		name     string
		files    []*assayv1.File
		variable string
	}{
		{"run", t.work.GetRunFiles(), "ASSAY_RUN"},
		{"truth", t.work.GetTruths(), "ASSAY_TRUTH"},
		{"input", t.work.GetInputs(), "ASSAY_INPUT"},
	} {
		f, err := t.files(ctx, of.name, of.files, of.variable)
		if err != nil {
			return err
		}
		folders = append(folders, f)
	}
	program, err := t.program(ctx)
	if err != nil {
		return asEvaluatorFailure(err)
	}
	output, err := t.output(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = output.Root.Close() }()
	if err := t.run(ctx, program, append(folders, output)...); err != nil {
		return asEvaluatorFailure(err)
	}
	found, err := measures.Read(output.Root, t.work.GetMeasures())
	if err != nil {
		return err
	}
	t.drain()
	return t.report(found, program.Version)
}

// asEvaluatorFailure attributes a failure of the run's program to the evaluator.
func asEvaluatorFailure(err error) error {
	var ofRun *failure.RunError
	if !errors.As(err, &ofRun) {
		return err
	}
	attributed := failure.New("The evaluator of the dataset failed; its organizers find more in the log of the evaluation.")
	attributed.Diagnostics = append(attributed.Diagnostics, ofRun.Diagnostics...)
	return attributed
}

func (t *task) report(found *measures.Evaluation, version string) error {
	if t.Local {
		version = sandbox.CommandVersion(t.work.GetCommand())
	}
	request := &assayv1.ReportEvaluationRequest{
		RunId: t.runID, LeaseId: t.leaseID, TruthVersion: t.work.GetTruthVersion(), Measures: found.Measures,
		EvaluatorVersion: suffix(version, maxVersion),
	}
	if len(found.Topics) > 0 {
		request.Topics = make(map[string]*assayv1.TopicMeasures, len(found.Topics))
		for topic, values := range found.Topics {
			request.Topics[topic] = &assayv1.TopicMeasures{Measures: values}
		}
	}
	_, err := callWithRetry(t.lease, t.Client.ReportEvaluation, request)
	switch {
	case status.Code(err) == codes.Aborted && reason(err) == truthChanged:
		return errTruthChanged
	case status.Code(err) == codes.InvalidArgument, status.Code(err) == codes.ResourceExhausted:
		t.log.Printf("The measures cannot be taken. %s", explain(err))
		return failure.New("The measures of the evaluator cannot be taken; its organizers find why in the log of the evaluation.")
	}
	return err
}

// maxVersion bounds the version of an evaluator, of which the end, the digest, matters.
const maxVersion = 200

func suffix(s string, most int) string { return s[max(len(s)-most, 0):] }
