package spans

import (
	"cmp"
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/predictions"
)

// Inputs holds the ids of the documents in the inputs of a dataset, and the sizes and words of their texts.
type Inputs struct {
	*predictions.Gold
	field string     // the field of a run with the spans
	sizes []textSize // by document
	words []words    // by document
}

// NewInputs returns Inputs without documents. The format is the format of runs.
func NewInputs(format measure.Format) *Inputs {
	in := &Inputs{field: format.ValueField}
	in.Gold = predictions.NewTextInputs(format, in.take)
	return in
}

// take keeps the size and the words of a text. It implements predictions.Take.
func (in *Inputs) take(_ string, _, index int, _, text []byte) (fault string) {
	for len(in.sizes) <= index {
		in.sizes = append(in.sizes, textSize{})
		in.words = append(in.words, nil)
	}
	if !in.sizes[index].known {
		in.words[index] = wordsOf(text)
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
	const perSize, perWords = 16, 24
	known.Bytes += int64(perSize*cap(in.sizes) + perWords*cap(in.words))
	for _, w := range in.words {
		known.Bytes += int64(8 * len(w))
	}
	known.Compare = func(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
		all, _, err := in.compare(ctx, files)
		return all, err
	}
	known.CompareTexts = func(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
		_, ofTexts, err := in.compare(ctx, files)
		return ofTexts, err
	}
	return known
}

// compare reports ids that only the run or only the inputs have, spans of the run that end after their texts, and that most of the spans
// begin or end within a word. A line that has a text of its own is compared with that text. ofTexts are the diagnostics that the texts of
// the inputs tell.
func (in *Inputs) compare(ctx context.Context, files []measure.File) (all, ofTexts []measure.Diagnostic, err error) {
	var report, texted measure.Report
	warn := func(file string, line int, warning string) {
		if warning != "" {
			report.Warnf(file, line, "%s", warning)
			texted.Warnf(file, line, "%s", warning)
		}
	}
	run := &texts{types: newTypes(ctx), report: &report, field: in.field}
	bounds := wordBounds{healed: map[offset]int{}}
	err = in.ReadRunArrays(ctx, func(file string, line, index int, array, text []byte) (fault string) {
		fault = run.take(file, line, index, array, text)
		if fault == "" && index < len(in.words) && run.types.counter.Add(len(offsetCauses)*len(run.at(index))) == nil {
			bounds.add(file, line, run.at(index), in.words[index])
		}
		if fault != "" || text != nil {
			return fault
		}
		warn(file, line, beyond(run.at(index), in.sizes[index], " in the inputs of the dataset"))
		return ""
	}, files, &report)
	warn(bounds.file, bounds.line, bounds.warning("in the inputs of the dataset"))
	return report.Diagnostics(), texted.Diagnostics(), cmp.Or(err, run.types.counter.Err())
}
