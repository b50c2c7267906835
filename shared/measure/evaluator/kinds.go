package evaluator

import (
	"context"
	"slices"

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
