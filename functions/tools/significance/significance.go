// Package significance says how sure one can be that two runs differ: tests of paired values, the size of the effect,
// correction for many comparisons, and intervals around a mean.
//
// The values of two runs are paired: a[i] and b[i] are of the same topic, and a test looks at the differences
// a[i] - b[i]. All tests are two-sided. Values are finite; whatever makes a result undefined is an error that says so,
// never NaN or an infinity.
//
// Values are rounded, so that 0.3 - 0.2 and 0.2 - 0.1 are different float64s. Every test therefore counts differences as
// zero when they are within Rounding of the values of both runs, their sizes as tied when they are within that of each
// other, and all of them as constant when they all are: hits by topic and their share of ten give the same p. (scipy and
// R compare float64s, and rank such sizes apart.)
//
// What is random is drawn from PCG with the caller's seed and added up without fused multiplications, so that a seed
// gives the same numbers on every platform.
package significance

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"assay/functions/tools/percentile"
	"assay/shared/lists"
	"assay/shared/measure"

	"gonum.org/v1/gonum/mathext"
)

// ErrUndefined is wrapped by errors that are about the values: the statistic has no value for them, although the call
// was right.
var ErrUndefined = errors.New("not defined for these values")

// TTest is the result of Student's t-test of paired values.
type TTest struct {
	Statistic float64 `json:"statistic" doc:"mean difference divided by its standard error"`
	Freedom   int     `json:"freedom" doc:"degrees of freedom: the number of pairs less one"`
	P         float64 `json:"p" minimum:"0" maximum:"1" doc:"chance of a statistic at least as far from 0, were there no difference"`
}

// PairedT is Student's t-test of paired values (Student, The probable error of a mean, Biometrika 6, 1908). It needs two
// pairs, and is undefined when the differences are constant.
func PairedT(a, b []float64) (TTest, error) {
	d, err := momentsOf(a, b)
	if err != nil {
		return TTest{}, err
	}
	n := float64(len(a))
	t := TTest{Statistic: d.mean / (d.deviation / math.Sqrt(n)), Freedom: len(a) - 1}
	t.P = min(1, mathext.RegIncBeta((n-1)/2, 0.5, (n-1)/(n-1+t.Statistic*t.Statistic))) // of Student's t distribution
	return t, nil
}

// CohensD is the size of the effect in paired values: the mean difference divided by the standard deviation of the
// differences, with n - 1 in the divisor of the variance. It is often written d_z (J. Cohen, Statistical power analysis
// for the behavioral sciences, 1988, section 2.3.5). It needs two pairs, and is undefined when the differences are
// constant.
func CohensD(a, b []float64) (float64, error) {
	d, err := momentsOf(a, b)
	if err != nil {
		return 0, err
	}
	return d.mean / d.deviation, nil
}

// moments are the mean of values and their standard deviation, with n - 1 in the divisor of the variance.
type moments struct{ mean, deviation float64 }

func momentsOf(a, b []float64) (moments, error) {
	d, rounding, err := differences(a, b)
	if err != nil {
		return moments{}, err
	}
	if len(d) < 2 {
		return moments{}, fmt.Errorf("%w: there is only one pair, and no spread without two", ErrUndefined)
	}
	if slices.Max(d)-slices.Min(d) <= rounding {
		return moments{}, fmt.Errorf("%w: all differences are %.10g, so they have no spread to compare them with", ErrUndefined, d[0])
	}
	m := newMoments(d)
	if !(m.deviation > 0) || math.IsInf(m.deviation, 0) {
		return moments{}, fmt.Errorf("%w: the differences are too small or too large to be squared", ErrUndefined)
	}
	return m, nil
}

// newMoments are those of values, of which there are two. Deviations are divided by the largest, so that no square is too large or too
// small for a float64.
func newMoments(values []float64) moments {
	m, scale := mean(values), 0.0
	for _, x := range values {
		scale = max(scale, math.Abs(x-m))
	}
	if scale == 0 {
		return moments{mean: m}
	}
	var squares measure.Sum
	for _, x := range values {
		y := (x - m) / scale
		squares.Add(y * y)
	}
	return moments{m, scale * math.Sqrt(squares.Total()/float64(len(values)-1))}
}

// Rounding is how far values may lie apart that are the same but for rounding: 1e-12 of the largest size among them. That
// is some thousand times what arithmetic loses, and far below what any measure distinguishes.
func Rounding(values []float64) float64 {
	largest := 0.0
	for _, x := range values {
		largest = max(largest, math.Abs(x))
	}
	return 1e-12 * largest
}

// differences are a[i] - b[i], exactly 0 where that is rounding, and how far apart equal ones may lie.
func differences(a, b []float64) (d []float64, rounding float64, err error) {
	if len(a) != len(b) {
		return nil, 0, fmt.Errorf("%d values cannot be paired with %d; give both runs a value for each topic", len(a), len(b))
	}
	if len(a) == 0 {
		return nil, 0, fmt.Errorf("%w: there are no values", ErrUndefined)
	}
	rounding = max(Rounding(a), Rounding(b))
	d = make([]float64, len(a))
	for i := range a {
		x := a[i] - b[i]
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, 0, fmt.Errorf("the values %v and %v of pair %d have no finite difference", a[i], b[i], i+1)
		}
		if math.Abs(x) > rounding {
			d[i] = x
		}
	}
	return d, rounding, nil
}

func mean(xs []float64) float64 {
	n := float64(len(xs))
	var s measure.Sum
	for _, x := range xs {
		s.Add(x / n) // divided first: a sum of finite values need not be finite
	}
	return s.Total()
}

// exactWilcoxon is the most differences for which the distribution of rank sums is counted out, as in scipy. Its counts
// are below 2^50, so a float64 holds them exactly.
const exactWilcoxon = 50

// SignedRank is the result of Wilcoxon's signed-rank test.
type SignedRank struct {
	Plus  float64 `json:"plus" doc:"sum of the ranks of positive differences (V in R)"`
	Minus float64 `json:"minus" doc:"sum of the ranks of negative differences; the lesser of both is scipy's statistic"`
	Zeros int     `json:"zeros" doc:"pairs without a difference, which were left out"`
	Exact bool    `json:"exact" doc:"whether p was counted out rather than approximated"`
	P     float64 `json:"p" minimum:"0" maximum:"1" doc:"chance of sums at least as unlike, were there no difference"`
}

// Wilcoxon is the signed-rank test (F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1,
// 1945). The differences are ranked by their size, equal sizes sharing their mean rank. Pairs without a difference are
// left out, as by zero_method "wilcox", scipy's default.
//
// Up to 50 differences p is exact, also with ties: of all combinations of signs, given the sizes. That is the p of scipy's
// wilcoxon with method=PermutationMethod(n_resamples=np.inf). Else it comes from the normal distribution with corrections
// for ties and for continuity, as R's wilcox.test and scipy's wilcoxon with correction=True and method="asymptotic" have
// it. It is undefined when every difference is 0.
func Wilcoxon(a, b []float64) (SignedRank, error) {
	d, rounding, err := differences(a, b)
	if err != nil {
		return SignedRank{}, err
	}
	pairs := len(d)
	d = slices.DeleteFunc(d, func(x float64) bool { return x == 0 })
	n := len(d)
	if n == 0 {
		return SignedRank{}, fmt.Errorf("%w: all pairs are equal, so there is nothing to rank", ErrUndefined)
	}
	slices.SortFunc(d, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	s := SignedRank{Zeros: pairs - n}
	ties := 0.0                  // sum of t^3 - t over groups of t equal sizes
	doubled := make([]int, 0, n) // twice the ranks, which are whole also where ties share their mean
	for from := 0; from < n; {
		to := from + 1
		for to < n && math.Abs(d[to])-math.Abs(d[from]) <= rounding {
			to++
		}
		rank := float64(from+1+to) / 2
		for _, x := range d[from:to] {
			doubled = append(doubled, from+1+to)
			if x > 0 {
				s.Plus += rank
			} else {
				s.Minus += rank
			}
		}
		t := float64(to - from)
		ties += t*t*t - t
		from = to
	}
	if s.Exact = n <= exactWilcoxon; s.Exact {
		s.P = min(1, 2*rankSumCDF(doubled, int(2*min(s.Plus, s.Minus))))
		return s, nil
	}
	size := float64(n)
	deviation := math.Sqrt(size*(size+1)*(2*size+1)/24 - ties/48)
	distance := math.Abs(s.Plus - size*(size+1)/4)
	z := max(0, distance-0.5) / deviation
	s.P = math.Erfc(z / math.Sqrt2) // of the normal distribution
	return s, nil
}

// rankSumCDF is the chance that the ranks, each taken with chance 1/2, sum up to at most sum.
func rankSumCDF(ranks []int, sum int) float64 {
	ways := make([]float64, sum+1) // subsets of the ranks so far by their sum
	ways[0] = 1
	for _, rank := range ranks {
		for s := sum; s >= rank; s-- {
			ways[s] += ways[s-rank]
		}
	}
	total := 0.0
	for _, w := range ways {
		total += w
	}
	return math.Ldexp(total, -len(ranks))
}

const (
	// Rounds is how often the random methods draw when nothing else is asked for.
	Rounds = 10_000
	// ExactRandomization is the most differences whose signs are tried in every combination: 65,536.
	ExactRandomization = 16
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
	if len(d) <= ExactRandomization {
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

// Bonferroni adjusts the p of several tests so that one at or below a level holds although there were that many chances:
// each is multiplied by their number, up to 1. (O. J. Dunn, Multiple comparisons among means, JASA 56, 1961.) The result
// has the order of p.
func Bonferroni(p []float64) []float64 {
	return lists.Map(p, func(x float64) float64 { return multiply(x, float64(len(p))) })
}

// Holm adjusts like Bonferroni and rejects all that it rejects and more: the least p is multiplied by the number of
// tests, the next by one less, and so on, none ending below the one before it. (S. Holm, A simple sequentially rejective
// multiple test procedure, Scandinavian Journal of Statistics 6, 1979.)
func Holm(p []float64) []float64 {
	out, least := make([]float64, len(p)), 0.0
	for rank, i := range ascending(p) {
		least = max(least, multiply(p[i], float64(len(p)-rank)))
		out[i] = least
	}
	return out
}

// BenjaminiHochberg adjusts the p of several tests so that, of those at or below a level, at most that share is expected to
// be there by chance, if the tests are independent or depend on each other positively: the p of rank i is multiplied by
// the number of tests and divided by i, none ending above the one after it. (Y. Benjamini, Y. Hochberg, Controlling the
// false discovery rate, Journal of the Royal Statistical Society B 57, 1995.) It rejects all that Holm rejects and more.
func BenjaminiHochberg(p []float64) []float64 {
	out, most := make([]float64, len(p)), 1.0
	for rank, i := range slices.Backward(ascending(p)) {
		most = min(most, multiply(p[i], float64(len(p))/float64(rank+1)))
		out[i] = most
	}
	return out
}

// ascending lists the indices of p, that of the least first.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}

// multiply is a p multiplied, up to 1. The product is rounded to 14 digits: 7 times 1/140 would else be less than 0.05.
func multiply(p, factor float64) float64 {
	if factor == 1 {
		return p
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(p*factor, 'g', 14, 64), 64) // it is a number
	return min(1, rounded)
}

// Interval is a range in which a mean lies with a confidence of 95 %.
type Interval struct {
	Low  float64 `json:"low" doc:"lower end of the 95 % interval"`
	High float64 `json:"high" doc:"upper end of the 95 % interval"`
}

// Bootstrap is the percentile interval of the mean at 95 % (B. Efron, R. J. Tibshirani, An introduction to the
// bootstrap, 1993, section 13.3): as many values as there are, drawn with replacement, have a mean; of the means of that
// many rounds the 2.5th and the 97.5th percentiles are the ends, interpolated between neighbours as
// numpy and R (type 7) do. It needs one value.
//
// The interval of a difference of two runs is that of their differences.
func Bootstrap(values []float64, seed uint64, rounds int) (Interval, error) {
	if len(values) == 0 || uint64(len(values)) > math.MaxUint32 {
		return Interval{}, fmt.Errorf("%w: there are %d values", ErrUndefined, len(values))
	}
	size := 0.0
	for i, x := range values {
		if size += math.Abs(x); math.IsNaN(size) || math.IsInf(size, 0) {
			return Interval{}, fmt.Errorf("%w: value %d is %v, and a sum up to it is not finite", ErrUndefined, i+1, x)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a seed has to give the same interval again
	n := uint32(len(values))
	means := make([]float64, rounds)
	for i := range means {
		sum := 0.0
		for range n {
			sum += values[random.Uint32N(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return Interval{percentile.Of(means, 0.025), percentile.Of(means, 0.975)}, nil
}
