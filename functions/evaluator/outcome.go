package evaluator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"assay/shared/blob"
	"assay/shared/measure"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Complete writes the result of an evaluator of the version for a run under the hold, and returns the run; the errors are
// those of queue.Complete.
func (w *Worker) Complete(ctx context.Context, h queue.LeaseRef, run *record.RunItem, truth *record.Truth, result measure.Result, version string) (*record.RunItem, error) {
	outcome, err := w.outcome(ctx, run, truth, result, version)
	if err != nil {
		return nil, err
	}
	done, err := w.queue().CompleteEvaluation(ctx, h, outcome)
	if void := errors.Is(err, queue.ErrTruthChanged) || errors.Is(err, queue.ErrStaleLease); void && outcome.Topics != nil && outcome.Topics.ObjectKey != "" {
		if err := w.Files.Delete(context.WithoutCancel(ctx), outcome.Topics.ObjectKey); err != nil {
			w.Log.WarnContext(ctx, "values per topic that nothing names stay behind until the next cleaning", "key", outcome.Topics.ObjectKey, "error", err)
		}
	}
	return done, err
}

// Refuse fails a run that was compared with the truth, for the reasons given. When that would be one failure too many that only
// the truth can know, the run completes without values, and the organizers read the reasons: its owner sees no difference from
// a run that was evaluated until it is unblinded.
func (w *Worker) Refuse(ctx context.Context, h queue.LeaseRef, run *record.RunItem, truth *record.Truth, reasons []measure.Diagnostic, version string) (*record.RunItem, error) {
	failed, err := w.queue().FailAgainst(ctx, h, truth, reasons)
	if !errors.Is(err, queue.ErrTruthFailures) {
		return failed, err
	}
	result := measure.Result{Reasons: map[string]string{}, Warnings: reasons}
	for _, name := range truth.Evaluator.Measures {
		result.Reasons[name] = "the run could not be evaluated: its diagnostics say why"
	}
	return w.Complete(ctx, h, run, truth, result, version)
}

// outcome makes the records of a result. A dataset names its measures as results do.
func (w *Worker) outcome(ctx context.Context, run *record.RunItem, truth *record.Truth, result measure.Result, version string) (queue.Outcome, error) {
	e := &record.EvaluationItem{Columns: truth.Evaluator.Measures}
	e.Meta = record.NewMeta(w.Now())
	e.PrimaryMeasure, e.RunTag = truth.Evaluator.PrimaryMeasure, result.RunTag
	if e.RunTag == "" {
		e.RunTag = w.readTag(ctx, run, truth.RunFormat)
	}
	e.Measures, e.Reasons = map[string]*float64{}, map[string]string{}
	for _, name := range truth.Evaluator.Measures {
		e.Measures[name] = result.Measures[name]
		if reason, ok := result.Reasons[name]; ok {
			e.Reasons[name] = reason
		}
	}
	e.LowerIsBetter = truth.Evaluator.LessIsBetter(e.PrimaryMeasure)
	e.Evaluator = record.EvaluatorUsed{Kind: truth.Evaluator.Kind, Version: version, Settings: truth.RunFormat}
	secret, err := records.Get[record.TruthSecret](ctx, w.Store, store.Strong, record.TruthSecretKey(truth.ID))
	if err != nil {
		return queue.Outcome{}, err
	}
	if secret == nil { // the dataset was deleted with it
		return queue.Outcome{}, queue.ErrTruthChanged
	}
	plain := digest(truth.Files)
	e.Digests = record.Digests{Run: digest(run.Files), Truth: secret.Digest(plain), PlainTruth: plain}
	topics, err := w.topics(ctx, e, result.PerTopic)
	return queue.Outcome{Evaluation: e, Topics: topics, Truth: truth, Warnings: result.Warnings}, err
}

// topics makes the record of the values per topic; those that are too large for the table go to the object store first.
func (w *Worker) topics(ctx context.Context, e *record.EvaluationItem, perTopic map[string]map[string]float64) (*record.Topics, error) {
	if len(perTopic) == 0 {
		return nil, nil
	}
	t := &record.Topics{Meta: e.Meta, PerTopic: perTopic}
	b, err := json.Marshal(t.PerTopic)
	if err != nil || len(b) <= record.MaxTopicBytes {
		return t, err
	}
	sum := sha256.Sum256(b)
	o := blob.Object{Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:]), MediaType: "application/json"}
	o.Key = record.ObjectKey(record.HolderEvaluations, e.ID, o.SHA256)
	t.PerTopic, t.ObjectKey = nil, o.Key
	return t, w.Files.Put(ctx, o, bytes.NewReader(b))
}

// digest identifies a list of files: the SHA-256 over theirs in hexadecimal, each on a line, in the order of the list.
func digest(files []record.File) string {
	h := sha256.New()
	for _, f := range files {
		_, _ = io.WriteString(h, f.SHA256+"\n") // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}
