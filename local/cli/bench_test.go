package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkStart runs the released program, from its start to its exit, on a run of 1 KB. Its size is a metric.
func BenchmarkStart(b *testing.B) {
	folder, program := b.TempDir(), built(b, "local/cli")
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	var judged, found strings.Builder
	for i := range 36 {
		fmt.Fprintf(&judged, "%d 0 document-%02d %d\n", i%3, i, i%2)
		fmt.Fprintf(&found, "%d Q0 document-%02d %d %d run\n", i%3, i, i/3+1, 36-i)
	}
	qrels := filepath.Join(folder, "qrels.txt")
	run := filepath.Join(folder, "run.txt")
	for path, content := range map[string]string{qrels: judged.String(), run: found.String()} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("the run has %d bytes", found.Len())
	for name, args := range map[string][]string{
		"eval": {"eval", qrels, run, "nDCG@10", "AP"}, "trec": {"eval", "--trec", qrels, run}, "version": {"version"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.CommandContext(b.Context(), program, args...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB")
		})
	}
}
