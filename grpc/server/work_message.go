package server

import (
	"context"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/files"
	"assay/shared/measure"
	"assay/shared/record"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// workBuilder builds the Work message of a leased run from the records that the run refers to.
type workBuilder struct {
	run        *record.RunItem
	dataset    *record.DatasetItem
	truth      *record.Truth
	submission *record.SubmissionItem
}

// unservableReason returns why no worker can do the work of the run; empty when there is no reason.
func (b *workBuilder) unservableReason(now time.Time) string {
	switch {
	case b.dataset == nil || b.submission == nil:
		return "The dataset or the submission of the run was deleted."
	case b.run.State == record.Evaluating && b.truth == nil && !b.truthExpected(now):
		return "The dataset has no truth, so nothing can be evaluated. Once the organizers have stored a truth, the run is evaluated " +
			"automatically."
	case b.run.State == record.Running && !record.AllStored(b.dataset.Inputs) && now.Sub(b.run.QueuedAt.Time) > record.UploadTime:
		return "The input files of the dataset have not arrived for a day. Submit again once the organizers have stored them; this run does " +
			"not count in the quota."
	case b.run.State == record.Running && b.run.Work() == record.ExecuteRepository && !b.dataset.Builds:
		return "The organizers have stopped having repositories built for the dataset. Submit an image, or ask them; this run does not count " +
			"in the quota."
	default:
		return ""
	}
}

// truthExpected reports whether the dataset has a truth that may still be uploaded.
func (b *workBuilder) truthExpected(now time.Time) bool {
	return b.truth == nil && b.dataset.AwaitsTruth() && now.Before(b.run.QueuedAt.Add(record.UploadTime))
}

func errorDiagnostic(why string) []measure.Diagnostic {
	return []measure.Diagnostic{{Severity: measure.Error, Message: why, SafeWhileBlinded: true}}
}

// kinds has the protocol's form of each kind of work.
var kinds = map[record.Work]assayv1.WorkKind{
	record.ExecuteImage:      assayv1.WorkKind_WORK_KIND_IMAGE,
	record.ExecuteRepository: assayv1.WorkKind_WORK_KIND_REPOSITORY,
	record.Evaluate:          assayv1.WorkKind_WORK_KIND_EVALUATION,
}

// build returns the message, without the durations of the lease.
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

// linkedFiles returns the stored ones of the files, with links to download them.
func linkedFiles(ctx context.Context, links files.Links, h record.Holder, id string, list []record.File) ([]*assayv1.File, error) {
	with, err := links.Sign(ctx, h, id, list)
	if err != nil {
		return nil, err
	}
	var out []*assayv1.File
	for i := range with {
		if with[i].State == record.FileStored {
			out = append(out, protoFile(&with[i]))
		}
	}
	return out, nil
}
