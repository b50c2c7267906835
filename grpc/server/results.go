package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"

	"assay/grpc/assayv1"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/files"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func (s *workerService) CompleteRun(ctx context.Context, in *assayv1.CompleteRunRequest) (*assayv1.CompleteRunResponse, error) {
	h, fields := checkLeaseRef(ctx, in)
	outputs, more := checkOutputs(in)
	if err := problem.Check(append(fields, more...)); err != nil {
		return nil, err
	}
	h.Request = requestDigest(in)
	run, missing, err := s.queue.CompleteExecution(ctx, s.env.Files, h, outputs, s.env.Quotas.User)
	done, err := s.resultOf(ctx, h, run, err)
	if err != nil {
		return nil, err
	}
	out := &assayv1.CompleteRunResponse{State: states[done.State]}
	if done.State != record.Running {
		return out, nil
	}
	with, err := files.Links{Objects: s.env.Files, Now: s.env.Now(), Upload: true}.Sign(ctx, record.HolderRuns, h.RunID, missing)
	if err != nil {
		return nil, problem.Unavailable.Wrap(err, "The links of the files could not be made. Try again in a few seconds.")
	}
	out.Uploads = lists.Map(with, func(f record.File) *assayv1.Upload {
		return &assayv1.Upload{Name: f.Name, Method: f.Upload.Method, Url: f.Upload.URL, Headers: f.Upload.Headers,
			ExpireTime: timestamppb.New(f.Upload.ExpiresAt.Time)}
	})
	return out, nil
}

// requestDigest identifies a request among the requests under its lease.
func requestDigest(in proto.Message) string {
	b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(in) // encoding a decoded message cannot fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// resultOf returns the result of a request that ended a lease: run, or refused if the queue refused the request. A client repeats a
// request whose answer was lost. Then the lease is stale, and resultOf returns the first result.
func (s *workerService) resultOf(ctx context.Context, h queue.LeaseRef, run *record.RunItem, refused error) (record.EndedLease, error) {
	if refused == nil {
		return record.EndedLease{State: run.State, EvaluationID: run.EvaluationID}, nil
	}
	if !errors.Is(refused, queue.ErrStaleLease) {
		return record.EndedLease{}, refused
	}
	run, err := records.Get[record.RunItem](ctx, s.env.Store, store.Strong, record.RunKey(h.RunID))
	if err != nil {
		return record.EndedLease{}, err
	}
	if run == nil || h.Ended(run) == nil || run.Ended.Request != h.Request {
		return record.EndedLease{}, errStale
	}
	return *run.Ended, nil
}

func (s *workerService) ReportEvaluation(ctx context.Context,
	in *assayv1.ReportEvaluationRequest) (*assayv1.ReportEvaluationResponse, error) {
	h, fields := checkLeaseRef(ctx, in)
	warnings, more := checkDiagnostics("/warnings", in.GetWarnings())
	fields = append(fields, more...)
	fields = append(fields, record.CheckLine("/evaluator_version", in.GetEvaluatorVersion())...)
	fields.AddIf(len(in.GetEvaluatorVersion()) > maxNameBytes, "/evaluator_version", "must have at most %s",
		problem.Size(maxNameBytes))
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	h.Request = requestDigest(in)
	run, err := s.report(ctx, h, in, warnings)
	done, err := s.resultOf(ctx, h, run, err)
	if err != nil {
		return nil, err
	}
	return &assayv1.ReportEvaluationResponse{EvaluationId: done.EvaluationID, State: states[done.State]}, nil
}

// report completes a run with the measures that a worker reports.
func (s *workerService) report(ctx context.Context, h queue.LeaseRef, in *assayv1.ReportEvaluationRequest,
	warnings []measure.Diagnostic) (*record.RunItem, error) {
	run, truth, err := s.leasedForEvaluation(ctx, h)
	if err != nil {
		return nil, err
	}
	if truth == nil || truth.Number != in.GetTruthVersion() {
		return nil, s.releaseOutdated(ctx, h)
	}
	result, fields := parseMeasures(in, truth.Evaluator.Measures)
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	result.Warnings = measure.WithoutTruth(nil, warnings) // the evaluator read the ground truth, so any text may reveal it
	run, err = s.results.Complete(ctx, h, run, truth, result, in.GetEvaluatorVersion())
	if errors.Is(err, queue.ErrTruthChanged) {
		return nil, s.releaseOutdated(ctx, h)
	}
	return run, err
}

// leasedForEvaluation reads a run that a worker evaluates, and the current ground truth. The truth is nil if it was deleted.
func (s *workerService) leasedForEvaluation(ctx context.Context, h queue.LeaseRef) (*record.RunItem, *record.TruthVersion, error) {
	run, err := records.Get[record.RunItem](ctx, s.env.Store, store.Strong, record.RunKey(h.RunID))
	switch {
	case err != nil:
		return nil, nil, err
	case run == nil || !h.Matches(run.Lease):
		return nil, nil, queue.ErrStaleLease
	case run.State != record.Evaluating:
		return nil, nil, problem.Conflict.New("The run is %s, and only runs that are being evaluated take measures. Send its output "+
			"with CompleteRun.", run.State)
	}
	truth, err := records.Get[record.TruthVersion](ctx, s.env.Store, store.Strong, record.TruthKey(run.DatasetID))
	return run, truth, err
}

// releaseOutdated releases a run that was evaluated against an outdated ground truth, and returns TruthChanged. A repeat of the request
// is refused with errStale, and the worker has nothing left to do either.
func (s *workerService) releaseOutdated(ctx context.Context, h queue.LeaseRef) error {
	h.Request = ""
	_, err := s.queue.Release(ctx, h)
	switch {
	case errors.Is(err, queue.ErrStaleLease):
		return errStale
	case err != nil:
		return err
	}
	return problem.TruthChanged.New("The truth has changed since the run was leased. The run waits to be evaluated against the new one: " +
		"lease again.")
}

// tooLarge reports whether a value is too large to be summed with others. NaN is not too large.
func tooLarge(v float64) bool { return math.Abs(v) > measure.MaxReported }

// parseMeasures returns the measures of a report. The report must contain exactly the measures that the dataset names.
func parseMeasures(in *assayv1.ReportEvaluationRequest, names []string) (measure.Result, problem.Fields) {
	result, fields := parseOverall(in.GetMeasures(), names)
	perTopic, more := parseTopics(in.GetTopics(), names)
	result.PerTopic = perTopic
	return result, append(fields, more...)
}

// parseOverall returns a result with the values of the whole run.
func parseOverall(values map[string]float64, names []string) (measure.Result, problem.Fields) {
	result := measure.Result{Measures: map[string]*float64{}, Reasons: map[string]string{}}
	var fields problem.Fields
	for _, name := range names {
		switch v, ok := values[name]; {
		case !ok:
			fields.Add("/measures", "misses %s, which the dataset names; NaN says that it is not defined for the run", name)
		case tooLarge(v):
			fields.Add("/measures", "%s is %v: measures are numbers from %g to %g, or NaN where they are not defined", name, v,
				-measure.MaxReported, measure.MaxReported)
		case math.IsNaN(v):
			result.Reasons[name] = "the evaluator says that it is not defined for the run"
		default:
			result.Measures[name] = &v
		}
	}
	for name := range values {
		fields.AddIf(!slices.Contains(names, name), "/measures", "has %s, which the dataset does not name", quote(name))
	}
	return result, fields
}

// parseTopics returns the values by topic and measure, nil without topics.
func parseTopics(topics map[string]*assayv1.TopicMeasures, names []string) (map[string]map[string]float64, problem.Fields) {
	if len(topics) == 0 {
		return nil, nil
	}
	var fields problem.Fields
	perTopic := make(map[string]map[string]float64, len(topics))
	for topic, values := range topics {
		fields.AddIf(!record.IsTopicName(topic), "/topics",
			"has the topic %s: the name of a topic is one line of at most %s without control and format characters", quote(topic),
			problem.Size(record.MaxTopicName))
		defined, more := parseTopic(topic, values.GetMeasures(), names)
		fields = append(fields, more...)
		perTopic[topic] = defined
	}
	return perTopic, fields
}

// parseTopic returns the values of one topic by measure, without NaN.
func parseTopic(topic string, values map[string]float64, names []string) (map[string]float64, problem.Fields) {
	var fields problem.Fields
	defined := map[string]float64{}
	for name, v := range values {
		switch {
		case !slices.Contains(names, name):
			fields.Add("/topics", "topic %s has %s, which the dataset does not name", quote(topic), quote(name))
		case tooLarge(v):
			fields.Add("/topics", "topic %s has %v as %s: values are numbers from %g to %g", quote(topic), v, name,
				-measure.MaxReported, measure.MaxReported)
		case !math.IsNaN(v):
			defined[name] = v
		}
	}
	return defined, fields
}

func (s *workerService) FailRun(ctx context.Context, in *assayv1.FailRunRequest) (*assayv1.FailRunResponse, error) {
	h, fields := checkLeaseRef(ctx, in)
	diagnostics, more := checkFailure(in)
	if err := problem.Check(append(fields, more...)); err != nil {
		return nil, err
	}
	h.Request = requestDigest(in)
	run, err := s.endFailed(ctx, h, in.GetFault(), diagnostics)
	done, err := s.resultOf(ctx, h, run, err)
	if err != nil {
		return nil, err
	}
	return &assayv1.FailRunResponse{State: states[done.State]}, nil
}

// checkFailure returns the diagnostics of a request that fails a run. A run that is at fault needs an error.
func checkFailure(in *assayv1.FailRunRequest) ([]measure.Diagnostic, problem.Fields) {
	diagnostics, fields := checkDiagnostics("/diagnostics", in.GetDiagnostics())
	switch in.GetFault() {
	case assayv1.FailRunRequest_FAULT_RUN:
		fields.AddIf(len(fields) == 0 && !measure.HasErrors(diagnostics), "/diagnostics", "must have an error that says why the run fails")
	case assayv1.FailRunRequest_FAULT_WORKER, assayv1.FailRunRequest_FAULT_NONE:
	default:
		fields.Add("/fault", "must be FAULT_RUN, FAULT_WORKER or FAULT_NONE")
	}
	return diagnostics, fields
}

// endFailed ends a failed attempt. The fault says whether the run fails, the attempt counts, or the run only waits to be tried again.
func (s *workerService) endFailed(ctx context.Context, h queue.LeaseRef, fault assayv1.FailRunRequest_Fault,
	diagnostics []measure.Diagnostic) (*record.RunItem, error) {
	switch fault {
	case assayv1.FailRunRequest_FAULT_RUN:
		return s.fail(ctx, h, diagnostics)
	case assayv1.FailRunRequest_FAULT_WORKER:
		return s.queue.FailAttempt(ctx, h, attemptReason(diagnostics))
	default:
		return s.queue.Postpone(ctx, h, queue.RetryDelay)
	}
}

// fail fails a run. A run that was being evaluated remains failed only until the ground truth changes.
func (s *workerService) fail(ctx context.Context, h queue.LeaseRef, diagnostics []measure.Diagnostic) (*record.RunItem, error) {
	run, err := records.Get[record.RunItem](ctx, s.env.Store, store.Strong, record.RunKey(h.RunID))
	if err != nil {
		return nil, err
	}
	if run == nil || run.State != record.Evaluating {
		return s.queue.Fail(ctx, h, diagnostics)
	}
	truth, err := records.Get[record.TruthVersion](ctx, s.env.Store, store.Strong, record.TruthKey(run.DatasetID))
	if err != nil {
		return nil, err
	}
	run, err = s.results.Fail(ctx, h, run, truth, measure.WithoutTruth(nil, diagnostics), "")
	if errors.Is(err, queue.ErrTruthChanged) {
		return nil, s.releaseOutdated(ctx, h)
	}
	return run, err
}

// attemptReason returns the reason for a failed attempt in words that the owner of the run may read.
func attemptReason(diagnostics []measure.Diagnostic) string {
	for _, d := range diagnostics {
		if d.SafeWhileBlinded {
			return strings.TrimRight(d.Message, ".")
		}
	}
	return "the worker broke it off"
}
