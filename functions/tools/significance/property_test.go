package significance_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"assay/functions/tools/significance"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// paired draws values of two runs, coarse enough for ties and zero differences.
func paired(t *rapid.T) (a, b []float64) {
	n := rapid.IntRange(1, 70).Draw(t, "n")
	value := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 20).Draw(t, "value")) / 20 })
	return rapid.SliceOfN(value, n, n).Draw(t, "a"), rapid.SliceOfN(value, n, n).Draw(t, "b")
}

// TestTests_AreSymmetric exchanges the runs: p stays the same and the direction is reversed.
func TestTests_AreSymmetric(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		a, b := paired(t)
		chance := func(name string, p float64) {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("%s has p = %v", name, p)
			}
		}
		undefined := func(there, back error) bool {
			if (there == nil) != (back == nil) || there != nil && !errors.Is(there, significance.ErrUndefined) {
				t.Fatalf("%v there, %v back", there, back)
			}
			return there != nil
		}
		x, err := significance.PairedT(a, b)
		y, back := significance.PairedT(b, a)
		if !undefined(err, back) {
			chance("t", x.P)
			if !near(x.P, y.P) || !near(x.Statistic, -y.Statistic) {
				t.Fatalf("t-test %+v and %+v", x, y)
			}
			d, err := significance.CohensD(a, b)
			if err != nil || !near(d*math.Sqrt(float64(len(a))), x.Statistic) {
				t.Fatalf("d is %v where t is %v, %v", d, x.Statistic, err)
			}
		}
		w, err := significance.Wilcoxon(a, b)
		v, back := significance.Wilcoxon(b, a)
		n := float64(len(a) - w.Zeros)
		if !undefined(err, back) {
			chance("wilcoxon", w.P)
			if w.P != v.P || w.Plus != v.Minus || w.Plus+w.Minus != n*(n+1)/2 {
				t.Fatalf("wilcoxon %+v and %+v", w, v)
			}
		}
		r, err := significance.Randomization(steps.Of(t.Context()), a, b, 3, 50)
		s, back := significance.Randomization(steps.Of(t.Context()), b, a, 3, 50)
		if err != nil || back != nil || r.P != s.P || r.Difference != -s.Difference {
			t.Fatalf("randomization %+v and %+v, %v", r, s, err)
		}
		chance("randomization", r.P)
		if r.P == 0 {
			t.Fatal("a randomization test has p = 0")
		}
	})
}

// TestWilcoxon_AgreesWithAllSigns compares the exact p with a count over all combinations of signs.
func TestWilcoxon_AgreesWithAllSigns(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 10).Draw(t, "sizes")
		slices.Sort(sizes)
		rank := func(size int) float64 { // the mean of the ranks of equal sizes
			first, _ := slices.BinarySearch(sizes, size)
			next, _ := slices.BinarySearch(sizes, size+1)
			return float64(first+1+next) / 2
		}
		d := make([]float64, len(sizes))
		for i, size := range sizes {
			d[i] = float64(size)
			if rapid.Bool().Draw(t, "negative") {
				d[i] = -d[i]
			}
		}
		got, err := significance.Wilcoxon(d, zeros(len(d)))
		if err != nil || !got.Exact {
			t.Fatal(got, err)
		}
		least, count := min(got.Plus, got.Minus), 0
		for signs := range 1 << len(d) {
			sum := 0.0
			for i := range d {
				if signs>>i&1 == 1 {
					sum += rank(sizes[i])
				}
			}
			if sum <= least {
				count++
			}
		}
		if want := min(1, 2*float64(count)/float64(int(1)<<len(d))); got.P != want {
			t.Fatalf("p = %v, want %v", got.P, want)
		}
	})
}

// TestCorrections_KeepOrder checks that the p of Benjamini and Hochberg lies between the uncorrected p and Holm's, that Holm's is
// at most Bonferroni's, and that all keep the order of p.
func TestCorrections_KeepOrder(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 20).Draw(t, "p")
		holm := significance.Holm(p)
		bonferroni := significance.Bonferroni(p)
		bh := significance.BenjaminiHochberg(p)
		for i := range p {
			const rounding = 1e-13
			if bh[i] < p[i]*(1-rounding) || bh[i] > holm[i]*(1+rounding) || holm[i] < p[i] || holm[i] > bonferroni[i] || bonferroni[i] > 1 {
				t.Fatalf("%v becomes %v by Benjamini and Hochberg, %v by Holm and %v by Bonferroni", p[i], bh[i], holm[i], bonferroni[i])
			}
			for j := range p {
				if p[i] < p[j] && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Fatalf("%v by Holm is %v, by Benjamini and Hochberg %v", p, holm, bh)
				}
			}
		}
	})
}

// TestBootstrap_IsWithinTheValues also checks that a seed always gives the same interval.
func TestBootstrap_IsWithinTheValues(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		values, _ := paired(t)
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := significance.Bootstrap(steps.Of(t.Context()), values, seed, 100)
		again, _ := significance.Bootstrap(steps.Of(t.Context()), values, seed, 100)
		const rounding = 1e-12
		if err != nil || got != again || got.Low > got.High || got.Low < slices.Min(values)-rounding || got.High > slices.Max(values)+rounding {
			t.Fatalf("%+v and %+v of %v, %v", got, again, values, err)
		}
	})
}

func TestTests_RefuseValues(t *testing.T) {
	type values = []float64
	tests := map[string]func(a, b values) error{
		"t":        func(a, b values) error { _, err := significance.PairedT(a, b); return err },
		"d":        func(a, b values) error { _, err := significance.CohensD(a, b); return err },
		"wilcoxon": func(a, b values) error { _, err := significance.Wilcoxon(a, b); return err },
		"randomization": func(a, b values) error {
			_, err := significance.Randomization(steps.Of(t.Context()), a, b, 1, 10)
			return err
		},
	}
	nan, inf := math.NaN(), math.Inf(1)
	for name, test := range tests {
		for _, c := range []struct{ a, b values }{{values{1}, nil}, {values{1, nan}, values{1, 2}}, {values{1, inf}, values{1, inf}},
			{values{math.MaxFloat64}, values{-math.MaxFloat64}}} {
			if err := test(c.a, c.b); err == nil || errors.Is(err, significance.ErrUndefined) {
				t.Errorf("%s of %v and %v: %v", name, c.a, c.b, err)
			}
		}
		for _, c := range []struct{ a, b values }{{nil, nil}, {values{1, 1}, values{1, 1}}} {
			if err := test(c.a, c.b); name != "randomization" && !errors.Is(err, significance.ErrUndefined) {
				t.Errorf("%s of %v and %v: %v", name, c.a, c.b, err)
			}
		}
	}
	for _, values := range []values{nil, {1, nan}, {inf}, {math.MaxFloat64, math.MaxFloat64}} {
		if _, err := significance.Bootstrap(steps.Of(t.Context()), values, 1, 10); !errors.Is(err, significance.ErrUndefined) {
			t.Errorf("bootstrap of %v: %v", values, err)
		}
	}
}

// TestTests_ConstantDifferencesAreUndefined tests differences that equal .1 except for rounding. Without a tolerance, t of the
// first case would be 1.8e15 and its p 3.5e-16, although half of all combinations of signs are as far from 0.
func TestTests_ConstantDifferencesAreUndefined(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		p    float64 // of the randomization test
	}{
		{[]float64{.3, .8}, []float64{.2, .7}, .5},
		{[]float64{.3, .8, .1, .2}, []float64{.2, .7, 0, .1}, .125},
		{[]float64{0.30000000000000004, .8}, []float64{.3, .8}, 1},
		{[]float64{3e8, 8e8}, []float64{2e8, 7e8}, .5},
	} {
		if got, err := significance.PairedT(c.a, c.b); !errors.Is(err, significance.ErrUndefined) {
			t.Errorf("t of %v and %v: %+v, %v", c.a, c.b, got, err)
		}
		if got, err := significance.CohensD(c.a, c.b); !errors.Is(err, significance.ErrUndefined) {
			t.Errorf("d of %v and %v: %v, %v", c.a, c.b, got, err)
		}
		if got, err := significance.Randomization(steps.Of(t.Context()), c.a, c.b, 1, 10); err != nil || got.P != c.p {
			t.Errorf("randomization of %v and %v: %+v, %v", c.a, c.b, got, err)
		}
	}
	if got, err := significance.Wilcoxon([]float64{0.30000000000000004, .8}, []float64{.3, .8}); !errors.Is(err, significance.ErrUndefined) {
		t.Errorf("wilcoxon of equal pairs: %+v, %v", got, err)
	}
	// A difference that is small compared with 1 is not rounding if all values are small.
	if got, err := significance.PairedT([]float64{3e-20, 9e-20}, []float64{2e-20, 7e-20}); err != nil || !near(got.Statistic, 3) {
		t.Errorf("t of small values: %+v, %v", got, err)
	}
}

// TestTests_SharesEqualCounts compares the numbers of relevant documents among the first ten for two runs and seven topics, and P@10.
// If sizes were compared as float64s, the rank sums and the p of Wilcoxon would differ. The expected p comes from scipy 1.17.1's
// wilcoxon with PermutationMethod(n_resamples=inf) for the numbers.
func TestTests_SharesEqualCounts(t *testing.T) {
	a, b := []float64{5, 5, 9, 8, 0, 2, 1}, []float64{4, 6, 7, 7, 2, 3, 0}
	for _, parts := range []float64{1, 10} {
		got, err := significance.Wilcoxon(shares(a, parts), shares(b, parts))
		if err != nil || !near(got.P, 0.984375) || got.Plus != 15.5 || got.Minus != 12.5 {
			t.Errorf("in parts of %v: %+v, %v", parts, got, err)
		}
	}
}

func shares(counts []float64, of float64) []float64 {
	var all []float64
	for _, x := range counts {
		all = append(all, x/of)
	}
	return all
}

// TestTests_AreScaleInvariant compares the tests of counts, which are exact, with the tests of shares and of shares with an
// offset.
func TestTests_AreScaleInvariant(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		of := rapid.SampledFrom([]float64{3, 7, 10, 1e5, 1e-3}).Draw(t, "of")
		offset := rapid.SampledFrom([]float64{0, .1, 1.0 / 3}).Draw(t, "offset")
		count := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 10).Draw(t, "count")) })
		a := rapid.SliceOfN(count, n, n).Draw(t, "a")
		b := rapid.SliceOfN(count, n, n).Draw(t, "b")
		x, y := shares(a, of), shares(b, of)
		for i := range x {
			x[i], y[i] = x[i]+offset, y[i]+offset
		}
		same := func(name string, whole, parts float64, err, partsErr error) {
			// For values about 0.1 that differ by 1e-5, about ten digits are left.
			if (err == nil) != (partsErr == nil) || err == nil && math.Abs(whole-parts) > 1e-8*max(1, math.Abs(whole)) {
				t.Fatalf("%s: %v, %v of counts and %v, %v of shares", name, whole, err, parts, partsErr)
			}
		}
		tWhole, err := significance.PairedT(a, b)
		tParts, partsErr := significance.PairedT(x, y)
		same("t", tWhole.Statistic, tParts.Statistic, err, partsErr)
		same("p of t", tWhole.P, tParts.P, err, partsErr)
		dWhole, err := significance.CohensD(a, b)
		dParts, partsErr := significance.CohensD(x, y)
		same("d", dWhole, dParts, err, partsErr)
		wWhole, err := significance.Wilcoxon(a, b)
		wParts, partsErr := significance.Wilcoxon(x, y)
		if (err == nil) != (partsErr == nil) || wWhole != wParts {
			t.Fatalf("wilcoxon: %+v, %v of counts and %+v, %v of shares", wWhole, err, wParts, partsErr)
		}
		rWhole, err := significance.Randomization(steps.Of(t.Context()), a, b, 5, 100)
		rParts, partsErr := significance.Randomization(steps.Of(t.Context()), x, y, 5, 100)
		if err != nil || partsErr != nil || rWhole.P != rParts.P {
			t.Fatalf("randomization: %+v, %v of counts and %+v, %v of shares", rWhole, err, rParts, partsErr)
		}
	})
}

// TestCorrections_DoNotCrossLevels corrects p values of random tests, (k + 1) / (rounds + 1). Multiplied by the number of tests, they
// equal a level exactly, so they are not below it.
func TestCorrections_DoNotCrossLevels(t *testing.T) {
	for level, parts := range map[float64]int{.05: 20, .01: 100, .001: 1000, .0001: 10_000} {
		for tests := 1; tests <= 50; tests++ {
			for k := 1; k <= 10; k++ {
				all := make([]float64, tests)
				all[0] = float64(k) / float64(k*tests*parts)
				for i := range all[1:] {
					all[i+1] = 1
				}
				if holm, bonferroni := significance.Holm(all)[0], significance.Bonferroni(all)[0]; holm != level || bonferroni != level {
					t.Fatalf("%d times %v is %v and %v, want %v", tests, all[0], holm, bonferroni, level)
				}
			}
		}
	}
}
