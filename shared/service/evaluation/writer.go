package evaluation

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
	"assay/shared/domain/record"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Writer writes the results of evaluators and ends the runs that they evaluated.
type Writer struct {
	Queue queue.Queue
	Files blob.Store
	Log   *slog.Logger
}

// Complete writes the result of an evaluator for a leased run, and returns the run. version is the evaluator's. The errors are the same
// as for queue.Queue.CompleteEvaluation.
func (w *Writer) Complete(ctx context.Context, lease queue.LeaseRef, run *record.RunItem, truth *record.TruthVersion, result measure.Result,
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

// Fail fails a leased run that was compared with the ground truth (qrels, labels), for the reasons. If the queue returns
// queue.ErrTruthFailures, the run completes without values instead, and only organizers read the reasons. Until the run is unblinded,
// its owner cannot distinguish it from an evaluated run.
func (w *Writer) Fail(ctx context.Context, lease queue.LeaseRef, run *record.RunItem, truth *record.TruthVersion,
	reasons []measure.Diagnostic, version string) (*record.RunItem, error) {
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

// outcome builds the records for a result. The measures of the truth must have the names that results use.
func (w *Writer) outcome(ctx context.Context, run *record.RunItem, truth *record.TruthVersion, result measure.Result,
	version string) (queue.Outcome, error) {
	e := &record.EvaluationItem{Measured: truth.Evaluator.Measures}
	e.Meta = record.NewMeta(w.Queue.Now())
	e.RunTag = result.RunTag
	if e.RunTag == "" {
		e.RunTag = readRunTag(ctx, w.Files, run, truth.RunFormat)
	}
	e.Measures, e.Reasons = map[string]*float64{}, map[string]string{}
	for _, name := range truth.Evaluator.Measures {
		e.Measures[name] = result.Measures[name]
	}
	for name, reason := range result.Reasons {
		if _, ok := e.Measures[name]; ok || name == measure.PerTopicReason {
			e.Reasons[name] = reason
		}
	}
	e.Evaluator = record.EvaluatorUsed{Kind: truth.Evaluator.Kind, Version: version, Settings: truth.RunFormat,
		Signatures: result.Signatures}
	secret, err := records.Get[record.TruthSecret](ctx, w.Queue.Store, store.Strong, record.TruthSecretKey(truth.ID))
	if err != nil {
		return queue.Outcome{}, err
	}
	if secret == nil { // deleted together with the dataset
		return queue.Outcome{}, queue.ErrTruthChanged
	}
	plain := Digest(truth.Files)
	e.Digests = record.Digests{Run: Digest(run.Files), Truth: secret.Digest(plain), PlainTruth: plain}
	topics, err := newTopics(ctx, w.Files, e, result)
	return queue.Outcome{Evaluation: e, Topics: topics, Truth: truth, Warnings: result.Warnings}, err
}

// Digest identifies a list of files. It is the hexadecimal SHA-256 of their SHA-256 digests, one digest for each line, in the list's
// order.
func Digest(files []record.File) string {
	h := sha256.New()
	for _, f := range files {
		_, _ = io.WriteString(h, f.SHA256+"\n") // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// RunTagBytes is how many bytes of a run RunTag reads at most.
const RunTagBytes = 64 << 10

const (
	tagColumn = 5   // of a line in TREC's format, counted from 0
	maxRunTag = 200 // characters
)

// RunTag returns the tag in the first line of a run file in TREC's format. It returns "" if there is no tag, or if pages cannot show
// the tag. The evaluation reports errors of the file.
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
