package evaluation

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"assay/shared/blob"
	"assay/shared/measure"
	"assay/shared/measure/lines"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Writer writes the results of evaluators and ends the runs that they evaluated.
type Writer struct {
	Queue queue.Queue
	Files blob.Store
	Log   *slog.Logger
}

// Complete writes the result that an evaluator of the version has computed for a leased run, and returns the run; the errors
// are those of queue.Queue.CompleteEvaluation.
func (w *Writer) Complete(ctx context.Context, lease queue.LeaseRef, run *record.RunItem, truth *record.Truth, result measure.Result,
	version string) (*record.RunItem, error) {
	outcome, err := w.outcome(ctx, run, truth, result, version)
	if err != nil {
		return nil, err
	}
	done, err := w.Queue.CompleteEvaluation(ctx, lease, outcome)
	if void := errors.Is(err, queue.ErrTruthChanged) || errors.Is(err, queue.ErrStaleLease); void && outcome.Topics != nil &&
		outcome.Topics.ObjectKey != "" {
		if err := w.Files.Delete(context.WithoutCancel(ctx), outcome.Topics.ObjectKey); err != nil {
			w.Log.WarnContext(ctx, "unused values per topic are kept until the next cleaning", "key", outcome.Topics.ObjectKey, "error", err)
		}
	}
	return done, err
}

// Fail fails a leased run that was compared with the ground truth, for the reasons. Once a user has had as many such failures
// as queue.ErrTruthFailures allows, the run completes without values instead, and only the organizers read the reasons: until
// it is unblinded, its owner cannot tell it from a run that was evaluated.
func (w *Writer) Fail(ctx context.Context, lease queue.LeaseRef, run *record.RunItem, truth *record.Truth, reasons []measure.Diagnostic,
	version string) (*record.RunItem, error) {
	failed, err := w.Queue.FailAgainst(ctx, lease, truth, reasons)
	if !errors.Is(err, queue.ErrTruthFailures) {
		return failed, err
	}
	result := measure.Result{Reasons: map[string]string{}, Warnings: reasons}
	for _, name := range truth.Evaluator.Measures {
		result.Reasons[name] = "the run could not be evaluated: its diagnostics say why"
	}
	return w.Complete(ctx, lease, run, truth, result, version)
}

// outcome makes the records of a result. The measures of a truth have the names that results use.
func (w *Writer) outcome(ctx context.Context, run *record.RunItem, truth *record.Truth, result measure.Result,
	version string) (queue.Outcome, error) {
	e := &record.EvaluationItem{Columns: truth.Evaluator.Measures}
	e.Meta = record.NewMeta(w.Queue.Now())
	e.PrimaryMeasure, e.RunTag = truth.Evaluator.PrimaryMeasure, result.RunTag
	if e.RunTag == "" {
		e.RunTag = readRunTag(ctx, w.Files, run, truth.RunFormat)
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
	secret, err := records.Get[record.TruthSecret](ctx, w.Queue.Store, store.Strong, record.TruthSecretKey(truth.ID))
	if err != nil {
		return queue.Outcome{}, err
	}
	if secret == nil { // it was deleted together with the dataset
		return queue.Outcome{}, queue.ErrTruthChanged
	}
	plain := Digest(truth.Files)
	e.Digests = record.Digests{Run: Digest(run.Files), Truth: secret.Digest(plain), PlainTruth: plain}
	topics, err := newTopics(ctx, w.Files, e, result.PerTopic)
	return queue.Outcome{Evaluation: e, Topics: topics, Truth: truth, Warnings: result.Warnings}, err
}

// Digest identifies a list of files: it is the SHA-256, in hexadecimal, of their SHA-256 digests, one a line in the list's order.
func Digest(files []record.File) string {
	h := sha256.New()
	for _, f := range files {
		_, _ = io.WriteString(h, f.SHA256+"\n") // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newTopics returns the record of the values per topic of e, or nil when there are none. Values that are too large for a
// record it writes to the object store.
func newTopics(ctx context.Context, files blob.Store, e *record.EvaluationItem,
	values map[string]map[string]float64) (*record.Topics, error) {
	if len(values) == 0 {
		return nil, nil
	}
	t := &record.Topics{Meta: e.Meta, PerTopic: values}
	b, err := json.Marshal(values)
	if err != nil || len(b) <= record.MaxTopicBytes {
		return t, err
	}
	o := blob.Object{Size: int64(len(b)), SHA256: fmt.Sprintf("%x", sha256.Sum256(b)), MediaType: "application/json"}
	o.Key = record.ObjectKey(record.HolderEvaluations, e.ID, o.SHA256)
	t.PerTopic, t.ObjectKey = nil, o.Key
	return t, files.Put(ctx, o, bytes.NewReader(b))
}

// ReadTopics returns the values of a record that newTopics made; nil when t is nil.
func ReadTopics(ctx context.Context, files blob.Store, t *record.Topics) (values map[string]map[string]float64, err error) {
	if t == nil || t.ObjectKey == "" {
		if t != nil {
			values = t.PerTopic
		}
		return values, nil
	}
	f, err := files.Open(ctx, t.ObjectKey)
	if err != nil {
		return nil, problem.Unavailable.Wrap(err, "The values per topic cannot be read at the moment. Try again in a few seconds.")
	}
	defer func() { _ = f.Close() }() // decoding has read all of it
	err = json.NewDecoder(f).Decode(&values)
	return values, err
}

// RunTagBytes is how many bytes of a run RunTag reads at most.
const RunTagBytes = 64 << 10

const (
	tagColumn = 5   // of a line in TREC's format, counted from 0
	maxRunTag = 200 // characters
)

// RunTag returns the tag that the author of a run in TREC's format gave it, in the first line of its file. It is empty when
// there is no tag, or none that pages can show; faults of the file are left to the evaluation.
func RunTag(format record.RunFormat, file io.Reader) string {
	if format.Kind != measure.TRECRun {
		return ""
	}
	text, err := lines.Unpack(file, lines.StandardExpansion)
	if err != nil {
		return ""
	}
	for s := bufio.NewScanner(io.LimitReader(text, RunTagBytes)); s.Scan(); {
		columns := strings.Fields(s.Text())
		if len(columns) == 0 || strings.HasPrefix(columns[0], "#") {
			continue
		}
		if len(columns) <= tagColumn || len(columns[tagColumn]) > maxRunTag || record.CheckLine("", columns[tagColumn]) != nil {
			return ""
		}
		return columns[tagColumn]
	}
	return ""
}

// readRunTag reads the tag of a run whose evaluator did not report it.
func readRunTag(ctx context.Context, files blob.Store, run *record.RunItem, format record.RunFormat) string {
	if format.Kind != measure.TRECRun || len(run.Files) == 0 {
		return ""
	}
	f, err := files.Open(ctx, record.ObjectKey(record.HolderRuns, run.ID, run.Files[0].SHA256))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return RunTag(format, f)
}
