package tools

import "assay/shared/measure"

// shown are diagnostics as answers have them.
func shown(all []measure.Diagnostic) []measure.Diagnostic {
	list := make([]measure.Diagnostic, len(all))
	for i, d := range all {
		d.Discreet = false // is for records
		list[i] = d
	}
	return list
}
