package retrieval

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// reference is a random run and truth, with the values of other programs by topic. The topic "all" has the values of the whole run.
type reference struct {
	Qrels, Run string
	Values     map[string]map[string]float64
}

// references reads a file that a script in testdata wrote.
func references(t *testing.T, path string) (cases []reference) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(unpacked).Decode(&cases); err != nil || len(cases) != 500 {
		t.Fatal(len(cases), err)
	}
	return cases
}

// compare evaluates the runs of the cases, and compares all their values.
func compare(t *testing.T, kind measure.Kind, computation measure.Computation, cases []reference) {
	t.Helper()
	compared := map[string]int{}
	for i, c := range cases {
		asked := measuretest.Parse(t, kind, slices.Collect(maps.Keys(c.Values["all"]))...)
		truth, diagnostics, err := computation.ReadTruth(t.Context(), measure.Format{}, measure.Options{}, asked,
			[]measure.File{measuretest.File("qrels", c.Qrels)})
		if err != nil || truth == nil {
			t.Fatal(i, diagnostics, err)
		}
		e, err := truth.Evaluate(t.Context(), []measure.File{measuretest.File("run", c.Run)})
		if err != nil || e.Result.Measures == nil || len(e.Result.PerTopic) != len(c.Values)-1 {
			t.Fatal(i, e, err)
		}
		for topic, values := range c.Values {
			for name, want := range values {
				got := e.Result.PerTopic[topic][name]
				if topic == "all" {
					got = *e.Result.Measures[name]
				}
				if !(math.Abs(got-want) < 1e-9) {
					t.Errorf("case %d: %s of %s is %v, want %v", i, name, topic, got, want)
				}
				compared[name]++
			}
		}
	}
	t.Logf("values compared: %v", compared)
}

// TestEvaluate_EqualsTheReference compares with values of trec_eval and ir-measures, with all their decimals.
func TestEvaluate_EqualsTheReference(t *testing.T) {
	compare(t, measure.Retrieval, Computation, references(t, "testdata/random/reference.json.gz"))
}

// TestDiversity_EqualsTheReference compares with values of ndeval, with all their decimals.
func TestDiversity_EqualsTheReference(t *testing.T) {
	compare(t, measure.Diversity, Diversity, references(t, "testdata/diversity/reference.json.gz"))
}
