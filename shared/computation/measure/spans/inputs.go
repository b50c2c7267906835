package spans

import (
	"cmp"
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/predictions"
)

// Inputs holds the ids of the documents in the inputs of a dataset, and the sizes of their texts.
type Inputs struct {
	*predictions.Gold
	field string     // the field of a run with the spans
	sizes []textSize // by document
}

// NewInputs returns Inputs without documents. The format is the format of runs.
func NewInputs(format measure.Format) *Inputs {
	in := &Inputs{field: format.ValueField}
	in.Gold = predictions.NewTextInputs(format, in.take)
	return in
}

// take keeps the size of a text. It implements predictions.Take.
func (in *Inputs) take(_ string, _, index int, _, text []byte) (fault string) {
	for len(in.sizes) <= index {
		in.sizes = append(in.sizes, textSize{})
	}
	in.sizes[index] = cmp.Or(in.sizes[index], sizeOf(text))
	return ""
}

// Known returns the inputs in the form that evaluators share. It returns nil if there are no documents.
func (in *Inputs) Known() *measure.Known {
	known := predictions.KnownItems(in.Gold)
	if known == nil {
		return nil
	}
	const perSize = 16
	known.Bytes += int64(perSize * cap(in.sizes))
	known.Compare = in.compare
	return known
}

// compare reports ids that only the run or only the inputs have, and spans of the run that end after their texts. A line that has a text of
// its own is compared with that text.
func (in *Inputs) compare(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
	var report measure.Report
	run := &texts{types: newTypes(ctx), report: &report, field: in.field}
	err := in.ReadRunArrays(ctx, func(file string, line, index int, array, text []byte) (fault string) {
		fault = run.take(file, line, index, array, text)
		if fault != "" || text != nil {
			return fault
		}
		if warning := beyond(run.at(index), in.sizes[index], " in the inputs of the dataset"); warning != "" {
			report.Warnf(file, line, "%s", warning)
		}
		return ""
	}, files, &report)
	return report.Diagnostics(), cmp.Or(err, run.types.counter.Err())
}
