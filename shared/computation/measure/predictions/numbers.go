package predictions

import (
	"errors"
	"fmt"
	"strconv"

	"assay/shared/computation/measure/fields"
)

// number reads a number, and reports a text that is not a number. class names the column of the number, and is nil for the field of the
// value.
func (f *file) number(line int, class, text []byte) (x float64, ok bool) {
	if x, ok = fields.ParseScore(text); ok {
		return x, true
	}
	what := fmt.Sprintf("%q is %s", f.format.ValueField, fields.Quote(text))
	if class != nil {
		what = fmt.Sprintf("the column %s has %s", fields.Quote(class), fields.Quote(text))
	}
	if _, err := strconv.ParseFloat(string(text), 64); errors.Is(err, strconv.ErrRange) {
		f.errorf(line, "%s, which is too large for a double-precision number; expected at most 1.7e308", what)
		return 0, false
	}
	f.errorf(line, "%s; expected %s", what, f.expectedNumber(class, text))
	return 0, false
}

// expectedNumber says what is expected in the place of a text that is not a number, and how to heal it.
func (f *file) expectedNumber(class, text []byte) string {
	const score = "a finite decimal number such as 0.75"
	hint := fields.NumberHint(text)
	_, err := strconv.ParseFloat(string(text), 64)
	isMissing := err == nil || len(text) == 0 // NaN, as pandas writes a missing number
	switch isScore := f.values == Scores || f.values == Probabilities; {
	case isScore && (hint != "" || isMissing):
		return score + hint
	case class != nil:
		return fmt.Sprintf("a score, which is %s; if %s is no label, leave its column out", score, fields.Quote(class))
	case isScore:
		return "a score and not a label: " + score
	case fields.IsPercentage(text):
		hint += ", unless all files have percentages"
	}
	return "a finite decimal number such as -1.5 or 2e-3" + hint
}
