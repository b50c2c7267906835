package clustering_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/clustering"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var everyMeasure = []string{"VMeasure", "VMeasure(beta=2)", "Homogeneity", "Completeness", "ARI", "NMI", "BCubedF", "BCubedP", "BCubedR",
	"Purity"}

// TestEvaluate_EqualsTheReference evaluates 500 random clusterings. The values are scikit-learn's; BCubed and purity follow their
// definitions.
func TestEvaluate_EqualsTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Truth, Predicted []int32
		Values           map[string]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 500 {
		t.Fatal(len(cases), err)
	}
	asked := measuretest.Parse(t, measure.Clustering, everyMeasure...)
	for i, c := range cases {
		got := clustering.Evaluate(asked, 6, c.Truth, c.Predicted).Measures
		if len(c.Values) != len(everyMeasure) {
			t.Fatal(len(c.Values))
		}
		for name, want := range c.Values {
			if got[name] == nil || math.Abs(*got[name]-want) > 1e-9 {
				t.Errorf("case %d: %s is %v, want %v", i, name, got[name], want)
			}
		}
	}
}

// TestEvaluate_KnowsNoNames checks that renaming clusters and reordering examples change no value, and that equal clusterings have the
// value 1.
func TestEvaluate_KnowsNoNames(t *testing.T) {
	asked := measuretest.Parse(t, measure.Clustering, everyMeasure...)
	nightlytest.Check(t, func(t *rapid.T) {
		const clusters = 5
		code := rapid.Int32Range(0, clusters-1)
		truth := rapid.SliceOfN(code, 1, 40).Draw(t, "truth")
		predicted := rapid.SliceOfN(code, len(truth), len(truth)).Draw(t, "predicted")
		names := rapid.Permutation([]int32{0, 1, 2, 3, 4}).Draw(t, "names")
		order := make([]int, len(truth))
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		var moved, renamed []int32
		for _, i := range order {
			moved, renamed = append(moved, truth[i]), append(renamed, names[predicted[i]])
		}
		one := clustering.Evaluate(asked, clusters, truth, predicted)
		other := clustering.Evaluate(asked, clusters, moved, renamed)
		same := clustering.Evaluate(asked, clusters, moved, moved)
		for name, x := range one.Measures {
			if math.IsNaN(*x) || *x > 1 || math.Abs(*x-*other.Measures[name]) > 1e-12 {
				t.Errorf("%s is %v, and %v of the same with other names", name, *x, *other.Measures[name])
			}
			if math.Abs(*same.Measures[name]-1) > 1e-12 {
				t.Errorf("%s of equal clusterings is %v", name, *same.Measures[name])
			}
		}
	})
}

func TestEvaluate_VMeasureOfHomogeneityAlone(t *testing.T) {
	asked := measuretest.Parse(t, measure.Clustering, "VMeasure(beta=0)", "Homogeneity", "Completeness")
	got := clustering.Evaluate(asked, 2, []int32{0, 0}, []int32{0, 1}).Measures
	for name, want := range map[string]float64{"VMeasure(beta=0.0)": 0, "Homogeneity": 1, "Completeness": 0} {
		if got[name] == nil || *got[name] != want {
			t.Errorf("%s is not %v", name, want)
		}
	}
}

// TestComputation_ReadsClusters reads a truth and a run that have no cluster name in common.
func TestComputation_ReadsClusters(t *testing.T) {
	format := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "cluster"}
	file := func(rows ...string) []measure.File {
		return []measure.File{measuretest.File("clusters.csv", "id,cluster\n"+strings.Join(rows, "\n")+"\n")}
	}
	truth, diagnostics, err := clustering.Computation.ReadTruth(t.Context(), format, measure.Options{},
		measuretest.Parse(t, measure.Clustering, "ARI"),
		file("a,1", "b,1", "c,2"))
	if err != nil || len(diagnostics) > 0 {
		t.Fatal(diagnostics, err)
	}
	e, err := truth.Evaluate(t.Context(), file("c,x", "b,y", "a,y"))
	if err != nil || len(e.Diagnostics) > 0 || *e.Result.Measures["ARI"] != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = truth.Evaluate(t.Context(), file("c,x", "b,y"))
	if err != nil || !slices.ContainsFunc(measuretest.Lines(e.Diagnostics), func(line string) bool {
		return strings.Contains(line, `there is no prediction for 1 of 3 ids of the truth: "a"`)
	}) {
		t.Errorf("%v, %v", e.Diagnostics, err)
	}
	if truth.Known(false, true) != nil {
		t.Error("names of clusters are compared")
	}
}

// TestComputation_OfManyClusters has pairs of items as true clusters, and predicts a cluster for each item. The values are scikit-learn's.
func TestComputation_OfManyClusters(t *testing.T) {
	const n = 24_000
	format := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "cluster"}
	var pairs, single strings.Builder
	pairs.WriteString("id,cluster\n")
	single.WriteString("id,cluster\n")
	for i := range n {
		fmt.Fprintf(&pairs, "%d,c%d\n", i, i/2)
		fmt.Fprintf(&single, "%d,c%d\n", i, i)
	}
	asked := measuretest.Parse(t, measure.Clustering, "Homogeneity", "Completeness", "NMI", "ARI")
	truth, diagnostics, err := clustering.Computation.ReadTruth(t.Context(), format, measure.Options{}, asked,
		[]measure.File{measuretest.File("truth", pairs.String())})
	if err != nil || truth == nil || truth.Extent != "24000 examples in 12000 clusters" {
		t.Fatal(truth, diagnostics, err)
	}
	e, err := truth.Evaluate(t.Context(), []measure.File{measuretest.File("run", single.String())})
	if err != nil || measure.HasErrors(e.Diagnostics) {
		t.Fatal(e, err)
	}
	for name, want := range map[string]float64{"Homogeneity": 1, "Completeness": 0.9312750050049298, "NMI": 0.9644147028170673, "ARI": 0} {
		if got := *e.Result.Measures[name]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func BenchmarkEvaluate_Million(b *testing.B) {
	const n, clusters = 1_000_000, 10_000
	truth, predicted := make([]int32, n), make([]int32, n)
	for i := range truth {
		truth[i], predicted[i] = int32(i*7919%clusters), int32(i*104729%(clusters/2))
	}
	asked := measuretest.Parse(b, measure.Clustering, everyMeasure...)
	for b.Loop() {
		clustering.Evaluate(asked, clusters, truth, predicted)
	}
}
