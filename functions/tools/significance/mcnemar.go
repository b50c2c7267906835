package significance

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// Discordant is the result of McNemar's test.
type Discordant struct {
	First  int     `json:"first" doc:"number of examples that only the first run has right"`
	Second int     `json:"second" doc:"number of examples that only the second run has right"`
	P      float64 `json:"p" minimum:"0" maximum:"1" doc:"probability of numbers at least as different if the runs do not differ"`
}

// Binary reports whether all values are 0 or 1, for wrong and right examples.
func Binary(values []float64) bool {
	for _, x := range values {
		if x != 0 && x != 1 {
			return false
		}
	}
	return true
}

// McNemar tests paired values that are 0 or 1 (Q. McNemar, Note on the sampling error of the difference between correlated
// proportions or percentages, Psychometrika 12, 1947). Only pairs that differ matter: if the runs do not differ, each direction
// has the same probability. p is exact for any number of pairs, from the binomial distribution and not from the chi-squared
// approximation. It equals the p of scipy's binomtest and of statsmodels' mcnemar with exact=True. The test is undefined if all
// pairs are equal.
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
	m.P = min(1, 2*mathext.RegIncBeta(float64(more), float64(less+1), 0.5)) // probability of at most less successes, for both sides
	return m, nil
}
