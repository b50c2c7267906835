package measure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/shared/computation/measure/bounds"
)

// MaxScale is the greatest number of labels of a scale.
const MaxScale = bounds.Scale

// parseScale reads a scale: its labels in order, separated by commas, or the first and the last of consecutive whole numbers, as in 1..5.
// ok is false for other text, for fewer than two labels, and if a label occurs twice.
func parseScale(text string) (labels []string, ok bool) {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		labels = strings.Split(text, ",")
		return labels, len(labels) > 1 && !slices.Contains(labels, "") && len(slices.Compact(slices.Sorted(slices.Values(labels)))) == len(labels)
	}
	from, err := strconv.ParseInt(first, 10, 32) // 32 bits, so that neither the difference nor the next number overflows
	to, fault := strconv.ParseInt(last, 10, 32)
	if err != nil || fault != nil || from >= to || to-from >= MaxScale {
		return nil, false
	}
	for ; from <= to; from++ {
		labels = append(labels, strconv.FormatInt(from, 10))
	}
	return labels, true
}

// canonicalScale checks a scale. Its canonical form is the text.
func (p Parameter) canonicalScale(value string) (string, error) {
	if _, ok := parseScale(value); !ok {
		return "", fmt.Errorf("%[1]s=%[2]q: give the labels of the scale in order, such as %[1]s='low,middle,high', or the first and the last "+
			"of at most %[3]d whole numbers, such as %[1]s=1..5", p.Name, value, MaxScale)
	}
	return value, nil
}

// Scale returns the labels of the measure's scale in their order, or nil.
func (m Measure) Scale() []string {
	if f := familyOf(m.Kind, m.Name); f == nil || f.parameter("labels").Domain != "scale" || m.Param("labels") == "" {
		return nil
	}
	labels, _ := parseScale(m.Param("labels"))
	return labels
}
