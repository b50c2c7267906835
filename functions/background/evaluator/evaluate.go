package evaluator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/edge/compute"
	"assay/shared/language/lists"
	"assay/shared/language/panics"
	"assay/shared/language/wait"
	"assay/shared/service/evaluation"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/service/truth"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// evaluate completes a leased run. If the store or the files do not answer, the run is evaluated again later, without counting an attempt.
// If the postponement cannot be written, or the run fails for longer than maxOutage, its lease expires.
func (w *Worker) evaluate(parent context.Context, l lane, run *record.RunItem) {
	if l.isSlow() {
		usual := compute.Frugal()
		defer usual()
	}
	h := queue.LeaseRefOf(run)
	counted, counter := l.count(parent)
	ctx, release := w.keepLease(counted, h)
	started := w.Now()
	attempt := func() error {
		if record.SizeOf(run.Files) > l.budget {
			return errOverBudget // each byte takes a step
		}
		return w.attempt(ctx, l, run, h)
	}
	err := panics.Catch(attempt)
	for errors.Is(err, queue.ErrTruthChanged) {
		err = panics.Catch(attempt)
	}
	lost := errors.Is(context.Cause(ctx), queue.ErrStaleLease)
	release()
	if l.isSlow() {
		runtime.GC() // otherwise the next evaluation would need memory in addition to the garbage of this one
	}
	w.charge(run, counter)
	log := w.Log.With("run", run.ID, "dataset", run.DatasetID, "attempt", run.Attempts)
	_, panicked := errors.AsType[*panics.Error](err)
	switch {
	case err == nil:
		log.InfoContext(parent, "run evaluated", "took", w.Now().Sub(started))
	case errors.Is(err, errOverBudget) && l.isSlow():
		log.WarnContext(parent, "run failed because it takes too many steps", "steps", counter.Total())
		_, err = w.queue().Fail(parent, h, tooManySteps())
	case errors.Is(err, errOverBudget):
		log.InfoContext(parent, "run is evaluated in the slow lane", "steps", counter.Total())
		_, err = w.queue().MoveToSlowLane(parent, h)
	case lost || errors.Is(err, queue.ErrStaleLease):
		log.InfoContext(parent, "run was reclaimed, cancelled or deleted while it was evaluated")
	case panicked:
		log.ErrorContext(parent, "the evaluator panicked", "error", err)
		_, err = w.queue().FailAttempt(parent, h, "the evaluator had a fault, which is the platform's and not the run's")
	case parent.Err() != nil:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), shutdownGrace)
		defer cancel()
		_, err = w.queue().Release(ctx, h)
	case w.isOutage(run, err):
		log.ErrorContext(parent, "run not evaluated; it is tried again later", "error", err)
		err = w.postpone(parent, run, h)
	default:
		log.ErrorContext(parent, "run not evaluated; it is queued again when its lease expires", "error", err)
		return
	}
	if err = queue.IgnoreStale(err); err != nil {
		log.ErrorContext(parent, "run not released; it is queued again when its lease expires", "error", err)
	}
}

// tooManySteps returns the diagnostic of a run that exceeds the budget of the slow lane.
func tooManySteps() []measure.Diagnostic {
	return []measure.Diagnostic{{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"To evaluate the run takes more than %d million steps, some minutes; expected fewer. It has far more labels, words or ranks than the "+
			"task needs: leave out what is not needed, and submit it again.", slowBudget/1_000_000)}}
}

const (
	maxOutage      = 24 * time.Hour // after a run was queued, in which failures of the store or the files count no attempt
	minOutageDelay = 2 * time.Second
	maxOutageDelay = 10 * time.Minute
)

// isOutage reports whether an attempt failed because the store or the files did not answer.
func (w *Worker) isOutage(run *record.RunItem, err error) bool {
	return !errors.Is(err, blob.ErrNotFound) && !errors.Is(err, blob.ErrMismatch) && w.Now().Before(run.QueuedAt.Add(maxOutage))
}

// postpone releases the run for a later attempt. The delay grows with the age of the run, so that a long outage does not keep evaluators
// busy. If the store fails, postpone repeats the write while the lease surely lasts.
func (w *Worker) postpone(ctx context.Context, run *record.RunItem, h queue.LeaseRef) error {
	delay := min(max(minOutageDelay, w.Now().Sub(run.QueuedAt.Time)/4), maxOutageDelay)
	for end := time.Now().Add(leaseTime / 3); ; {
		_, err := w.queue().Postpone(ctx, h, delay)
		if err == nil || errors.Is(err, queue.ErrStaleLease) || time.Now().After(end) || !wait.Sleep(ctx, pollInterval) {
			return err
		}
	}
}

// keepLease extends the lease until the caller calls release. The context ends when the lease is lost.
func (w *Worker) keepLease(parent context.Context, h queue.LeaseRef) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	var extending sync.WaitGroup
	extending.Go(func() {
		for wait.Sleep(ctx, leaseTime/3) {
			err := w.queue().Extend(ctx, h, leaseTime)
			if errors.Is(err, queue.ErrStaleLease) {
				cancel(err)
			} else if err != nil && ctx.Err() == nil {
				w.Log.WarnContext(ctx, "a lease was not extended", "run", h.RunID, "error", err)
			}
		}
	})
	return ctx, func() {
		cancel(nil)
		extending.Wait()
	}
}

// attempt evaluates the run against the current truth, and writes the result.
func (w *Worker) attempt(ctx context.Context, l lane, run *record.RunItem, h queue.LeaseRef) error {
	current, err := records.Get[record.TruthVersion](ctx, w.Store, store.Strong, record.TruthKey(run.DatasetID))
	switch {
	case err != nil:
		return err
	case current == nil:
		return w.withoutTruth(ctx, run, h)
	case queue.EvaluationQueue(current) != record.QueueBuiltin:
		_, err = w.queue().Release(ctx, h)
		return err
	}
	against, err := w.truths.get(ctx, l, current.ID, strconv.FormatInt(current.Number, 10),
		func(ctx context.Context) (*scoring.Evaluator, int64, error) { return w.readTruth(ctx, current) })
	if err != nil {
		return err
	}
	if against == nil {
		return w.fail(ctx, h, current,
			"The truth of the dataset cannot be used. Once the organizers have fixed it, the run is evaluated automatically.")
	}
	files := w.open(ctx, record.HolderRuns, run.ID, run.Files)
	start := keepFirstBytes(files)
	evaluated, err := against.Read(ctx, files)
	if err != nil {
		return err
	}
	result, diagnostics := evaluated.Result, evaluated.Diagnostics
	// Blinded runs are validated in any case, so that the duration reveals nothing. The texts of inputs show faults of any spans.
	if len(diagnostics) > 0 || run.Access.Conceals() || current.Evaluator.Kind == string(measure.Spans) {
		known, err := w.known(ctx, l, run, current, against)
		if err != nil {
			return err
		}
		public, err := evaluated.Validate(ctx, files, known...)
		if err != nil {
			return err
		}
		diagnostics = measure.WithoutTruth(public, diagnostics)
	}
	version := scoring.Version(measure.Kind(current.Evaluator.Kind))
	if measure.HasErrors(diagnostics) {
		_, err = w.writer().Fail(ctx, h, run, current, diagnostics, version)
		return err
	}
	result.Warnings = diagnostics
	result.RunTag = evaluation.RunTag(current.RunFormat, bytes.NewReader(start()))
	_, err = w.writer().Complete(ctx, h, run, current, result, version)
	return err
}

// withoutTruth postpones the run of a dataset whose ground truth may still be uploaded, for a day at most. Otherwise it fails the run.
func (w *Worker) withoutTruth(ctx context.Context, run *record.RunItem, h queue.LeaseRef) error {
	d, err := records.Get[record.DatasetItem](ctx, w.Store, store.Strong, record.DatasetKey(run.DatasetID))
	if err != nil {
		return err
	}
	if until := run.QueuedAt.Add(record.UploadTime); d != nil && d.AwaitsTruth() && w.Now().Before(until) {
		_, err := w.queue().AwaitTruth(ctx, h, until)
		return err
	}
	return w.fail(ctx, h, nil, "The dataset has no truth, or was deleted, so nothing can be evaluated. Once the organizers have stored a "+
		"truth, the run is evaluated automatically.")
}

func (w *Worker) fail(ctx context.Context, h queue.LeaseRef, current *record.TruthVersion, why string) error {
	_, err := w.queue().FailAgainst(ctx, h, current, []measure.Diagnostic{{Severity: measure.Error, Message: why, SafeWhileBlinded: true}})
	return err
}

// keepFirstBytes wraps the first file so that reading it also records its first bytes, which the returned function returns. Opening the
// file again for the run tag would cost a request.
func keepFirstBytes(files []scoring.File) func() []byte {
	var start []byte
	if len(files) > 0 {
		open := files[0].Open
		files[0].Open = func() (io.ReadCloser, error) {
			f, err := open()
			if err != nil {
				return nil, err
			}
			if start, err = io.ReadAll(io.LimitReader(f, evaluation.RunTagBytes)); err != nil {
				return nil, errors.Join(err, f.Close())
			}
			return struct {
				io.Reader
				io.Closer
			}{io.MultiReader(bytes.NewReader(start), f), f}, nil
		}
	}
	return func() []byte { return start }
}

// open returns the files in the form that evaluators read.
func (w *Worker) open(ctx context.Context, holder record.Holder, id string, files []record.File) []scoring.File {
	return lists.Map(files, func(f record.File) scoring.File {
		return scoring.File{Name: f.Name, Open: func() (io.ReadCloser, error) {
			return w.Files.Open(ctx, record.ObjectKey(holder, id, f.SHA256))
		}}
	})
}

// readTruth reads a ground truth for the evaluators, and returns its size in memory. It returns nil if the ground truth has errors, which
// the organizers saw when they stored it.
func (w *Worker) readTruth(ctx context.Context, inUse *record.TruthVersion) (*scoring.Evaluator, int64, error) {
	settings := truth.Settings(inUse.RunFormat, inUse.Evaluator)
	if len(scoring.Check(settings)) > 0 {
		return nil, 0, nil
	}
	read, diagnostics, err := scoring.ReadTruth(ctx, settings, w.open(ctx, record.HolderTruths, inUse.ID, inUse.Files))
	if err == nil && read == nil {
		w.Log.ErrorContext(ctx, "a truth cannot be used", "dataset", inUse.ID, "truthVersion", inUse.Number, "diagnostics", diagnostics)
	}
	if err != nil || read == nil {
		return nil, 0, err
	}
	size := read.Bytes()
	return read, size, nil
}

// known returns the ids that participants know of the run's dataset: the public part of the ground truth and, for a blinded run, the
// inputs. For other runs of spans it returns the texts of the inputs.
func (w *Worker) known(ctx context.Context, l lane, run *record.RunItem, current *record.TruthVersion,
	against *scoring.Evaluator) ([]*scoring.KnownIDs, error) {
	d, err := records.Get[record.DatasetItem](ctx, w.Store, store.Strong, record.DatasetKey(run.DatasetID))
	if err != nil || d == nil {
		return nil, err
	}
	var list []*scoring.KnownIDs
	if evaluation.Digest(d.Truths) == evaluation.Digest(current.Files) {
		list = append(list, against.Known(d.IDsPublic || d.TruthsPublic, d.LabelsPublic || d.TruthsPublic))
	}
	kind := measure.Kind(current.Evaluator.Kind)
	files := d.ComparedInputs(kind)
	if len(files) == 0 || !run.Access.Conceals() && kind != measure.Spans {
		return list, nil
	}
	settings := truth.Settings(current.RunFormat, current.Evaluator)
	format := settings.Format
	key := evaluation.Digest(files) + current.Evaluator.Kind + format.Kind + format.IDField + format.ValueField
	inputs, err := w.inputs.get(ctx, l, d.ID, key,
		func(ctx context.Context) (*scoring.KnownIDs, int64, error) {
			k, err := scoring.ReadInputs(ctx, settings, w.open(ctx, record.HolderInputs, d.ID, files))
			size := k.Bytes()
			return k, size, err
		})
	if !run.Access.Conceals() {
		inputs = inputs.OnlyTexts()
	}
	return append(list, inputs), err
}
