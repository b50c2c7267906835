package significance

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

const (
	// Rounds is how often the random methods draw when nothing else is asked for.
	Rounds = 10_000
	// exactRandomization is the most differences whose signs are tried in every combination: 65,536.
	exactRandomization = 16
)

// SignFlips is the result of the randomization test.
type SignFlips struct {
	Difference float64 `json:"difference" doc:"mean difference"`
	Rounds     int     `json:"rounds" doc:"combinations of signs that were looked at"`
	Exact      bool    `json:"exact" doc:"whether these are all there are"`
	P          float64 `json:"p" minimum:"0" maximum:"1" doc:"chance of a mean difference at least as far from 0, were there no difference"`
}

// Randomization is Fisher's randomization test of paired values (R. A. Fisher, The design of experiments, 1935,
// section 21): were there no difference between the runs, each difference could as well have had the other sign. p is the
// share of combinations of signs whose mean is at least as far from 0 as that of the differences.
//
// Up to 16 differences other than 0 all combinations are counted and the seed does not matter. Else rounds of them
// are drawn, and the values as they are count as one more (B. Phipson, G. K. Smyth, Permutation p-values
// should never be zero, SAGMB 9, 2010), so that p is never below 1 / (rounds + 1).
func Randomization(a, b []float64, seed uint64, rounds int) (SignFlips, error) {
	all, rounding, err := differences(a, b)
	if err != nil {
		return SignFlips{}, err
	}
	// A difference of 0 is the same with either sign.
	var d []float64
	size, observed := 0.0, 0.0
	for _, x := range all {
		if x != 0 {
			d = append(d, x)
			size += math.Abs(x)
			observed += x
		}
	}
	if math.IsInf(size, 0) {
		return SignFlips{}, fmt.Errorf("%w: the differences are too large to be summed", ErrUndefined)
	}
	// Sums count as equal when they are so but for the rounding of each of their terms.
	least := math.Abs(observed) - rounding*float64(len(d))
	result := SignFlips{Difference: mean(all), Rounds: rounds}
	extreme := 0
	if len(d) <= exactRandomization {
		result.Exact, result.Rounds = true, 1<<len(d)
		for signs := range uint64(result.Rounds) {
			if math.Abs(signed(d, signs)) >= least {
				extreme++
			}
		}
		result.P = float64(extreme) / float64(result.Rounds)
		return result, nil
	}
	source := rand.NewPCG(seed, 0)
	for range rounds {
		sum := 0.0
		for from := 0; from < len(d); from += 64 {
			sum += signed(d[from:min(from+64, len(d))], source.Uint64())
		}
		if math.Abs(sum) >= least {
			extreme++
		}
	}
	result.P = float64(extreme+1) / float64(rounds+1)
	return result, nil
}

// signed sums up at most 64 values, each with the opposite sign where the bit of its index is 1.
func signed(d []float64, signs uint64) float64 {
	sum := 0.0
	for i, x := range d {
		sum += math.Float64frombits(math.Float64bits(x) ^ bits.RotateLeft64(signs>>i&1, 63))
	}
	return sum
}
