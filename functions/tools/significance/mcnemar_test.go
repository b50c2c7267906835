package significance_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"assay/functions/tools/significance"
)

// discordant returns values of two runs that differ on the given numbers of examples, and agree on two more.
func discordant(first, second int) (a, b []float64) {
	for range first {
		a, b = append(a, 1), append(b, 0)
	}
	for range second {
		a, b = append(a, 0), append(b, 1)
	}
	return append(a, 0, 1), append(b, 0, 1)
}

// TestMcNemar_AgreesWithScipy checks 500 random cases from testdata/reference.py, with up to 20,000 pairs.
func TestMcNemar_AgreesWithScipy(t *testing.T) {
	text, err := os.ReadFile("testdata/mcnemar.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases [][3]float64
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 500 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		got, err := significance.McNemar(discordant(int(c[0]), int(c[1])))
		if err != nil || got.First != int(c[0]) || got.Second != int(c[1]) {
			t.Fatalf("%v: %+v, %v", c, got, err)
		}
		if math.Abs(got.P-c[2]) > 1e-9*c[2] {
			t.Errorf("%v and %v: p = %v, want %v", c[0], c[1], got.P, c[2])
		}
	}
}

func TestMcNemar_IsOfZerosAndOnes(t *testing.T) {
	for name, c := range map[string][2][]float64{
		"equal":    {{1, 0, 1}, {1, 0, 1}},
		"a share":  {{1, 0, 0.5}, {1, 0, 1}},
		"above 1":  {{1, 0}, {2, 0}},
		"negative": {{1, 0}, {-1, 0}},
		"none":     {{}, {}},
	} {
		if got, err := significance.McNemar(c[0], c[1]); !errors.Is(err, significance.ErrUndefined) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := significance.McNemar([]float64{1}, []float64{1, 0}); err == nil || errors.Is(err, significance.ErrUndefined) {
		t.Errorf("values that are not paired: %v", err)
	}
}
