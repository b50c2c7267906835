package pooling_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools/pooling"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// read reads a run and requires that it has no errors.
func read(t *testing.T, text string) *retrieval.Rankings {
	t.Helper()
	r, diagnostics, err := retrieval.ReadRankings(t.Context(), measuretest.File("run", text))
	if err != nil || r == nil {
		t.Fatal(diagnostics, err)
	}
	return r
}

// TestPool_AgreesWithSets compares pools of up to 100 runs with maps of sets.
func TestPool_AgreesWithSets(t *testing.T) {
	nightlytest.Check(t, func(rt *rapid.T) {
		depth := rapid.IntRange(1, 5).Draw(rt, "depth")
		var pool pooling.Pool
		var sets []map[string]bool
		all := map[string]bool{}
		for range rapid.IntRange(1, pooling.MaxRuns).Draw(rt, "runs") {
			set, text := map[string]bool{}, strings.Builder{}
			for topic := range rapid.IntRange(1, 3).Draw(rt, "topics") {
				for i, doc := range rapid.SliceOfNDistinct(rapid.IntRange(0, 20), 1, 8, rapid.ID).Draw(rt, "documents") {
					fmt.Fprintf(&text, "t%d Q0 d%d 0 %d x\n", topic, doc, -i)
					if i < depth {
						line := fmt.Sprintf("t%d d%d\n", topic, doc)
						set[line], all[line] = true, true
					}
				}
			}
			sets = append(sets, set)
			if err := pool.Add(steps.Of(t.Context()), read(t, text.String()), depth); err != nil {
				rt.Fatal(err)
			}
		}
		var file bytes.Buffer
		if err := pool.Write(&file, pool.Topics(cmp.Compare[string]), false); err != nil {
			rt.Fatal(err)
		}
		if want := strings.Join(slices.Sorted(maps.Keys(all)), ""); file.String() != want {
			rt.Fatalf("the pool is\n%swant\n%s", file.String(), want)
		}
		counts := pool.Count(steps.Of(t.Context()))
		for i, a := range sets {
			unique := 0
			for line := range a {
				if !slices.ContainsFunc(slices.Concat(sets[:i], sets[i+1:]), func(b map[string]bool) bool { return b[line] }) {
					unique++
				}
			}
			if counts.Unique[i] != unique {
				rt.Errorf("run %d has %d documents alone, want %d", i, counts.Unique[i], unique)
			}
			for j, b := range sets {
				common, either := 0, maps.Clone(a)
				for line := range b {
					either[line] = true
					if a[line] {
						common++
					}
				}
				if counts.Common[i][j] != common || counts.Overlap(i, j) != float64(common)/float64(len(either)) {
					rt.Errorf("runs %d and %d: %d, %v", i, j, counts.Common[i][j], counts.Overlap(i, j))
				}
			}
		}
	})
}

func TestPool_IsBounded(t *testing.T) {
	var lines strings.Builder
	for doc := range 100_000 {
		fmt.Fprintf(&lines, "t Q0 d%d 0 1 x\n", doc)
	}
	run, one := read(t, lines.String()), read(t, "t Q0 a 0 1 x\n")
	var pool, wide pooling.Pool
	for range 10 {
		if err := pool.Add(steps.Of(t.Context()), run, 100_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.Add(steps.Of(t.Context()), one, 1); !errors.Is(err, pooling.ErrContributions) {
		t.Errorf("more documents: %v", err)
	}
	for range pooling.MaxRuns {
		if err := wide.Add(steps.Of(t.Context()), one, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := wide.Add(steps.Of(t.Context()), one, 1); err == nil {
		t.Error("more runs were taken")
	}
}
