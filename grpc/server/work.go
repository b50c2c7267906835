package server

import (
	"context"
	"errors"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/evaluation"
	"assay/shared/files"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"

	"google.golang.org/protobuf/types/known/durationpb"
)

// workerService implements WorkerService. Every call about a run is under a lease of shared/queue.
type workerService struct {
	assayv1.UnimplementedWorkerServiceServer
	env      Env
	queue    queue.Queue
	dispatch *dispatcher
	serving  serving
	results  evaluation.Writer
	lease    time.Duration // how long a heartbeat extends a lease
}

func newWorkerService(env Env, dispatch *dispatcher, lease time.Duration) *workerService {
	q := queue.Queue{Store: env.Store, Now: env.Now}
	return &workerService{
		env: env, queue: q, dispatch: dispatch, lease: lease,
		results: evaluation.Writer{Queue: q, Files: env.Files, Log: env.Log},
	}
}

// heartbeatsPerLease is how many heartbeats fit into a lease, so that some may be lost.
const heartbeatsPerLease = 4

// Lease implements assayv1.WorkerServiceServer.
func (s *workerService) Lease(ctx context.Context, in *assayv1.LeaseRequest) (*assayv1.LeaseResponse, error) {
	wants, wait, err := checkLease(in)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	holder := record.Lease{Holder: in.GetWorker(), UserID: callerOf(ctx).ID}
	s.serving.track(ctx, s.env, holder, wants, in.GetBuilds(), wait)
	for {
		run := s.dispatch.lease(ctx, holder, wants, wait)
		if run == nil {
			return &assayv1.LeaseResponse{}, nil
		}
		work, err := s.workFor(ctx, run)
		if work != nil || err != nil {
			return &assayv1.LeaseResponse{Work: work}, err
		}
	}
}

// workFor returns the Work message of a run that was just leased; nil when the run was released or failed instead. It releases a
// run whose worker has disconnected, or whose message cannot be built.
func (s *workerService) workFor(ctx context.Context, run *record.RunItem) (*assayv1.Work, error) {
	h := queue.LeaseRefOf(run)
	work, err := s.buildWork(ctx, run, h)
	if err == nil && (work == nil || ctx.Err() == nil) {
		return work, ctx.Err()
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	_, failed := s.queue.Release(detached, h)
	if failed = queue.IgnoreStale(failed); failed != nil {
		s.env.Log.WarnContext(ctx, "a run that did not reach its worker is not released, and waits until its lease expires", "run", run.ID,
			"error", failed)
	}
	return nil, errors.Join(err, ctx.Err())
}

// shutdownGrace bounds the release of a run whose worker has disconnected.
const shutdownGrace = 5 * time.Second

// inputsRetryDelay is the delay of a run whose dataset has inputs that were not uploaded yet.
const inputsRetryDelay = time.Minute

// buildWork is workFor, without the release after an error.
func (s *workerService) buildWork(ctx context.Context, run *record.RunItem, h queue.LeaseRef) (*assayv1.Work, error) {
	b := workBuilder{run: run}
	err := records.Read(ctx, s.env.Store, store.Strong, records.Into(&b.dataset, record.DatasetKey(run.DatasetID)),
		records.Into(&b.truth, record.TruthKey(run.DatasetID)), records.Into(&b.submission, record.SubmissionKey(run.SubmissionID)))
	if err != nil {
		return nil, err
	}
	truth := b.truth
	switch why := b.unservableReason(s.env.Now()); {
	case why != "" && run.State == record.Evaluating && truth == nil:
		_, err = s.queue.FailAgainst(ctx, h, nil, errorDiagnostic(why))
	case why != "":
		_, err = s.queue.Fail(ctx, h, errorDiagnostic(why))
	case run.State == record.Running && !record.AllStored(b.dataset.Inputs):
		_, err = s.queue.Postpone(ctx, h, inputsRetryDelay)
	case run.State == record.Evaluating && truth == nil:
		_, err := s.queue.AwaitTruth(ctx, h, run.QueuedAt.Add(record.UploadTime))
		if errors.Is(err, queue.ErrTruthChanged) {
			_, err = s.queue.Release(ctx, h)
		}
		return nil, queue.IgnoreStale(err)
	case run.State == record.Evaluating && queue.EvaluationQueue(truth) != record.QueueWorkers:
		_, err = s.queue.Release(ctx, h)
	default:
		work, err := b.build(ctx, files.Links{Objects: s.env.Files, Now: s.env.Now(), Download: true})
		if err != nil {
			return nil, problem.Unavailable.Wrap(err, "The links of the files could not be made. Try again in a few seconds.")
		}
		work.LeaseDuration = durationpb.New(s.dispatch.firstLease)
		work.HeartbeatInterval = durationpb.New(s.lease / heartbeatsPerLease)
		return work, nil
	}
	return nil, queue.IgnoreStale(err)
}

// Heartbeat implements assayv1.WorkerServiceServer.
func (s *workerService) Heartbeat(ctx context.Context, in *assayv1.HeartbeatRequest) (*assayv1.HeartbeatResponse, error) {
	h, fields := checkLeaseRef(ctx, in)
	lines, more := checkLines(in)
	if err := problem.Check(append(fields, more...)); err != nil {
		return nil, err
	}
	run, err := s.queue.Heartbeat(ctx, h, s.lease, in.GetFirstLine(), lines)
	switch {
	case errors.Is(err, queue.ErrStaleLease), errors.Is(err, queue.ErrLinesMissing):
		return s.refuseHeartbeat(ctx, h)
	case err != nil:
		return nil, err
	}
	s.serving.noteHeartbeat(ctx, s.env, run)
	return &assayv1.HeartbeatResponse{LeaseDuration: durationpb.New(s.lease), NextLine: run.Lease.Lines}, nil
}

// refuseHeartbeat answers with the next line of the log while the lease is valid, and with stop when the run was cancelled.
func (s *workerService) refuseHeartbeat(ctx context.Context, h queue.LeaseRef) (*assayv1.HeartbeatResponse, error) {
	run, err := records.Get[record.RunItem](ctx, s.env.Store, store.Strong, record.RunKey(h.RunID))
	switch {
	case err != nil:
		return nil, err
	case run != nil && h.Matches(run.Lease):
		return nil, problem.InvalidMember("/first_line", "lines before it are missing: send from line %d of this lease on", run.Lease.Lines)
	case run != nil && h.Ended(run) != nil && run.Ended.State == record.Cancelled:
		return &assayv1.HeartbeatResponse{Stop: true, StopReason: "The run was cancelled."}, nil
	}
	return nil, errStale
}

var errStale = problem.StaleLease.New("This lease is no longer valid: it expired, or the run has ended. Discard the work, and lease again.")
