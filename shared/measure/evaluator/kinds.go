package evaluator

import (
	"context"
	"slices"

	"assay/shared/corpus"
	"assay/shared/measure"
	"assay/shared/measure/classification"
	"assay/shared/measure/predictions"
	"assay/shared/measure/regression"
	"assay/shared/measure/retrieval"
)

// evaluators has what each kind can do. Formats are those of its runs.
var evaluators = map[measure.Kind]struct {
	version     string
	formats     []string
	readTruth   func(context.Context, Format, []measure.Measure, []measure.File) (*Truth, []measure.Diagnostic, error)
	validateRun func(context.Context, Format, []measure.File) ([]measure.Diagnostic, error)
}{
	measure.Retrieval: {
		version:   retrieval.Version,
		formats:   []string{measure.TRECRun},
		readTruth: readQrels,
		validateRun: func(ctx context.Context, _ Format, files []measure.File) ([]measure.Diagnostic, error) {
			return retrieval.ValidateRun(ctx, files...)
		},
	},
	measure.Classification: {
		version:     classification.Version,
		formats:     []string{predictions.JSONL, predictions.CSV},
		readTruth:   readLabels,
		validateRun: validate(predictions.Labels),
	},
	measure.Regression: {
		version:     regression.Version,
		formats:     []string{predictions.JSONL, predictions.CSV},
		readTruth:   readNumbers,
		validateRun: validate(predictions.Numbers),
	},
}

func readQrels(ctx context.Context, _ Format, measures []measure.Measure, files []measure.File) (*Truth, []measure.Diagnostic, error) {
	qrels, diagnostics, err := retrieval.ReadQrels(ctx, files...)
	if err != nil || qrels == nil {
		return nil, diagnostics, err
	}
	known := func(ids, _ bool) *Known {
		if !ids {
			return nil
		}
		return &Known{compare: func(ctx context.Context, files []measure.File) ([]measure.Diagnostic, error) {
			return qrels.Known().Compare(ctx, files...)
		}}
	}
	return &Truth{bytes: qrels.Bytes(), topics: qrels.Topics(), known: known,
		evaluate: func(ctx context.Context, files []measure.File) (measure.Result, []measure.Diagnostic, error) {
			return qrels.Evaluate(ctx, measures, files...)
		}}, diagnostics, nil
}

func readLabels(ctx context.Context, format Format, measures []measure.Measure,
	files []measure.File) (*Truth, []measure.Diagnostic, error) {
	var report measure.Report
	truth, err := predictions.ReadTruth(ctx, predictions.Format(format), predictions.Labels, files, &report)
	if err != nil || report.Failed() {
		return nil, report.Diagnostics(), err
	}
	for _, m := range measures {
		if positive := m.Param("positive"); positive != "" && !slices.Contains(truth.Labels(), positive) {
			report.Warnf("", 0, "%s has no value for any run, since no example of the truth has the label %q; check how the label is written",
				m, positive)
		}
	}
	return newPredictionsTruth(truth, func(run *predictions.Run) measure.Result {
		return classification.Evaluate(measures, run.Labels(), truth.Codes(), run.Codes())
	}), report.Diagnostics(), nil
}

func readNumbers(ctx context.Context, format Format, measures []measure.Measure,
	files []measure.File) (*Truth, []measure.Diagnostic, error) {
	var report measure.Report
	truth, err := predictions.ReadTruth(ctx, predictions.Format(format), predictions.Numbers, files, &report)
	if err != nil || report.Failed() {
		return nil, report.Diagnostics(), err
	}
	return newPredictionsTruth(truth, func(run *predictions.Run) measure.Result {
		return regression.Evaluate(measures, truth.Numbers(), run.Numbers())
	}), report.Diagnostics(), nil
}

// newPredictionsTruth is a Truth whose runs are predictions.
func newPredictionsTruth(truth *predictions.Truth, evaluate func(*predictions.Run) measure.Result) *Truth {
	known := func(ids, labels bool) *Known {
		if labels = labels && len(truth.Labels()) > 0; !ids && !labels {
			return nil
		}
		return knownPredictions(truth.Known(ids, labels), 0)
	}
	return &Truth{bytes: truth.Bytes(), known: known,
		evaluate: func(ctx context.Context, files []measure.File) (measure.Result, []measure.Diagnostic, error) {
			var report measure.Report
			run, err := truth.ReadRun(ctx, files, &report)
			if err != nil || report.Failed() {
				return measure.Result{}, report.Diagnostics(), err
			}
			result := evaluate(run)
			result.Warnings = report.Diagnostics()
			return result, report.Diagnostics(), nil
		}}
}

func validate(values predictions.Values) func(context.Context, Format, []measure.File) ([]measure.Diagnostic, error) {
	return func(ctx context.Context, format Format, files []measure.File) ([]measure.Diagnostic, error) {
		var report measure.Report
		err := predictions.ValidateRun(ctx, predictions.Format(format), values, files, &report)
		return report.Diagnostics(), err
	}
}

// Known is what participants know of the ids and labels of a dataset. What it reports of a run depends on nothing else of the truth.
type Known struct {
	compare func(context.Context, []measure.File) ([]measure.Diagnostic, error)
	bytes   int64
}

// Bytes is about how much memory it takes in addition to the truth; 0 of nil.
func (k *Known) Bytes() int64 {
	if k == nil {
		return 0
	}
	return k.bytes
}

// Compare says what of a run is not known, and what it lacks. The error is as that of ReadTruth.
func (k *Known) Compare(ctx context.Context, files []File) ([]measure.Diagnostic, error) {
	contents, done := Contents(files)
	defer done()
	return k.compare(ctx, contents)
}

// Known returns the ids of the truth, of topics or of items, and the set of its labels, as far as they are asked for and there;
// nil when there is nothing.
func (t *Truth) Known(ids, labels bool) *Known { return t.known(ids, labels) }

// ReadInputs returns the ids that the inputs of a dataset have; nil when there are none, or when not all are known. The error is
// as that of ReadTruth.
func ReadInputs(ctx context.Context, kind measure.Kind, format Format, files []File) (*Known, error) {
	switch kind {
	case measure.Retrieval:
		return readTopics(ctx, files)
	case measure.Classification:
		return readItems(ctx, format, predictions.Labels, files)
	default:
		return readItems(ctx, format, predictions.Numbers, files)
	}
}

func readTopics(ctx context.Context, files []File) (*Known, error) {
	ids, err := corpus.ReadIDs(ctx, files...)
	if err != nil || ids.Queries == nil && ids.Documents() == nil {
		return nil, err
	}
	known := retrieval.KnownOf(ids.Queries, ids.Documents())
	return &Known{bytes: ids.Bytes(), compare: func(ctx context.Context, files []measure.File) ([]measure.Diagnostic, error) {
		return known.Compare(ctx, files...)
	}}, nil
}

func readItems(ctx context.Context, format Format, values predictions.Values, files []File) (*Known, error) {
	known := predictions.NewInputs(predictions.Format(format), values)
	for _, f := range files {
		for _, kind := range evaluators[measure.Classification].formats {
			contents, done := Contents([]File{f})
			n, ok, err := known.AddInput(ctx, kind, contents[0])
			if done(); !ok || err != nil {
				return nil, err
			}
			if n > 0 {
				break
			}
		}
	}
	if known.Len() == 0 {
		return nil, nil
	}
	return knownPredictions(known, known.Bytes()), nil
}

func knownPredictions(known *predictions.Truth, bytes int64) *Known {
	return &Known{bytes: bytes, compare: func(ctx context.Context, files []measure.File) ([]measure.Diagnostic, error) {
		var report measure.Report
		_, err := known.ReadRun(ctx, files, &report)
		return report.Diagnostics(), err
	}}
}
