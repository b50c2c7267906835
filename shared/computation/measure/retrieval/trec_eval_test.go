//go:build !race

package retrieval

import (
	"bufio"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// line is one value that trec_eval printed.
type line struct {
	name, topic string
	value       float64
}

// printed reads the output of trec_eval 10.0.
func printed(t *testing.T, path string) []line {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []line
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if value, err := strconv.ParseFloat(fields[2], 64); err == nil { // and not the name of the run
			list = append(list, line{fields[0], fields[1], value})
		}
	}
	return list
}

func TestEvaluate_AgreesWithTrecEval(t *testing.T) {
	outputs, err := filepath.Glob("testdata/*/*.trec_eval.txt")
	if err != nil || len(outputs) != 7 {
		t.Fatalf("found %v, %v", outputs, err)
	}
	for _, output := range outputs {
		t.Run(filepath.Base(output), func(t *testing.T) {
			names, expected := map[string]bool{}, []line{}
			for _, l := range printed(t, output) {
				if m, err := measure.Parse(measure.Retrieval, l.name); err == nil { // others have no equivalent here
					l.name = m.String()
					names[l.name], expected = true, append(expected, l)
				}
			}
			if len(names) < 65 {
				t.Fatalf("%d measures to compare", len(names))
			}
			truth := readTruth(t, measuretest.Open(t, filepath.Join(filepath.Dir(output), "qrels.txt")))
			run := measuretest.Open(t, strings.Replace(output, ".trec_eval.", ".run.", 1))
			result, diagnostics, err := truth.Evaluate(t.Context(), measuretest.Parse(t, measure.Retrieval, slices.Collect(maps.Keys(names))...),
				run)
			if err != nil || result.Measures == nil {
				t.Fatalf("%v, %v", diagnostics, err)
			}
			for _, l := range expected {
				got := math.NaN()
				if l.topic == "all" {
					if v := result.Measures[l.name]; v != nil {
						got = *v
					}
				} else if v, ok := result.PerTopic[l.topic][l.name]; ok {
					got = v
				}
				if !(math.Abs(got-l.value) <= 5e-5+1e-9) {
					t.Errorf("%s of %s is %v, want %v", l.name, l.topic, got, l.value)
				}
			}
			t.Logf("compared %d values of %d measures", len(expected), len(names))
		})
	}
}
