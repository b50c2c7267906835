package inputs

import (
	"cmp"
	"context"
	"strings"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/problem"
	"assay/shared/record"
)

// assumed says what to give when files are not of the kind that they are taken for.
const assumed = "; files are taken for those of retrieval, unless kind in truth says classification or regression"

// Settings says how files that come along are read, without measures. Kind and format stand in the input under the pointer;
// unless they are given, files are of retrieval.
func Settings(pointer, kind string, format *record.RunFormat) (evaluator.Settings, error) {
	s := evaluator.Settings{Kind: measure.Kind(cmp.Or(kind, string(measure.Retrieval))), Format: evaluator.Format{Kind: measure.TRECRun}}
	if format != nil {
		s.Format = evaluator.Format(*format)
	}
	fields := evaluator.CheckFormat(s.Kind, s.Format)
	for i, f := range fields {
		if kind == "" {
			fields[i].Detail += assumed
		}
		if member, ok := strings.CutPrefix(f.Pointer, "/runFormat"); ok {
			fields[i].Pointer = pointer + "/format" + member
		} else {
			fields[i].Pointer = pointer + "/kind"
		}
	}
	return s, problem.Check(fields)
}

// SettingsOf says how the files of runs on a dataset are read, without measures, and returns those of its inputs whose ids runs are
// compared with. Its id stands in the input under the pointer.
func (resolver *Resolver) SettingsOf(ctx context.Context, pointer,
	datasetID string) (s evaluator.Settings, inputs []evaluator.File, err error) {
	item, truth, _, err := resolver.dataset(ctx, pointer, datasetID)
	if err != nil {
		return s, nil, err
	}
	if s, err = settingsOf(pointer+"/datasetId", item, truth); err != nil {
		return s, nil, err
	}
	compared := item.ComparedInputs(s.Kind)
	if resolver.storedBytes+record.SizeOf(compared) > MaxStoredBytes {
		return s, nil, nil // the run can be checked without
	}
	inputs, err = resolver.storedFiles(ctx, record.HolderInputs, item.ID, compared)
	return s, inputs, err
}

// SettingsOfRun is SettingsOf the dataset of a run that the platform holds.
func (resolver *Resolver) SettingsOfRun(ctx context.Context, r *Run) (evaluator.Settings, error) {
	item, truth, _, err := resolver.dataset(ctx, r.pointer, r.item.DatasetID)
	if problem.NotFound.Is(err) {
		return evaluator.Settings{},
			notFound(problem.Field{Pointer: r.pointer + "/runId", Detail: "is a run on a dataset that does not exist any more, or that you may " +
				"not see"})
	}
	if err != nil {
		return evaluator.Settings{}, err
	}
	return settingsOf(r.pointer+"/runId", item, truth)
}

// settingsOf has the truth in use decide, as it does when a run is evaluated; the dataset alone as long as there is none.
func settingsOf(pointer string, item *record.DatasetItem, truth *record.Truth) (evaluator.Settings, error) {
	kind, format := item.Evaluator.Kind, item.RunFormat
	if truth != nil {
		kind, format = truth.Evaluator.Kind, truth.RunFormat
	}
	if kind == record.EvaluatorWorker {
		return evaluator.Settings{},
			problem.InvalidMember(pointer,
				"the dataset is evaluated by an image of its organizers, which alone can read its runs; submit the run to have it checked")
	}
	return evaluator.Settings{Kind: measure.Kind(kind), Format: evaluator.Format(format)}, nil
}
