package retrieval

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
)

// readTruth expects qrels without a diagnostic.
func readTruth(t testing.TB, files ...measure.File) *Qrels {
	t.Helper()
	q, diagnostics, err := ReadQrels(t.Context(), files...)
	if err != nil || diagnostics != nil {
		t.Fatalf("ReadQrels: %v, %v", diagnostics, err)
	}
	return q
}

// line is one value that trec_eval printed.
type line struct {
	name, topic string
	value       float64
}

// printed reads the output of trec_eval, with the names of ir-measures.
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
		m, err := measure.Parse(measure.Retrieval, fields[0])
		if err != nil {
			continue // it has no equivalent here
		}
		value, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, line{m.String(), fields[1], value})
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
			expected := printed(t, output)
			seen := map[string]bool{}
			var names []string
			for _, l := range expected {
				if !seen[l.name] {
					seen[l.name] = true
					names = append(names, l.name)
				}
			}
			if len(names) != 65 {
				t.Fatalf("only %d measures to compare", len(names))
			}
			truth := readTruth(t, measuretest.Open(t, filepath.Join(filepath.Dir(output), "qrels.txt")))
			run := measuretest.Open(t, strings.Replace(output, ".trec_eval.", ".run.", 1))
			result, diagnostics, err := truth.Evaluate(t.Context(), measuretest.Parse(t, measure.Retrieval, names...), run)
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

// TestEvaluate_JudgedAgreesWithTrecEval compares Judged@k with 1 - unj_k where the run has at least k documents: it divides by the
// lesser of k and the number of documents, trec_eval by k.
func TestEvaluate_JudgedAgreesWithTrecEval(t *testing.T) {
	truth := readTruth(t, measuretest.Open(t, "testdata/trec-eval-graded/qrels.txt"))
	result, diagnostics, err := truth.Evaluate(t.Context(), measuretest.Parse(t, measure.Retrieval, "Judged@5", "Judged@10", "Judged@20"), measuretest.Open(t, "testdata/trec-eval-graded/graded.run.txt"))
	if err != nil || result.Measures == nil {
		t.Fatalf("%v, %v", diagnostics, err)
	}
	f, err := os.Open("testdata/trec-eval-graded/graded.trec_eval.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compared := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		k, ok := strings.CutPrefix(fields[0], "unj_")
		if !ok {
			continue
		}
		want, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		got := *result.Measures["Judged@"+k]
		if fields[1] != "all" {
			got = result.PerTopic[fields[1]]["Judged@"+k]
		}
		if math.Abs(1-got-want) > 5e-5+1e-9 {
			t.Errorf("Judged@%s of %s is %v, want 1 - %v", k, fields[1], got, want)
		}
		compared++
	}
	if compared != 12 {
		t.Errorf("compared %d values", compared)
	}
}
