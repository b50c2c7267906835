package regression_test

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/regression"
	"assay/shared/language/lists"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var everyMeasure = lists.Map(measure.EvaluatorOf(measure.Regression).Families, func(f measure.Family) string { return f.Name })

// precise computes with so many digits that rounding does not matter.
func precise(x float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(x) }

// double returns x as a float64, or infinity if x is too large.
func double(x *big.Float) float64 {
	v, _ := x.Float64()
	return v
}

// naiveMoments returns the sums of products of deviations from the means.
func naiveMoments(x, y []float64) (xx, yy, xy *big.Float) {
	meanOf := func(values []float64) *big.Float {
		sum := precise(0)
		for _, v := range values {
			sum.Add(sum, precise(v))
		}
		return sum.Quo(sum, precise(float64(len(values))))
	}
	meanX, meanY := meanOf(x), meanOf(y)
	xx = precise(0)
	yy = precise(0)
	xy = precise(0)
	for i := range x {
		dx := precise(0).Sub(precise(x[i]), meanX)
		dy := precise(0).Sub(precise(y[i]), meanY)
		xx.Add(xx, precise(0).Mul(dx, dx))
		yy.Add(yy, precise(0).Mul(dy, dy))
		xy.Add(xy, precise(0).Mul(dx, dy))
	}
	return xx, yy, xy
}

func naivePearson(x, y []float64) float64 {
	xx, yy, xy := naiveMoments(x, y)
	return double(xy.Quo(xy, xx.Sqrt(xx.Mul(xx, yy))))
}

// naiveRanks counts the values below each value, and the values equal to it.
func naiveRanks(xs []float64) []float64 {
	ranks := make([]float64, len(xs))
	for i, x := range xs {
		below, equal := 0, 0
		for _, other := range xs {
			if other < x {
				below++
			} else if other == x {
				equal++
			}
		}
		ranks[i] = float64(below) + float64(equal+1)/2
	}
	return ranks
}

func naiveKendall(x, y []float64) float64 {
	var score, inX, inY float64
	for i := range x {
		for j := range i {
			a, b := float64(cmp.Compare(x[i], x[j])), float64(cmp.Compare(y[i], y[j]))
			score += a * b
			inX += a * a
			inY += b * b
		}
	}
	return score / math.Sqrt(inX*inY)
}

func isConstant(xs []float64) bool { return slices.Min(xs) == slices.Max(xs) }

// naive evaluates the measures by their definitions. The result lacks measures that are not defined.
func naive(truth, predicted []float64) map[string]float64 {
	n := precise(float64(len(truth)))
	squares := precise(0)
	absolutes := precise(0)
	shares := precise(0)
	apart := precise(0)
	var errors []*big.Float
	defined := true // whether MAPE is: each share must be a float64
	for i := range truth {
		d := precise(0).Sub(precise(truth[i]), precise(predicted[i]))
		apart.Add(apart, d)
		squares.Add(squares, precise(0).Mul(d, d))
		errors = append(errors, precise(0).Abs(d))
		absolutes.Add(absolutes, precise(0).Abs(d))
		if truth[i] == 0 {
			defined = false
			continue
		}
		share := precise(0).Quo(precise(0).Abs(d), precise(math.Abs(truth[i])))
		defined = defined && !math.IsInf(double(share), 0)
		shares.Add(shares, share)
	}
	meanSquare := precise(0).Quo(squares, n)
	values := map[string]float64{
		"MSE":  double(meanSquare),
		"RMSE": double(precise(0).Sqrt(meanSquare)),
		"MAE":  double(absolutes.Quo(absolutes, n)),
	}
	slices.SortFunc(errors, (*big.Float).Cmp)
	middle := precise(0).Add(errors[len(errors)/2], errors[(len(errors)-1)/2])
	values["MedianAE"] = double(middle.Quo(middle, precise(2)))
	if defined {
		values["MAPE"] = double(shares.Quo(shares, n))
	}
	if len(truth) > 1 {
		xx, yy, xy := naiveMoments(truth, predicted)
		apart.Quo(apart.Mul(apart, apart), n) // n times the square of the mean difference
		if spread := xx.Add(xx.Add(xx, yy), apart); spread.Sign() > 0 {
			values["CCC"] = double(xy.Quo(xy.Mul(xy, precise(2)), spread))
		}
	}
	switch {
	case len(truth) < 2:
	case !isConstant(truth):
		spread, _, _ := naiveMoments(truth, truth)
		values["R2"] = double(precise(0).Sub(precise(1), squares.Quo(squares, spread)))
	case squares.Sign() == 0:
		values["R2"] = 1
	default:
		values["R2"] = 0
	}
	if !isConstant(truth) && !isConstant(predicted) {
		values["Pearson"] = naivePearson(truth, predicted)
		values["Spearman"] = naivePearson(naiveRanks(truth), naiveRanks(predicted))
		values["Kendall"] = naiveKendall(truth, predicted)
	}
	maps.DeleteFunc(values, func(_ string, value float64) bool { return math.IsInf(value, 0) })
	return values
}

func TestEvaluate_AgreesWithTheDefinitions(t *testing.T) {
	kinds := map[string]*rapid.Generator[float64]{
		"few values, many ties": rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) }),
		"usual":                 rapid.Float64Range(-1000, 1000),
		"a large offset":        rapid.Map(rapid.IntRange(0, 100), func(i int) float64 { return 1e15 + float64(i)/8 }),
		"almost constant":       rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return 1 + float64(i)*0x1p-52 }),
		"any":                   rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
		"very small":            rapid.Float64Range(-1e-300, 1e-300),
		"very large":            rapid.Float64Range(1e300, math.MaxFloat64),
	}
	asked := measuretest.Parse(t, measure.Regression, everyMeasure...)
	for name, numbers := range kinds {
		t.Run(name, func(t *testing.T) {
			nightlytest.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(1, 25).Draw(t, "n")
				truth := rapid.SliceOfN(numbers, n, n).Draw(t, "truth")
				predicted := rapid.SliceOfN(numbers, n, n).Draw(t, "predicted")
				want := naive(truth, predicted)
				got := regression.Evaluate(asked, truth, predicted)
				for _, name := range everyMeasure {
					value, defined := want[name]
					g, there := got.Measures[name]
					switch {
					case !there || defined != (g != nil) || defined == (got.Reasons[name] != ""):
						t.Fatalf("%s is %v (%q), want %v (defined: %v)", name, g, got.Reasons[name], value, defined)
					case defined && !(math.Abs(*g-value) <= max(1e-12*math.Abs(value), tolerance(name))):
						t.Fatalf("%s is %v, want %v", name, *g, value)
					}
				}
			})
		})
	}
}

// tolerance is absolute for measures of at most 1, because near 0 the rounding of the inputs' last bits has a large relative effect.
func tolerance(name string) float64 {
	switch name {
	case "MSE":
		return math.SmallestNonzeroFloat64
	case "RMSE", "MAE", "MedianAE", "MAPE":
		return 2 * math.SmallestNonzeroFloat64
	}
	return 1e-12
}

// TestEvaluate_IgnoresUnits measures the same data in units from 2^-900 to 2^900.
func TestEvaluate_IgnoresUnits(t *testing.T) {
	asked := measuretest.Parse(t, measure.Regression, everyMeasure...)
	evaluate := func(unit int) measure.Result {
		truth, predicted := []float64{1, 2.5, -3, 7, 4}, []float64{1.5, 2, -3, 8, 1}
		for i := range truth {
			truth[i] = math.Ldexp(truth[i], unit)
			predicted[i] = math.Ldexp(predicted[i], unit)
		}
		return regression.Evaluate(asked, truth, predicted)
	}
	plain := evaluate(0)
	for unit := -900; unit <= 900; unit += 10 {
		got := evaluate(unit)
		for _, name := range everyMeasure {
			want := *plain.Measures[name]
			switch name {
			case "MSE":
				want = math.Ldexp(want, 2*unit)
				if math.IsInf(want, 0) {
					continue
				}
			case "RMSE", "MAE", "MedianAE":
				want = math.Ldexp(want, unit)
			}
			if g := got.Measures[name]; g == nil || *g != want {
				t.Errorf("%s in the unit 2^%d is %v (%s), want %v", name, unit, g, got.Reasons[name], want)
			}
		}
	}
}

// TestEvaluate_OfVastDifferences evaluates differences beyond the range of doubles, with a mean within the range.
func TestEvaluate_OfVastDifferences(t *testing.T) {
	truth, predicted := make([]float64, 16), make([]float64, 16)
	truth[3], predicted[3] = math.MaxFloat64, -math.MaxFloat64
	got := regression.Evaluate(measuretest.Parse(t, measure.Regression, "RMSE", "MAE"), truth, predicted)
	for name, want := range map[string]float64{"RMSE": math.MaxFloat64 / 2, "MAE": math.MaxFloat64 / 8} {
		if g := got.Measures[name]; g == nil || *g != want {
			t.Errorf("%s is %v (%s), want %v", name, g, got.Reasons[name], want)
		}
	}
}

// TestEvaluate_KeepsSmallTerms adds a million terms, each of which is below the last digit of the first term.
func TestEvaluate_KeepsSmallTerms(t *testing.T) {
	const n = 1_000_000
	truth, predicted := make([]float64, n+1), make([]float64, n+1)
	for i := range predicted {
		predicted[i] = 1e-17
	}
	predicted[0] = 1
	want := (1 + n*1e-17) / (n + 1)
	if got := *regression.Evaluate(measuretest.Parse(t, measure.Regression, "MAE"), truth,
		predicted).Measures["MAE"]; math.Abs(got/want-1) > 1e-15 {
		t.Errorf("MAE is %v, want %v", got, want)
	}
}

func TestEvaluate_CorrelationsAreAtMostOne(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	asked := measuretest.Parse(t, measure.Regression, "Pearson", "Spearman", "Kendall")
	for range 2000 {
		truth, predicted := make([]float64, 5), make([]float64, 5)
		factor := random.NormFloat64()
		for i := range truth {
			truth[i] = random.NormFloat64()
			predicted[i] = truth[i] * factor
		}
		for name, value := range regression.Evaluate(asked, truth, predicted).Measures {
			if !(math.Abs(*value) <= 1) || math.Abs(*value) < 1-1e-12 {
				t.Fatalf("%s of %v and %v is %v", name, truth, predicted, *value)
			}
		}
	}
}

func TestEvaluate_GivesReasonsForUndefinedValues(t *testing.T) {
	tests := []struct {
		name             string
		truth, predicted []float64
		want             string
	}{
		{"R2", []float64{1}, []float64{2}, "it needs at least two examples"},
		{"Pearson", []float64{1}, []float64{1}, "it needs at least two examples"},
		{"Spearman", []float64{0.1, 0.1, 0.1}, []float64{1, 2, 3}, "all values of the truth are equal"},
		{"Kendall", []float64{1, 2, 3}, []float64{0.1, 0.1, 0.1}, "all predicted values are equal"},
		{"MSE", []float64{1e200}, []float64{0}, "its value is too large for a double-precision number"},
		{"R2", []float64{1, 2}, []float64{1e200, 2}, "its value is too large for a double-precision number"},
		{"RMSE", []float64{math.MaxFloat64}, []float64{-math.MaxFloat64}, "its value is too large for a double-precision number"},
	}
	for _, test := range tests {
		got := regression.Evaluate(measuretest.Parse(t, measure.Regression, test.name), test.truth, test.predicted)
		value, there := got.Measures[test.name]
		if !there || value != nil || got.Reasons[test.name] != test.want {
			t.Errorf("%s is %v (%q), want nil because %q", test.name, value, got.Reasons[test.name], test.want)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	const n = 1_000_000
	random := rand.New(rand.NewPCG(1, 2))
	truth, predicted := make([]float64, n), make([]float64, n)
	for i := range truth {
		truth[i] = random.NormFloat64()
		predicted[i] = truth[i] + random.NormFloat64()
	}
	for _, name := range everyMeasure {
		b.Run(name, func(b *testing.B) {
			asked := measuretest.Parse(b, measure.Regression, name)
			b.SetBytes(n * 16)
			for b.Loop() {
				regression.Evaluate(asked, truth, predicted)
			}
		})
	}
}

func TestEvaluate_AgreesWithScikitLearnAndScipy(t *testing.T) {
	ours := map[string]string{
		"mse": "MSE", "rmse": "RMSE", "mae": "MAE", "r2": "R2",
		"pearsonr": "Pearson", "spearmanr": "Spearman", "kendalltau": "Kendall",
	}
	measuretest.References(t, 11, func(t *testing.T, truthFile, runFile measure.File, reference map[string]any) {
		var report measure.Report
		format := measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "value"}
		truth, err := predictions.ReadGold(t.Context(), format, predictions.Numbers, []measure.File{truthFile}, &report)
		if err != nil {
			t.Fatal(err)
		}
		run, err := truth.ReadRun(t.Context(), []measure.File{runFile}, &report)
		if err != nil || report.Failed() {
			t.Fatal(err, report.Diagnostics())
		}
		for theirs, name := range ours {
			result := regression.Evaluate(measuretest.Parse(t, measure.Regression, name), truth.Numbers(), run.Numbers())
			measuretest.CheckValue(t, result, name, reference[theirs])
		}
	})
}
