package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/edge/auth"
	"assay/shared/language/problem"
	"assay/shared/service/evaluation"
	"assay/shared/service/files"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// workerService implements WorkerService. Every call about a run needs a lease of shared/service/queue.
type workerService struct {
	assayv1.UnimplementedWorkerServiceServer
	env      Env
	queue    queue.Queue
	dispatch *dispatcher
	serving  serving
	results  evaluation.Writer
	lease    time.Duration // how long a heartbeat extends a lease
	waiting  openCalls
}

func newWorkerService(env Env, dispatch *dispatcher, lease time.Duration) *workerService {
	q := dispatch.queue
	return &workerService{
		env: env, queue: q, dispatch: dispatch, lease: lease,
		results: evaluation.Writer{Queue: q, Files: env.Files, Log: env.Log},
		waiting: openCalls{method: "Lease", most: maxWaitingLeases},
	}
}

// heartbeatsPerLease is the number of heartbeats in a lease. With several, a lost heartbeat does no harm.
const heartbeatsPerLease = 4

func (s *workerService) Lease(ctx context.Context, in *assayv1.LeaseRequest) (*assayv1.LeaseResponse, error) {
	caller := callerOf(ctx)
	wants, wait, err := checkLease(in, caller.Token)
	if err != nil {
		return nil, err
	}
	if caller.Token != nil {
		leave, err := s.waiting.enter(caller.ID)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	holder := record.Lease{Holder: in.GetWorker(), UserID: leaseIdentity(caller)}
	s.serving.track(ctx, s.env, holder, wants, in.GetBuilds(), wait)
	for {
		run := s.dispatch.lease(ctx, holder, wants, wait)
		if run == nil {
			return &assayv1.LeaseResponse{}, revoked(ctx)
		}
		work, err := s.workFor(ctx, run)
		if work != nil {
			auth.NoteUse(ctx, s.env.Store, caller, s.env.Now(), s.env.Log)
		}
		if work != nil || err != nil {
			return &assayv1.LeaseResponse{Work: work}, err
		}
	}
}

// workFor returns the Work message of a run that was just leased. It returns nil if the run was released or failed instead. It releases
// a run whose worker has disconnected, or whose message cannot be built.
func (s *workerService) workFor(ctx context.Context, run *record.RunItem) (*assayv1.Work, error) {
	h := queue.LeaseRefOf(run)
	var work *assayv1.Work
	err := s.env.authorizeToken(ctx, callerOf(ctx)) // again, because the worker may have waited long
	if err == nil {
		work, err = s.buildWork(ctx, run, h)
	}
	if err == nil && (work == nil || ctx.Err() == nil) {
		return work, ctx.Err()
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	_, failed := s.queue.Release(detached, h)
	failed = queue.IgnoreStale(failed)
	if failed != nil {
		s.env.Log.WarnContext(ctx, "cannot release a run that did not reach its worker; it waits until its lease expires", "run", run.ID,
			"error", failed)
	}
	return nil, errors.Join(err, ctx.Err())
}

// shutdownGrace bounds the release of a run whose worker has disconnected.
const shutdownGrace = 5 * time.Second

// inputsRetryDelay is the delay of a run whose dataset has inputs that are not uploaded yet.
const inputsRetryDelay = time.Minute

// buildWork is workFor without the release after an error.
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
		_, err = s.queue.AwaitTruth(ctx, h, run.QueuedAt.Add(record.UploadTime))
		if errors.Is(err, queue.ErrTruthChanged) {
			_, err = s.queue.Release(ctx, h)
		}
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

// refuseHeartbeat answers a refused heartbeat. If the lease is valid, it returns a problem with the next line of the log. If the run was
// cancelled, it tells the worker to stop.
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

// workBuilder builds the Work message of a leased run from the records that the run refers to.
type workBuilder struct {
	run        *record.RunItem
	dataset    *record.DatasetItem
	truth      *record.TruthVersion
	submission *record.SubmissionItem
}

// unservableReason returns the reason why no worker can do the work of the run; empty: there is none.
func (b *workBuilder) unservableReason(now time.Time) string {
	switch {
	case b.dataset == nil || b.submission == nil:
		return "The dataset or the submission of the run was deleted."
	case b.run.State == record.Evaluating && b.truth == nil && !b.truthExpected(now):
		return "The dataset has no truth, so nothing can be evaluated. Once the organizers have stored a truth, the run is evaluated " +
			"automatically."
	case b.run.State == record.Running && !record.AllStored(b.dataset.Inputs) && now.Sub(b.run.QueuedAt.Time) > record.UploadTime:
		return "The input files of the dataset have not arrived for a day. Submit again once the organizers have stored them; no quota " +
			"counts this run."
	case b.run.State == record.Running && b.run.Work() == record.ExecuteRepository && !b.dataset.Builds:
		return "The organizers have stopped having repositories built for the dataset. Submit an image, or ask them; no quota counts this " +
			"run."
	default:
		return ""
	}
}

// truthExpected reports whether the dataset has no ground truth in use but one that may still be uploaded.
func (b *workBuilder) truthExpected(now time.Time) bool {
	return b.truth == nil && b.dataset.AwaitsTruth() && now.Before(b.run.QueuedAt.Add(record.UploadTime))
}

func errorDiagnostic(why string) []measure.Diagnostic {
	return []measure.Diagnostic{{Severity: measure.Error, Message: why, SafeWhileBlinded: true}}
}

// kinds maps each kind of work to its form in the protocol.
var kinds = map[record.Work]assayv1.WorkKind{
	record.ExecuteImage:      assayv1.WorkKind_WORK_KIND_IMAGE,
	record.ExecuteRepository: assayv1.WorkKind_WORK_KIND_REPOSITORY,
	record.Evaluate:          assayv1.WorkKind_WORK_KIND_EVALUATION,
}

// build returns the Work message without the durations of the lease.
func (b *workBuilder) build(ctx context.Context, links files.Links) (*assayv1.Work, error) {
	r := b.run
	w := &assayv1.Work{
		RunId: r.ID, LeaseId: r.Lease.ID, DeadlineTime: timestamppb.New(r.Lease.Until.Time), Attempt: int32(min(r.Attempts, record.MaxAttempts)),
		TaskId: r.TaskID, DatasetId: r.DatasetID, SubmissionId: r.SubmissionID,
	}
	var err error
	if w.Inputs, err = linkedFiles(ctx, links, record.HolderInputs, b.dataset.ID, b.dataset.Inputs); err != nil {
		return nil, err
	}
	if r.State == record.Running {
		w.Kind = kinds[record.Work(r.Type)]
		w.Image, w.Command = b.submission.Image, b.submission.Command
		w.RepositoryUrl, w.RepositoryRef = b.submission.URL, b.submission.Ref
		return w, nil
	}
	w.Kind = kinds[record.Evaluate]
	w.Image, w.Command = b.truth.Evaluator.Image, b.truth.Evaluator.Command
	w.TruthVersion, w.Measures = b.truth.Number, b.truth.Evaluator.Measures
	if w.RunFiles, err = linkedFiles(ctx, links, record.HolderRuns, r.ID, r.Files); err != nil {
		return nil, err
	}
	w.Truths, err = linkedFiles(ctx, links, record.HolderTruths, b.truth.ID, b.truth.Files)
	return w, err
}

// linkedFiles returns the stored files of the list with links to download them.
func linkedFiles(ctx context.Context, links files.Links, h record.Holder, id string, list []record.File) ([]*assayv1.File, error) {
	stored := slices.DeleteFunc(slices.Clone(list), func(f record.File) bool { return f.State != record.FileStored })
	with, err := links.Sign(ctx, h, id, stored)
	return protoFiles(with), err
}
