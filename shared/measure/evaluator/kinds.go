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

// kind has the functions and formats of one kind of evaluator. Formats are those of its runs.
type kind struct {
	version     string
	formats     []string
	readTruth   func(context.Context, Format, []measure.Measure, []measure.File) (*Truth, []measure.Diagnostic, error)
	validateRun func(context.Context, Format, []measure.File) ([]measure.Diagnostic, error)
	readInputs  func(context.Context, Format, []File) (*Known, error)
}

var evaluators = map[measure.Kind]kind{
	measure.Retrieval: {
		version:   retrieval.Version,
		formats:   []string{measure.TRECRun},
		readTruth: readQrels,
		validateRun: func(ctx context.Context, _ Format, files []measure.File) ([]measure.Diagnostic, error) {
			_, diagnostics, err := retrieval.ReadRankings(ctx, files...)
			return diagnostics, err
		},
		readInputs: readTopics,
	},
	measure.Classification: ofPredictions(classification.Version, predictions.Labels,
		func(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run) measure.Result {
			return classification.Evaluate(asked, run.Labels(), truth.Codes(), run.Codes())
		}),
	measure.Regression: ofPredictions(regression.Version, predictions.Numbers,
		func(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run) measure.Result {
			return regression.Evaluate(asked, truth.Numbers(), run.Numbers())
		}),
}

// Known has the ids and labels of a dataset that participants know. Its diagnostics of a run depend on no other part of the truth.
type Known struct {
	compare     func(context.Context, ...measure.File) ([]measure.Diagnostic, error)
	compareKept func(*retrieval.Evaluation) []measure.Diagnostic // of retrieval
	bytes       int64
}

// Bytes is about how much memory it takes in addition to the truth; 0 of nil.
func (k *Known) Bytes() int64 {
	if k == nil {
		return 0
	}
	return k.bytes
}

// Compare reports ids and labels of a run that are unknown, and ids that it lacks. The error is as that of ReadTruth.
func (k *Known) Compare(ctx context.Context, files []File) ([]measure.Diagnostic, error) {
	contents, done := Contents(files)
	defer done()
	return k.compare(ctx, contents...)
}

// Known returns the ids of the truth, of topics or of items, and the set of its labels, as far as they are asked for and there;
// nil when there is nothing.
func (t *Truth) Known(ids, labels bool) *Known { return t.known(ids, labels) }

// ReadInputs returns the ids that the inputs of a dataset have; nil when there are none, or when not all are known. The error is
// as that of ReadTruth.
func ReadInputs(ctx context.Context, of measure.Kind, format Format, files []File) (*Known, error) {
	return evaluators[of].readInputs(ctx, format, files)
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
		return knownTopics(qrels.Known(), 0)
	}
	return &Truth{bytes: qrels.Bytes(), topics: qrels.Topics(), known: known,
		evaluate: func(ctx context.Context, files []measure.File) (*Evaluation, error) {
			e, err := qrels.Read(ctx, measures, files...)
			if err != nil {
				return nil, err
			}
			return &Evaluation{e.Result, e.Diagnostics, e}, nil
		}}, diagnostics, nil
}

func readTopics(ctx context.Context, _ Format, files []File) (*Known, error) {
	ids, err := corpus.ReadIDs(ctx, files...)
	if err != nil || ids.Queries == nil && ids.Documents() == nil {
		return nil, err
	}
	return knownTopics(retrieval.KnownOf(ids.Queries, ids.Documents()), ids.Bytes()), nil
}

func knownTopics(known *retrieval.Known, bytes int64) *Known {
	return &Known{bytes: bytes, compare: known.Compare, compareKept: known.CompareRead}
}

var predictionFormats = []string{predictions.JSONL, predictions.CSV}

// ofPredictions is a kind whose truth and runs are predictions, which evaluate compares.
func ofPredictions(version string, values predictions.Values,
	evaluate func([]measure.Measure, *predictions.Truth, *predictions.Run) measure.Result) kind {
	return kind{
		version: version,
		formats: predictionFormats,
		readTruth: func(ctx context.Context, format Format, asked []measure.Measure, files []measure.File) (*Truth, []measure.Diagnostic, error) {
			var report measure.Report
			truth, err := predictions.ReadTruth(ctx, format, values, files, &report)
			if err != nil || report.Failed() {
				return nil, report.Diagnostics(), err
			}
			for _, m := range asked {
				if positive := m.Param("positive"); positive != "" && !slices.Contains(truth.Labels(), positive) {
					report.Warnf("", 0, "%s has no value for any run, since no example of the truth has the label %q; check how the label is written",
						m, positive)
				}
			}
			return newPredictionsTruth(asked, truth, evaluate), report.Diagnostics(), nil
		},
		validateRun: func(ctx context.Context, format Format, files []measure.File) ([]measure.Diagnostic, error) {
			var report measure.Report
			_, err := predictions.ReadTruth(ctx, format, values, files, &report) // a truth asks of its files what a run does
			return report.Diagnostics(), err
		},
		readInputs: func(ctx context.Context, format Format, files []File) (*Known, error) {
			return readItems(ctx, predictions.NewInputs(format, values), files)
		},
	}
}

// newPredictionsTruth is a Truth whose runs are predictions.
func newPredictionsTruth(asked []measure.Measure, truth *predictions.Truth,
	evaluate func([]measure.Measure, *predictions.Truth, *predictions.Run) measure.Result) *Truth {
	known := func(ids, labels bool) *Known {
		if labels = labels && len(truth.Labels()) > 0; !ids && !labels {
			return nil
		}
		return knownPredictions(truth.Known(ids, labels), 0)
	}
	return &Truth{bytes: truth.Bytes(), known: known,
		evaluate: func(ctx context.Context, files []measure.File) (*Evaluation, error) {
			var report measure.Report
			run, err := truth.ReadRun(ctx, files, &report)
			if err != nil {
				return nil, err
			}
			e := &Evaluation{Diagnostics: report.Diagnostics()}
			if !report.Failed() {
				e.Result = evaluate(asked, truth, run)
				e.Result.Warnings = e.Diagnostics
			}
			return e, nil
		}}
}

func readItems(ctx context.Context, known *predictions.Truth, files []File) (*Known, error) {
	for _, f := range files {
		for _, format := range predictionFormats {
			contents, done := Contents([]File{f})
			n, ok, err := known.AddInput(ctx, format, contents[0])
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
	return &Known{bytes: bytes, compare: func(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
		var report measure.Report
		_, err := known.ReadRun(ctx, files, &report)
		return report.Diagnostics(), err
	}}
}
