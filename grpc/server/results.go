package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
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

// resultOf returns the result of a request that ended a lease. For a repeated request, whose first answer may have been lost, it returns
// the first result.
func (s *workerService) resultOf(ctx context.Context, h queue.LeaseRef, run *record.RunItem, err error) (record.EndedLease, error) {
	if err == nil {
		return record.EndedLease{State: run.State, EvaluationID: run.EvaluationID}, nil
	}
	if !errors.Is(err, queue.ErrStaleLease) {
		return record.EndedLease{}, err
	}
	run, err = records.Get[record.RunItem](ctx, s.env.Store, store.Strong, record.RunKey(h.RunID))
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
	fields.AddIf(len(in.GetEvaluatorVersion()) > maxNameBytes, "/evaluator_version", "must have at most %d bytes", maxNameBytes)
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
		return nil, nil, problem.Conflict.New("The run is %s: only one that is being evaluated takes measures. Send its output with CompleteRun.",
			run.State)
	}
	truth, err := records.Get[record.TruthVersion](ctx, s.env.Store, store.Strong, record.TruthKey(run.DatasetID))
	return run, truth, err
}

// releaseOutdated releases a run that was evaluated against an outdated ground truth, and returns TruthChanged. A repeat of the request
// is refused with errStale, and the worker has nothing left to do either.
func (s *workerService) releaseOutdated(ctx context.Context, h queue.LeaseRef) error {
	h.Request = ""
	if _, err := s.queue.Release(ctx, h); errors.Is(err, queue.ErrStaleLease) {
		return errStale
	} else if err != nil {
		return err
	}
	return problem.TruthChanged.New("The truth has changed since the run was leased. The run waits to be evaluated against the new one: " +
		"lease again.")
}

// tooLarge reports whether a value is too large to be summed with others. NaN is not too large.
func tooLarge(v float64) bool { return math.Abs(v) > measure.MaxReported }

// parseMeasures returns the measures of a report. The report must contain exactly the measures that the dataset names.
func parseMeasures(in *assayv1.ReportEvaluationRequest, names []string) (measure.Result, problem.Fields) {
	result := measure.Result{Measures: map[string]*float64{}, Reasons: map[string]string{}}
	var fields problem.Fields
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
		switch v, ok := in.GetMeasures()[name]; {
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
	for name := range in.GetMeasures() {
		fields.AddIf(!known[name], "/measures", "has %s, which the dataset does not name", quote(name))
	}
	for topic, values := range in.GetTopics() {
		fields.AddIf(!record.IsTopicName(topic), "/topics",
			"has the topic %s: the name of a topic is one line of at most %d bytes without control and format characters", quote(topic),
			record.MaxTopicName)
		of := map[string]float64{}
		for name, v := range values.GetMeasures() {
			switch {
			case !known[name]:
				fields.Add("/topics", "topic %s has %s, which the dataset does not name", quote(topic), quote(name))
			case tooLarge(v):
				fields.Add("/topics", "topic %s has %v as %s: values are numbers from %g to %g", quote(topic), v, name,
					-measure.MaxReported, measure.MaxReported)
			case !math.IsNaN(v):
				of[name] = v
			}
		}
		if result.PerTopic == nil {
			result.PerTopic = map[string]map[string]float64{}
		}
		result.PerTopic[topic] = of
	}
	return result, fields
}

func (s *workerService) FailRun(ctx context.Context, in *assayv1.FailRunRequest) (*assayv1.FailRunResponse, error) {
	h, fields := checkLeaseRef(ctx, in)
	diagnostics, more := checkDiagnostics("/diagnostics", in.GetDiagnostics())
	fields = append(fields, more...)
	h.Request = requestDigest(in)
	var end func() (*record.RunItem, error)
	switch in.GetFault() {
	case assayv1.FailRunRequest_FAULT_RUN:
		fields.AddIf(len(fields) == 0 && !measure.HasErrors(diagnostics), "/diagnostics", "must have an error that says why the run fails")
		end = func() (*record.RunItem, error) { return s.fail(ctx, h, diagnostics) }
	case assayv1.FailRunRequest_FAULT_WORKER:
		end = func() (*record.RunItem, error) { return s.queue.FailAttempt(ctx, h, attemptReason(diagnostics)) }
	case assayv1.FailRunRequest_FAULT_NONE:
		end = func() (*record.RunItem, error) { return s.queue.Postpone(ctx, h, queue.RetryDelay) }
	default:
		fields.Add("/fault", "must be FAULT_RUN, FAULT_WORKER or FAULT_NONE")
	}
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	run, err := end()
	done, err := s.resultOf(ctx, h, run, err)
	if err != nil {
		return nil, err
	}
	return &assayv1.FailRunResponse{State: states[done.State]}, nil
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
