package significance_test

import (
	"math"
	"slices"
	"testing"

	"assay/functions/tools/significance"
	"assay/shared/computation/measure/steps"
)

// near allows for differences in the last digits of a value that another program printed.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

// sleep1 and sleep2 are the hours of sleep that ten patients gained by two drugs (Student 1908; data set sleep of R).
var (
	sleep1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// darwin holds the differences in height between 15 pairs of cross- and self-fertilized maize, in eighths of an inch (C. Darwin,
// The effects of cross and self fertilisation in the vegetable kingdom, 1876).
var darwin = []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}

// depression1 and depression2 are the factor IV of nine patients at two visits (Hollander and Wolfe, Nonparametric statistical
// methods, 1973, page 29; the example of R's wilcox.test).
var (
	depression1 = []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	depression2 = []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
)

func zeros(n int) []float64 { return make([]float64, n) }

// TestPairedT_AgreesWithR checks R's own example: t = -4.0621, df = 9, p-value = 0.002833. The further digits, and the values of
// the other two cases, come from scipy 1.17.1's ttest_rel.
func TestPairedT_AgreesWithR(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float64
		want significance.TTest
	}{
		"sleep":      {sleep1, sleep2, significance.TTest{Statistic: -4.062127683382037, Freedom: 9, P: 0.002832890197384273}},
		"depression": {depression1, depression2, significance.TTest{Statistic: 3.0353754156485917, Freedom: 8, P: 0.016176627434908088}},
		"darwin":     {darwin, zeros(15), significance.TTest{Statistic: 2.14798746133112, Freedom: 14, P: 0.049702944021800866}},
	} {
		got, err := significance.PairedT(c.a, c.b)
		if err != nil || !near(got.Statistic, c.want.Statistic) || got.Freedom != c.want.Freedom || !near(got.P, c.want.P) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// TestWilcoxon_AgreesWithR checks R's own example of wilcox.test (V = 40, p-value = 0.03906) and the example of scipy's
// documentation (darwin: 24, 0.041259765625). Further cases lie on both sides of the border between exact and approximate p, from
// scipy 1.17.1. Cases with ties use wilcoxon with PermutationMethod(n_resamples=inf). It cannot handle 50 ties: their p is a
// count of combinations in exact fractions of Python 3.11.
func TestWilcoxon_AgreesWithR(t *testing.T) {
	thirds := func(n int) []float64 {
		var d []float64
		for i := range n {
			d = append(d, float64(i+1))
			if i%3 == 0 {
				d[i] = -d[i]
			}
		}
		return d
	}
	sevens := func(n int) []float64 {
		var d []float64
		for i, x := range thirds(n) {
			d = append(d, math.Copysign(float64(i%7+1), x))
		}
		return d
	}
	tied := []float64{2, 2, 3, -4, 4, 4, 5, 0, 0, -1, 6, 7}
	for name, c := range map[string]struct {
		a, b []float64
		want significance.SignedRank
	}{
		"depression":     {depression1, depression2, significance.SignedRank{Plus: 40, Minus: 5, Exact: true, P: 0.0390625}},
		"sleep":          {sleep1, sleep2, significance.SignedRank{Plus: 0, Minus: 45, Zeros: 1, Exact: true, P: 0.00390625}},
		"darwin":         {darwin, zeros(15), significance.SignedRank{Plus: 96, Minus: 24, Exact: true, P: 0.041259765625}},
		"50 differences": {thirds(50), zeros(50), significance.SignedRank{Plus: 850, Minus: 425, Exact: true, P: 0.03996834652842374}},
		"51 differences": {thirds(51), zeros(51), significance.SignedRank{Plus: 901, Minus: 425, P: 0.026000896360930642}},
		"ties and zeros": {tied, zeros(12), significance.SignedRank{Plus: 48, Minus: 7, Zeros: 2, Exact: true, P: 0.03515625}},
		"five first ranks": {[]float64{1, 1, 1, 1, 1}, []float64{.5, .5, .25, .5, 1. / 3}, significance.SignedRank{
			Plus: 15, Exact: true, P: 0.0625}},
		"50 with ties": {sevens(50), zeros(50), significance.SignedRank{Plus: 834.5, Minus: 440.5, Exact: true, P: 0.05639918021984691}},
		"51 with ties": {sevens(51), zeros(51), significance.SignedRank{Plus: 872.5, Minus: 453.5, P: 0.04954262153380855}},
		"one":          {[]float64{3, 1}, []float64{1, 1}, significance.SignedRank{Plus: 1, Zeros: 1, Exact: true, P: 1}},
	} {
		got, err := significance.Wilcoxon(c.a, c.b)
		p := got.P
		got.P = c.want.P
		if err != nil || got != c.want || !near(p, c.want.P) {
			t.Errorf("%s: %+v with p = %v, %v; want %+v", name, got, p, err, c.want)
		}
	}
}

// TestRandomization_AgreesWithFisher checks Fisher's own count for Darwin's plants (The design of experiments, 1935, section 21).
// 863 of the 32,768 combinations reach the sum of 314 upwards, and as many downwards. For 20 pairs, the drawn p lies within four
// standard errors of the exact p, which is found by adding up the ways to reach each sum.
func TestRandomization_AgreesWithFisher(t *testing.T) {
	got, err := significance.Randomization(steps.Of(t.Context()), darwin, zeros(15), 1, 10)
	want := significance.SignFlips{Difference: 314. / 15, Rounds: 32768, Exact: true, P: 2 * 863. / 32768}
	if err != nil || !near(got.Difference, want.Difference) || got.Rounds != want.Rounds || !got.Exact || got.P != want.P {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	twenty := append([]float64{3, -7, 9, 11, -2}, darwin...)
	drawn, err := significance.Randomization(steps.Of(t.Context()), twenty, zeros(20), 7, 100_000)
	const exact = 0.04307746887207031
	if tolerance := 4 * math.Sqrt(exact*(1-exact)/100_000); err != nil || drawn.Exact || math.Abs(drawn.P-exact) > tolerance {
		t.Errorf("%+v, %v; want p = %v within %v", drawn, err, exact, tolerance)
	}
}

// TestCohensD_AgreesWithR: the d_z of sleep is 1.58 / 1.229995, published as 1.28.
func TestCohensD_AgreesWithR(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float64
		want float64
	}{
		"sleep":  {sleep1, sleep2, -1.2845575625910546},
		"darwin": {darwin, zeros(15), 0.5546079777065185},
	} {
		if got, err := significance.CohensD(c.a, c.b); err != nil || !near(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// TestCorrections_AgreeWithR checks values of R's p.adjust. The values of Benjamini and Hochberg come from scipy 1.17.1's
// false_discovery_control.
func TestCorrections_AgreeWithR(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005, 0.6}
	for name, c := range map[string]struct {
		adjust func([]float64) []float64
		want   []float64
	}{
		"bonferroni": {significance.Bonferroni, []float64{0.05, 0.2, 0.15, 0.025, 1}},
		"holm":       {significance.Holm, []float64{0.04, 0.09, 0.09, 0.025, 0.6}},
		"bh":         {significance.BenjaminiHochberg, []float64{0.025, 0.05, 0.05, 0.025, 0.6}},
	} {
		if got := c.adjust(p); !slices.EqualFunc(got, c.want, near) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestBootstrap_AgreesWithScipy uses the survival of treated mice in table 2.1 of Efron and Tibshirani 1993. scipy 1.17.1's
// bootstrap with method="percentile" and 200,000 resamples returns 43.71 to 134.43. The value of one mouse changes a mean by up
// to 28.
func TestBootstrap_AgreesWithScipy(t *testing.T) {
	mice := []float64{94, 197, 16, 38, 99, 141, 23}
	got, err := significance.Bootstrap(steps.Of(t.Context()), mice, 1, 200_000)
	if err != nil || math.Abs(got.Low-43.714285714285715) > 0.6 || math.Abs(got.High-134.42857142857142) > 0.6 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSeeds_AreReproducible fixes the results of a seed to the last bit, so that a platform or release of Go cannot change
// answers unnoticed.
func TestSeeds_AreReproducible(t *testing.T) {
	a, b := slices.Concat(sleep1, depression1), slices.Concat(sleep2, depression2)
	flips, err := significance.Randomization(steps.Of(t.Context()), a, b, 42, 1000)
	if err != nil || flips.P != 0.054945054945054944 {
		t.Errorf("p = %v, %v", flips.P, err)
	}
	interval, err := significance.Bootstrap(steps.Of(t.Context()), a, 42, 1000)
	if pinned := (significance.Interval{Low: 0.5636710526315789, High: 1.832184210526316}); err != nil || interval != pinned {
		t.Errorf("%#v, %v", interval, err)
	}
}
