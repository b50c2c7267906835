package significance_test

import (
	"math/rand/v2"
	"testing"

	"assay/functions/tools/significance"
	"assay/shared/computation/measure/steps"
)

// runs returns the values of two runs. MS MARCO's development set has the largest of the numbers of topics.
func runs(topics int) (a, b []float64) {
	random := rand.New(rand.NewPCG(1, 2))
	for range topics {
		a = append(a, random.Float64())
		b = append(b, random.Float64())
	}
	return a, b
}

func BenchmarkWilcoxonExact(b *testing.B) {
	x, y := runs(50)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := significance.Wilcoxon(x, y); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRandomization7000(b *testing.B) {
	x, y := runs(7000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := significance.Randomization(steps.Of(b.Context()), x, y, 1, significance.Rounds); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBootstrap7000(b *testing.B) {
	x, _ := runs(7000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := significance.Bootstrap(steps.Of(b.Context()), x, 1, significance.Rounds); err != nil {
			b.Fatal(err)
		}
	}
}
