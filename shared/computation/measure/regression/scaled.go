package regression

import (
	"fmt"

	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// scales are factors between usual units, such as percent and fractions, or meters and kilometers.
var scales = []struct {
	factor float64
	times  string
}{{100, "100 times"}, {1000, "1000 times"}, {1. / 100, "a hundredth of"}, {1. / 1000, "a thousandth of"}}

// minScaled is the number of items from which on the scale of all says something about a run.
const minScaled = 3

// scaled returns a warning if each prediction is about the same multiple of its true number, or "". A prediction may be from half of that
// to its double.
func scaled(counter *steps.Counter, p *pairs) string {
	least, most := 0.0, 0.0
	n := 0
	for i, truth := range p.truth {
		if counter.Add(1) != nil {
			return ""
		}
		if truth == 0 && p.predicted[i] == 0 {
			continue
		}
		ratio := p.predicted[i] / truth // infinite or negative ratios fit no scale
		if n == 0 {
			least, most = ratio, ratio
		}
		least = min(least, ratio)
		most = max(most, ratio)
		n++
	}
	for _, s := range scales {
		if n >= minScaled && least >= s.factor/2 && most <= s.factor*2 {
			return fmt.Sprintf("each prediction is about %s the true number, for all %s with other numbers than 0; the likely cause: "+
				"another unit, such as percent", s.times, plural.Count(n, "item"))
		}
	}
	return ""
}
