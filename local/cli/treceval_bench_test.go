package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"assay/shared/computation/measure/measuretest"
)

// BenchmarkTrecEval runs trec_eval and this program in turn on the same files. It reports the medians of the ratios of their times, on the
// clock and of processors. Both must print the same.
func BenchmarkTrecEval(b *testing.B) {
	peer, err := exec.LookPath("trec_eval")
	if err != nil {
		b.Skip("there is no trec_eval on the path, to compare with")
	}
	program := built(b, "local/cli")
	for _, size := range []struct{ mb, topics int }{{5, 140}, {50, 1390}, {263, 7000}} {
		b.Run(fmt.Sprint(size.mb, "MB"), func(b *testing.B) {
			run, qrels, _ := measuretest.Ranked(b, size.topics)
			measures := []string{"-m", "map", "-m", "ndcg_cut.10", "-m", "recip_rank", "-m", "P.10", "-m", "recall.1000", qrels, run}
			var clock, processors []float64
			for b.Loop() {
				wallPeer, cpuPeer, want := timed(b, peer, measures...)
				wall, cpu, got := timed(b, program, append([]string{"eval", "--trec"}, measures...)...)
				if !bytes.Equal(got, want) {
					b.Fatalf("%s\nwant\n%s", got, want)
				}
				clock = append(clock, float64(wall)/float64(wallPeer))
				processors = append(processors, float64(cpu)/float64(cpuPeer))
			}
			b.ReportMetric(median(clock), "clock/trec_eval")
			b.ReportMetric(median(processors), "processors/trec_eval")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return (list[len(list)/2] + list[(len(list)-1)/2]) / 2
}

func timed(b *testing.B, program string, args ...string) (wall, processors time.Duration, out []byte) {
	b.Helper()
	command, start := exec.CommandContext(b.Context(), program, args...), time.Now()
	out, err := command.Output()
	if err != nil {
		b.Fatalf("%s: %v: %s", program, err, out)
	}
	return time.Since(start), command.ProcessState.UserTime() + command.ProcessState.SystemTime(), out
}
