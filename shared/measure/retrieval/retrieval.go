// Package retrieval evaluates rankings of documents: it reads runs and relevance judgments in the formats of TREC and
// computes the measures of ir-measures with the meaning of trec_eval 10.0 -c, so that its numbers compare with
// published ones.
//
// One ranking holds for every measure of a run: by score, and documents of equal score by their id, descending, its
// bytes compared as unsigned numbers. The rank field of a run is ignored, as in trec_eval; tools that break ties the
// other way round (RR@k and Judged@k in ir-measures) can differ on runs with tied scores. Every topic of the truth
// counts: one that the run leaves out has nothing retrieved, and so has 0 in nearly every measure.
//
// Lines that begin with # are comments in runs and qrels, also after blanks, as trec_eval 10 has it in runs. The id of a topic
// can therefore not begin with #; a comment that has all fields of a line is a warning. Whole grades may be decimals, as 1.0.
//
// Where trec_eval is lenient with bad input (text as a score, NaN, fractional grades, empty files), files are refused
// with the line, because a silent 0 is a wrong result.
//
// Memory grows with the run, about 16 bytes a line and the document ids; a file is read once, and parsed and evaluated
// on all cores.
package retrieval

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/measure"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "retrieval/1"

// Evaluate reads a run, which may come in several files, and computes the measures, all of which must be of kind
// Retrieval. The diagnostics are the errors and warnings in the order of files and lines, at most
// measure.MaxDiagnostics; if one is an error, the result is empty. The error is one of the files' readers or of the
// context, or a measure that is not one of retrieval.
func (q *Qrels) Evaluate(ctx context.Context, measures []measure.Measure,
	files ...measure.File) (measure.Result, []measure.Diagnostic, error) {
	plan, err := q.plan(measures)
	if err != nil {
		return measure.Result{}, nil, err
	}
	run, report, err := readRun(ctx, q, standardLimits, files)
	if err != nil {
		return measure.Result{}, nil, err
	}
	q.compareTopics(run, measure.OfTruth, report)
	scores, err := run.rank(ctx, q, plan, report)
	if err != nil {
		return measure.Result{}, nil, err
	}
	diagnostics := inOrder(report, files)
	if report.Failed() {
		return measure.Result{}, diagnostics, nil
	}
	result := plan.result(q, scores)
	result.Warnings = diagnostics
	return result, diagnostics, nil
}

// ValidateRun says what is wrong with a run as far as that is known without the truth.
func ValidateRun(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
	_, diagnostics, err := ReadRankings(ctx, files...)
	return diagnostics, err
}

// inOrder returns what was reported in the order of files and lines, what is about a whole file before its lines.
func inOrder(report *measure.Report, files []measure.File) []measure.Diagnostic {
	position := func(d measure.Diagnostic) int {
		return slices.IndexFunc(files, func(f measure.File) bool { return f.Name == d.File })
	}
	list := report.Diagnostics()
	slices.SortStableFunc(list, func(a, b measure.Diagnostic) int {
		return cmp.Or(cmp.Compare(position(a), position(b)), cmp.Compare(a.Line, b.Line))
	})
	return list
}
