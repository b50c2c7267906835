package measure_test

import (
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
)

// TestLimits_AllowEachOther checks that a line can have what the other limits allow for an item, also if JSON writes its characters as
// escapes of three times their bytes.
func TestLimits_AllowEachOther(t *testing.T) {
	const escaped = 3
	const around = len(`"", 0.12345678901234567, `) // for a label or text, and a score
	stated := func(kind measure.Kind, of string) int64 {
		for _, l := range measure.EvaluatorOf(kind).Limits {
			if l.Of == of {
				return l.Most
			}
		}
		t.Errorf("%s does not state the %s", kind, of)
		return 0
	}
	for kind, text := range map[measure.Kind]int64{
		measure.Text: escaped*stated(measure.Text, "bytes of all references of an item") +
			int64(around)*stated(measure.Text, "references of an item"),
		measure.Multilabel: stated(measure.Multilabel, "labels of an item") *
			(escaped*stated(measure.Multilabel, "bytes of a label") + int64(around)),
		measure.Probabilities:  stated(measure.Probabilities, "labels with a score of an item") * (escaped*bounds.Name + int64(around)),
		measure.Classification: 2 * escaped * bounds.Name,
		measure.Clustering:     2 * escaped * bounds.Name,
	} {
		if line := stated(kind, "bytes of a line"); text+escaped*bounds.Name+1000 > line {
			t.Errorf("an item of %s can have %d bytes, and its line %d", kind, text, line)
		}
	}
	if longest := stated(measure.Text, "bytes of a text"); longest > stated(measure.Text, "bytes of all references of an item") {
		t.Error("the longest text is no reference")
	}
}
