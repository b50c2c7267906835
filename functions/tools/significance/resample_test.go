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

func TestLevel_RoundsUp(t *testing.T) {
	for p, want := range map[float64]float64{0: 0.00001, 0.00001: 0.00001, 0.000011: 0.0001, 0.01: 0.01, 0.0401: 0.2, 0.04: 0.04, 0.05: 0.2,
		0.2: 0.2, 0.21: 1, 1: 1} {
		if got := significance.Level(p); got != want {
			t.Errorf("%v becomes %v, want %v", p, got, want)
		}
	}
}

// TestNormal_SaysNothingOfTheOrder compares the interval with its formula for any order of the values.
func TestNormal_SaysNothingOfTheOrder(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]float64{1, 1e-9, 1e12}).Draw(t, "scale")
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return scale * float64(rapid.IntRange(0, 64).Draw(t, "value")) / 8
		}), 2, 50).Draw(t, "values")
		got, err := significance.Normal(values)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := significance.Normal(rapid.Permutation(values).Draw(t, "order")); err != nil || again != got {
			t.Fatalf("%+v, and in another order %+v, %v", got, again, err)
		}
		sum := 0.0
		squares := 0.0
		n := float64(len(values))
		for _, x := range values {
			sum += x
		}
		for _, x := range values {
			squares += (x - sum/n) * (x - sum/n)
		}
		half := 1.959963984540054 * math.Sqrt(squares/(n-1)/n)
		if low, high := sum/n-half-got.Low, got.High-sum/n-half; low < -1e-9*scale || high < -1e-9*scale || max(low, high) > half/40 {
			t.Fatalf("%+v is not the interval of %v ± %v", got, sum/n, half)
		}
	})
}

func TestNormal_IsOfSpread(t *testing.T) {
	if got, err := significance.Normal([]float64{.5, .5, .5}); err != nil || got != (significance.Interval{Low: .5, High: .5}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, values := range [][]float64{nil, {1}} {
		if got, err := significance.Normal(values); !errors.Is(err, significance.ErrUndefined) {
			t.Errorf("%v have %+v, %v", values, got, err)
		}
	}
}

// TestPairedBootstrap_AgreesWithTheMean resamples means. The bootstrap of the differences has the same interval.
func TestPairedBootstrap_AgreesWithTheMean(t *testing.T) {
	const rounds, n = 2000, 50
	a, b := make([]float64, n), make([]float64, n)
	for i := range n {
		a[i], b[i] = float64(i%7)/7, float64(i%5)/6
	}
	var x, y []float64
	err := significance.Samples(steps.Of(t.Context()), n, 3, rounds, func(sample []int) error {
		var sumA, sumB float64
		for _, i := range sample {
			sumA, sumB = sumA+a[i]/n, sumB+b[i]/n
		}
		x, y = append(x, sumA), append(y, sumB)
		return nil
	})
	if err != nil || len(x) != rounds {
		t.Fatal(len(x), err)
	}
	got, err := significance.PairedBootstrap(x, y)
	if err != nil {
		t.Fatal(err)
	}
	var d []float64
	below := 0
	for i := range x {
		d = append(d, x[i]-y[i])
		if d[i] <= 1e-12 {
			below++
		}
	}
	slices.Sort(d)
	if math.Abs(got.Interval.Low-d[rounds/40]) > 0.002 || math.Abs(got.Interval.High-d[rounds-rounds/40]) > 0.002 || got.Rounds != rounds ||
		got.P != 2*float64(below+1)/(rounds+1) {
		t.Errorf("%+v, want [%v, %v] and %d of %d", got, d[rounds/40], d[rounds-rounds/40], below, rounds)
	}
	back, err := significance.PairedBootstrap(y, x)
	if err != nil || back.P != got.P || !near(back.Interval.Low, -got.Interval.High) {
		t.Errorf("exchanged: %+v, %v", back, err)
	}
}

func TestPairedBootstrap_NeedsSamples(t *testing.T) {
	values := slices.Repeat([]float64{math.NaN()}, 300)
	for i := range 99 {
		values[i] = float64(i)
	}
	if got, err := significance.PairedBootstrap(values, make([]float64, 300)); !errors.Is(err, significance.ErrUndefined) {
		t.Errorf("of 99 samples: %+v, %v", got, err)
	}
	values[99] = 99
	if got, err := significance.PairedBootstrap(values, make([]float64, 300)); err != nil || got.Rounds != 100 || got.P != 2*2./101 {
		t.Errorf("of 100 samples: %+v, %v", got, err)
	}
	if got, err := significance.PairedBootstrap(values, values); err != nil || got.P != 1 {
		t.Errorf("of equal runs: %+v, %v", got, err)
	}
}
