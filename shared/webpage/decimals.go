package webpage

import (
	"math"
	"strconv"

	"github.com/a-h/templ"
)

// Decimals is a result to four digits behind the point, as results are reported. One so large, or so small, that these
// would hide it is written with an exponent; below 1e-9 is what rounding leaves.
func Decimals(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e6:
		return strconv.FormatFloat(v, 'g', 5, 64)
	case size >= 1e-9 && size < 5e-5:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// Value is a result that need not be defined.
func Value(v *float64) string {
	if v == nil {
		return "–"
	}
	return Decimals(*v)
}

// AriaSort says, as aria-sort has it, how a column is sorted that has the best result first.
func AriaSort(lowerIsBetter bool) string {
	if lowerIsBetter {
		return "ascending"
	}
	return "descending"
}

// AriaCurrent marks a link that leads to the page it stands on.
func AriaCurrent(here bool) templ.Attributes {
	if here {
		return templ.Attributes{"aria-current": "page"}
	}
	return nil
}
