package detection

import (
	"context"
	"io"

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
)

// Ranking returns the kind and the format of a ranking or of relevance judgments to convert. kind is nil if it is not known. For files that
// are in no recognized format it returns a format of TREC.
func Ranking(kind *conversion.Kind, file scoring.File) (*conversion.Kind, conversion.Format, error) {
	head, err := Head(file)
	if err != nil {
		return nil, "", err
	}
	if found, from, ok := conversion.Recognize(kind, head); ok {
		return found, from, nil
	}
	if kind == nil {
		kind = conversion.Runs
		if conversion.AreQrels(head) {
			kind = conversion.Qrels
		}
	}
	if from, ok := conversion.FormOfJSON(head); ok {
		return kind, from, nil
	}
	return kind, kind.Formats[0], nil
}

// ForeignRanking recognizes a ranking or relevance judgments of another program. kind is nil if it is not known. ok is false for files in a
// format of TREC, and for other files.
func ForeignRanking(kind *conversion.Kind, file scoring.File) (found *conversion.Kind, from conversion.Format, ok bool, err error) {
	head, err := Head(file)
	if err != nil {
		return nil, "", false, err
	}
	found, from, ok = conversion.Recognize(kind, head)
	return found, from, ok, nil
}

// ForeignValues returns the conversion of a file of values, such as labels, into the format. It is nil for files that have the format, and
// for files that cannot be converted. If anyNames, the file may have other names of fields. The diagnostics come from trying the
// conversion.
func ForeignValues(
	ctx context.Context, kind measure.Kind, format measure.Format, anyNames bool, file scoring.File,
) (*conversion.Values, []measure.Diagnostic, error) {
	v, ok, err := ValuesOf(kind, file)
	if err != nil || !ok || !measure.HasFields(format.Kind) || kind == measure.Spans {
		return nil, nil, err
	}
	switch {
	case !v.IsWhole(kind), v.Format.Kind == format.Kind && (anyNames || v.Has(kind, format)):
		return nil, nil, nil
	case !anyNames && !v.Has(kind, format) && !v.AreLike(format): // Other fields may mean something else.
		return nil, nil, nil
	case anyNames:
		format.IDField, format.ValueField = v.Format.IDField, v.Format.ValueField
	}
	contents, done := scoring.Contents([]scoring.File{file})
	defer done()
	converter := &conversion.Values{Kind: kind, From: v.Format, To: format}
	found, err := converter.Convert(ctx, io.Discard, contents...)
	return converter, found, err
}
