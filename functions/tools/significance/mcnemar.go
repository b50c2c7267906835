package significance

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// Discordant is the result of McNemar's test.
type Discordant struct {
	First  int     `json:"first" doc:"examples that the first run alone has right"`
	Second int     `json:"second" doc:"examples that the second run alone has right"`
	P      float64 `json:"p" minimum:"0" maximum:"1" doc:"chance of numbers at least as unlike, were there no difference"`
}

// Binary reports whether all values are 0 or 1, as of examples that are wrong or right.
func Binary(values []float64) bool {
	for _, x := range values {
		if x != 0 && x != 1 {
			return false
		}
	}
	return true
}

// McNemar is the test of paired values that are 0 or 1 (Q. McNemar, Note on the sampling error of the difference between
// correlated proportions or percentages, Psychometrika 12, 1947). Only pairs that differ say something: were there no difference, each
// could as well be the other way round. p is exact however many there are, of the binomial distribution, and no approximation by chi
// squared: it is that of scipy's binomtest and of the mcnemar of statsmodels with exact=True. It is undefined when all pairs are equal.
func McNemar(a, b []float64) (Discordant, error) {
	if !Binary(a) || !Binary(b) {
		return Discordant{}, fmt.Errorf("%w: not all of them are 0 or 1", ErrUndefined)
	}
	d, _, err := differences(a, b)
	if err != nil {
		return Discordant{}, err
	}
	var m Discordant
	for _, x := range d {
		if x > 0 {
			m.First++
		} else if x < 0 {
			m.Second++
		}
	}
	if m.First+m.Second == 0 {
		return Discordant{}, fmt.Errorf("%w: all pairs are equal, so there is nothing to count", ErrUndefined)
	}
	less, more := min(m.First, m.Second), max(m.First, m.Second)
	m.P = min(1, 2*mathext.RegIncBeta(float64(more), float64(less+1), 0.5)) // of at most so many of the lesser
	return m, nil
}
