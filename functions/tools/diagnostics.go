package tools

import "assay/shared/measure"

// disclosed are diagnostics as answers have them.
func disclosed(all []measure.Diagnostic) []measure.Diagnostic {
	list := make([]measure.Diagnostic, len(all))
	for i, d := range all {
		d.Discreet = false // is for records
		list[i] = d
	}
	return list
}
