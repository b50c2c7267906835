package evaluator

import (
	"context"

	"assay/shared/evaluation"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// known returns what participants know of a run's dataset: what its organizers declare public of the truth and, for a blinded run,
// its inputs.
func (w *Worker) known(ctx context.Context, run *record.RunItem, truth *record.Truth,
	against *evaluator.Truth) ([]*evaluator.Known, error) {
	d, err := records.Get[record.DatasetItem](ctx, w.Store, store.Strong, record.DatasetKey(run.DatasetID))
	if err != nil || d == nil {
		return nil, err
	}
	var list []*evaluator.Known
	if evaluation.Digest(d.Truths) == evaluation.Digest(truth.Files) {
		list = append(list, against.Known(d.IDsPublic || d.TruthsPublic, d.LabelsPublic || d.TruthsPublic))
	}
	kind := measure.Kind(truth.Evaluator.Kind)
	files := d.ComparedInputs(kind)
	if !run.Access.Blinded || len(files) == 0 {
		return list, nil
	}
	inputs, err := w.inputs.get(ctx, d.ID, evaluation.Digest(files)+truth.RunFormat.IDField,
		func(ctx context.Context) (*evaluator.Known, int64, error) {
			k, err := evaluator.ReadInputs(ctx, kind, evaluator.Format(truth.RunFormat), w.open(ctx, record.HolderInputs, d.ID, files))
			size := k.Bytes()
			return k, size, err
		})
	return append(list, inputs), err
}
