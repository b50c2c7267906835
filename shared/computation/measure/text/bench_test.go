package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// summaries writes files with n texts of 40 to 80 words in lines of about twelve, and two references for each.
func summaries(n int) (truth, run []byte) {
	random := rand.New(rand.NewPCG(1, 2)) // the same files each time
	syllables := strings.Fields("la re mi ton ver sol qua ning er pre con si ta do wor ment al ity un")
	var words []string
	for range 3000 {
		word := ""
		for range 1 + random.IntN(4) {
			word += syllables[random.IntN(len(syllables))]
		}
		words = append(words, word)
	}
	text := func(base []string) string {
		var b strings.Builder
		for i, word := range base {
			if random.IntN(4) == 0 {
				word = words[int(float64(len(words))*math.Pow(random.Float64(), 3))]
			}
			b.WriteString(word)
			b.WriteString(map[bool]string{false: " ", true: ".\n"}[i%12 == 11])
		}
		return b.String()
	}
	var truths, runs bytes.Buffer
	for i := range n {
		var base []string
		for range 40 + random.IntN(41) {
			base = append(base, words[int(float64(len(words))*math.Pow(random.Float64(), 3))])
		}
		references, _ := json.Marshal([]string{text(base), text(base)})
		fmt.Fprintf(&truths, "{\"id\": %d, \"text\": %s}\n", i, references)
		fmt.Fprintf(&runs, "{\"id\": %d, \"text\": %q}\n", i, text(base))
	}
	return truths.Bytes(), runs.Bytes()
}

// BenchmarkPython measures the same files with Python and with this package in turn. It reports the shortest time of the package as a share
// of the shortest time of Python, without Python's start. The times are so short that other work on the machine would move medians. Both
// programs read the files, and their values must be equal.
func BenchmarkPython(b *testing.B) {
	const script = "testdata/speed.py"
	truth, run := summaries(500)
	folder := b.TempDir()
	truthPath := filepath.Join(folder, "truth.jsonl")
	runPath := filepath.Join(folder, "run.jsonl")
	if os.WriteFile(truthPath, truth, 0o600) != nil || os.WriteFile(runPath, run, 0o600) != nil {
		b.Fatal("no files")
	}
	if out, err := exec.CommandContext(b.Context(), "python3", script, "BLEU", truthPath, runPath).CombinedOutput(); err != nil {
		b.Skipf("there is no Python with sacrebleu and rouge-score on the path, to compare with: %v: %s", err, out)
	}
	for _, name := range []string{"TokenF1", "ROUGE1", "ROUGE2(stem=True)", "ROUGEL", "ROUGELsum", "BLEU", "chrF", "chrF(word_order=2)"} {
		asked := measuretest.Parse(b, measure.Text, name)
		b.Run(name, func(b *testing.B) {
			mine, others := math.Inf(1), math.Inf(1)
			for b.Loop() {
				out, err := exec.CommandContext(b.Context(), "python3", script, name, truthPath, runPath).Output()
				var peer struct{ Value, Seconds float64 }
				if err != nil || json.Unmarshal(out, &peer) != nil {
					b.Fatalf("%s, %v", out, err)
				}
				start := time.Now()
				if got := evaluateFiles(b, asked, truth, run); math.Abs(got-peer.Value) > 1e-9 {
					b.Fatalf("%s is %v, and %v in Python", name, got, peer.Value)
				}
				mine, others = min(mine, time.Since(start).Seconds()), min(others, peer.Seconds)
			}
			b.ReportMetric(mine/others, "clock/python")
		})
	}
}

func evaluateFiles(b *testing.B, asked []measure.Measure, truth, run []byte) float64 {
	b.Helper()
	read, _, err := Computation.ReadTruth(b.Context(), format, measure.Options{}, asked,
		[]measure.File{{Name: "truth", Content: bytes.NewReader(truth)}})
	if err != nil {
		b.Fatal(err)
	}
	e, err := read.Evaluate(b.Context(), []measure.File{{Name: "run", Content: bytes.NewReader(run)}})
	if err != nil {
		b.Fatal(err)
	}
	return *e.Result.Measures[asked[0].String()]
}

func BenchmarkEvaluate(b *testing.B) {
	truth, run := summaries(2000)
	for _, name := range everyMeasure {
		asked := measuretest.Parse(b, measure.Text, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(truth) + len(run)))
			b.ReportAllocs()
			for b.Loop() {
				evaluateFiles(b, asked, truth, run)
			}
		})
	}
}
