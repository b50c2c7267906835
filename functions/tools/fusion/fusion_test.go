package fusion_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"assay/functions/tools/fusion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

func text(name, content string) fusion.Run {
	return fusion.Run{{Name: name, Content: strings.NewReader(content)}}
}

// example returns two runs of a topic: a 10, b 6, c 2 and b 8, d 4, a 3.
func example() []fusion.Run {
	return []fusion.Run{text("r1", "t Q0 a 1 10 x\nt Q0 b 2 6 x\nt Q0 c 3 2 x\n"), text("r2", "t Q0 a 3 3 y\nt Q0 d 2 4 y\nt Q0 b 1 8 y\n")}
}

// fuse fuses runs and requires that Fuse returns no error.
func fuse(t rapid.TB, settings fusion.Options, runs ...fusion.Run) (string, []measure.Diagnostic) {
	t.Helper()
	var out strings.Builder
	diagnostics, err := fusion.Fuse(context.Background(), &out, settings, runs)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), diagnostics
}

// TestFuse_ByHand compares the example with scores calculated by hand for every method. Each method gives the order b, a, d, c.
// The normalized scores of the first run are for a, b and c, those of the second run for b, d and a:
//
//	min-max  1, 1/2, 0 and 1, 1/5, 0
//	sum      8/12, 4/12, 0 and 5/6, 1/6, 0
//	z-score  4, 0, -4 over the root of 32/3 and 3, -1, -2 over the root of 14/3
//	rank     1, 2/3, 1/3 and 1, 2/3, 1/3
func TestFuse_ByHand(t *testing.T) {
	first, second := math.Sqrt(32./3), math.Sqrt(14./3)
	type scores map[string]float64
	for _, c := range []struct {
		settings fusion.Options
		want     scores
	}{
		{fusion.Options{Method: fusion.ReciprocalRank}, scores{"a": 1./61 + 1./63, "b": 1./62 + 1./61, "c": 1. / 63, "d": 1. / 62}},
		{fusion.Options{Method: fusion.ReciprocalRank, K: 1}, scores{"a": 1./2 + 1./4, "b": 1./3 + 1./2, "c": 1. / 4, "d": 1. / 3}},
		{fusion.Options{Method: fusion.CombSUM, Normalization: fusion.Unchanged}, scores{"a": 13, "b": 14, "c": 2, "d": 4}},
		{fusion.Options{Method: fusion.CombSUM, Normalization: fusion.MinMax}, scores{"a": 1, "b": 1.5, "c": 0, "d": 0.2}},
		{fusion.Options{Method: fusion.CombMNZ, Normalization: fusion.MinMax}, scores{"a": 2, "b": 3, "c": 0, "d": 0.2}},
		{fusion.Options{Method: fusion.CombSUM, Normalization: fusion.Sum}, scores{"a": 8. / 12, "b": 4./12 + 5./6, "c": 0, "d": 1. / 6}},
		{fusion.Options{Method: fusion.CombSUM, Normalization: fusion.ZScore}, scores{"a": 4/first - 2/second, "b": 3 / second, "c": -4 / first,
			"d": -1 / second}},
		{fusion.Options{Method: fusion.CombMNZ, Normalization: fusion.Rank}, scores{"a": 2 * 4. / 3, "b": 2 * 5. / 3, "c": 1. / 3, "d": 2. / 3}},
	} {
		c.settings.Tag = "fused"
		t.Run(fmt.Sprint(c.settings), func(t *testing.T) {
			fused, diagnostics := fuse(t, c.settings, example()...)
			if diagnostics != nil {
				t.Fatal(diagnostics)
			}
			order := ""
			for i, line := range strings.Split(strings.TrimSuffix(fused, "\n"), "\n") {
				var doc string
				var rank int
				var score float64
				if _, err := fmt.Sscanf(line, "t Q0 %s %d %g fused", &doc, &rank, &score); err != nil || rank != i+1 {
					t.Errorf("%q: %v", line, err)
				}
				if math.Abs(score-c.want[doc]) > 1e-15 {
					t.Errorf("%s has %v, want %v", doc, score, c.want[doc])
				}
				order += doc
			}
			if order != "badc" {
				t.Errorf("order %s, want badc", order)
			}
		})
	}
}

func TestFuse_EqualScoresAreOrderedByID(t *testing.T) {
	fused, diagnostics := fuse(t, fusion.Options{Method: fusion.ReciprocalRank, Depth: 2, Tag: "f"},
		text("r1", "u Q0 a 1 2 x\nu Q0 b 2 1 x\nt Q0 e 1 1 x\n"), text("r2", "u Q0 b 1 2 x\nu Q0 a 2 1 x\nu Q0 c 3 0 x\n"))
	want := "t Q0 e 1 0.01639344262295082 f\nu Q0 b 1 0.03252247488101534 f\nu Q0 a 2 0.03252247488101534 f\n"
	if fused != want {
		t.Errorf("%v, got\n%s", diagnostics, fused)
	}
	if len(diagnostics) != 1 || diagnostics[0].File != "r2" || diagnostics[0].Severity != measure.Warning ||
		!strings.Contains(diagnostics[0].Message, `lacks 1 of 2 topics, of which "t"`) {
		t.Errorf("diagnostics %+v", diagnostics)
	}
}

// TestFuse_EqualSumsAreTies draws the ranks of documents in several runs and compares the fused scores with exact fractions. It
// also fuses scores for which 0.1 + 0.7 is less than 0.2 + 0.6 in float64.
func TestFuse_EqualSumsAreTies(t *testing.T) {
	docs := strings.Split("abcdefghijklmnopqrst", "")
	type fractions map[string]*big.Rat
	weights := map[fusion.Options]func(rank, n int64) *big.Rat{
		{Method: fusion.ReciprocalRank, K: 1}:                     func(rank, _ int64) *big.Rat { return big.NewRat(1, 1+rank) },
		{Method: fusion.ReciprocalRank}:                           func(rank, _ int64) *big.Rat { return big.NewRat(1, 60+rank) },
		{Method: fusion.CombSUM, Normalization: fusion.Rank}:      func(rank, n int64) *big.Rat { return big.NewRat(n-rank+1, n) },
		{Method: fusion.CombMNZ, Normalization: fusion.Rank}:      func(rank, n int64) *big.Rat { return big.NewRat(n-rank+1, n) },
		{Method: fusion.CombSUM, Normalization: fusion.MinMax}:    func(rank, n int64) *big.Rat { return big.NewRat(n-rank, n-1) },
		{Method: fusion.CombSUM, Normalization: fusion.Unchanged}: func(rank, _ int64) *big.Rat { return big.NewRat(100-rank, 10) },
	}
	nightlytest.Check(t, func(t *rapid.T) {
		drawn := make([][]string, rapid.IntRange(2, 4).Draw(t, "runs"))
		for i := range drawn {
			drawn[i] = rapid.Permutation(docs).Draw(t, "ranking")[:rapid.IntRange(2, len(docs)).Draw(t, "length")]
		}
		for settings, weight := range weights {
			sums, found := fractions{}, map[string]int64{}
			var runs []fusion.Run
			for _, ranking := range drawn {
				var lines strings.Builder
				for i, doc := range ranking {
					rank := int64(i + 1)
					fmt.Fprintf(&lines, "t Q0 %s 0 %.1f x\n", doc, float64(100-rank)/10)
					if sums[doc] == nil {
						sums[doc] = new(big.Rat)
					}
					sums[doc].Add(sums[doc], weight(rank, int64(len(ranking))))
					found[doc]++
				}
				runs = append(runs, text("r", lines.String()))
			}
			settings.Tag = "f"
			var got strings.Builder
			fused, _ := fuse(t, settings, runs...)
			order := slices.Collect(maps.Keys(sums))
			if settings.Method == fusion.CombMNZ {
				for doc, n := range found {
					sums[doc].Mul(sums[doc], big.NewRat(n, 1))
				}
			}
			slices.SortFunc(order, func(a, b string) int { return cmp.Or(sums[b].Cmp(sums[a]), cmp.Compare(b, a)) })
			scores := map[string]string{}
			for line := range strings.Lines(fused) {
				fields := strings.Fields(line)
				got.WriteString(fields[2])
				scores[fields[2]] = fields[4]
			}
			if want := strings.Join(order, ""); got.String() != want {
				t.Fatalf("%v: %s, want %s", settings, got.String(), want)
			}
			for i, doc := range order[1:] {
				if equal := sums[order[i]].Cmp(sums[doc]) == 0; equal != (scores[order[i]] == scores[doc]) {
					t.Fatalf("%v: %s and %s have %s and %s; equal: %v", settings, order[i], doc, scores[order[i]], scores[doc], equal)
				}
			}
		}
	})
}

// TestFuse_OfEqualScores fuses topics whose scores are all equal. Without special cases the normalizations would divide by zero.
func TestFuse_OfEqualScores(t *testing.T) {
	for normalization, want := range map[fusion.Normalization]string{
		fusion.MinMax: "t Q0 a 1 2 f\n", fusion.Sum: "t Q0 a 1 1 f\n", fusion.ZScore: "t Q0 a 3 0 f\n", fusion.Rank: "t Q0 a 3 1 f\n",
	} {
		same := "t Q0 a 1 0.1 x\nt Q0 b 1 0.1 x\n"
		got, _ := fuse(t, fusion.Options{Method: fusion.CombSUM, Normalization: normalization, Tag: "f"}, text("r1", same),
			text("r2", strings.ReplaceAll(same, "b", "c")))
		if !strings.Contains(got, want) {
			t.Errorf("%s: got\n%swant %s", normalization, got, want)
		}
	}
}

// TestFuse_IgnoresTheOrderOfRuns fuses scores whose compensated sum would still end in ...187 or ...188, depending on their
// order.
func TestFuse_IgnoresTheOrderOfRuns(t *testing.T) {
	scores := []string{"-0.9", "-0.4", "6654208060005189", "-0.2"}
	sum := func() string {
		all := lists.Map(scores, func(score string) fusion.Run { return text("r", "t Q0 a 1 "+score+" x\n") })
		got, diagnostics := fuse(t, fusion.Options{Method: fusion.CombSUM, Normalization: fusion.Unchanged, Tag: "f"}, all...)
		if diagnostics != nil {
			t.Fatal(diagnostics)
		}
		return got
	}
	want := sum()
	for i := range scores {
		for j := range scores {
			scores[i], scores[j] = scores[j], scores[i]
			if got := sum(); got != want {
				t.Errorf("%v gives %s, want %s", scores, got, want)
			}
		}
	}
}

func TestSettings_Check(t *testing.T) {
	for want, settings := range map[string]fusion.Options{
		"/normalization method rrf looks":                                {Method: fusion.ReciprocalRank, Normalization: fusion.Rank, Tag: "f"},
		"/k method combmnz has no k":                                     {Method: fusion.CombMNZ, Normalization: fusion.Rank, K: 60, Tag: "f"},
		`/method there is no method "vote"; use rrf, combsum or combmnz`: {Method: "vote", Normalization: fusion.Rank, Tag: "f"},
		`/normalization there is no normalization "x"`:                   {Method: fusion.CombSUM, Normalization: "x", Tag: "f"},
		"/k must be 1 or more":                                           {Method: fusion.ReciprocalRank, K: -60, Tag: "f"},
		"/depth must be 1":                                               {Method: fusion.ReciprocalRank, Depth: -1, Tag: "f"},
		`/tag the tag is ""`:                                             {Method: fusion.ReciprocalRank},
		`/tag the tag is "a b"`:                                          {Method: fusion.ReciprocalRank, Tag: "a b"},
		`/tag the tag is "a\x00"`:                                        {Method: fusion.ReciprocalRank, Tag: "a\x00"},
	} {
		if problems := settings.Check(); len(problems) != 1 || !strings.HasPrefix(problems[0].Pointer+" "+problems[0].Detail, want) {
			t.Errorf("%+v: %v, want %q", settings, problems, want)
		}
	}
}

func TestFuse_ReturnsErrorsOfFiles(t *testing.T) {
	settings := fusion.Options{Method: fusion.ReciprocalRank, Tag: "f"}
	errRead := errors.New("the connection is gone")
	if _, err := fusion.Fuse(t.Context(), io.Discard, settings, []fusion.Run{
		example()[0], {{Name: "r", Content: iotest.ErrReader(errRead)}}}); !errors.Is(err, errRead) {
		t.Errorf("of a reader: %v", err)
	}
	closed, out := io.Pipe()
	_ = closed.Close() // has no error
	if _, err := fusion.Fuse(t.Context(), out, settings, example()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("of the writer: %v", err)
	}
}

func TestFuse_DiagnosticsHaveLines(t *testing.T) {
	fused, diagnostics := fuse(t, fusion.Options{Method: fusion.ReciprocalRank, Tag: "f"},
		text("r1", "t Q0 a 1 x x\n"), text("r2", "t Q0 a 1 1 x\n\nt Q0 a 1 1 x\n"), text("r3", ""))
	if fused != "" {
		t.Errorf("got\n%s", fused)
	}
	measuretest.Expect(t, diagnostics, "r1:1 error: the score…", "r2:3 error: topic…", "r3 error: the file is empty…")
}

func TestFuse_RefusesScoresWithoutASum(t *testing.T) {
	run := "t Q0 a 1 1.7e308 x\nt Q0 b 1 -1.7e308 x\n"
	for _, normalization := range []fusion.Normalization{fusion.Unchanged, fusion.MinMax, fusion.Sum, fusion.ZScore} {
		_, diagnostics := fuse(t, fusion.Options{Method: fusion.CombSUM, Normalization: normalization, Tag: "f"}, text("r1", run),
			text("r2", run))
		if !measure.HasErrors(diagnostics) || !strings.Contains(diagnostics[0].Message, "no finite sum") {
			t.Errorf("%s: %v", normalization, diagnostics)
		}
	}
}

// TestFuse_WritesValidRuns draws runs with ties and checks what holds for every method. The result is a valid run. Its lines are
// in the order of the ranking. It has every document of each topic once. The order of the runs does not matter.
func TestFuse_WritesValidRuns(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		var runs []string
		union := map[string]bool{}
		for range rapid.IntRange(2, 4).Draw(t, "runs") {
			var b strings.Builder
			for _, id := range rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 1, 15, rapid.ID[int]).Draw(t, "documents") {
				line := fmt.Sprintf("t%d Q0 d%d", id%3, id/3)
				union[line] = true
				fmt.Fprintf(&b, "%s 0 %.1f x\n", line, float64(rapid.IntRange(-9, 9).Draw(t, "score"))/10)
			}
			runs = append(runs, b.String())
		}
		methods := []fusion.Method{fusion.ReciprocalRank, fusion.CombSUM, fusion.CombMNZ}
		settings := fusion.Options{Method: rapid.SampledFrom(methods).Draw(t, "method"), Tag: "f"}
		if settings.Method != fusion.ReciprocalRank {
			settings.Normalization = rapid.SampledFrom([]fusion.Normalization{
				fusion.Unchanged, fusion.MinMax, fusion.Sum, fusion.ZScore, fusion.Rank}).Draw(t, "normalization")
		}
		of := func(order []string) string {
			fused, diagnostics := fuse(t, settings, lists.Map(order, func(content string) fusion.Run { return text("r", content) })...)
			if measure.HasErrors(diagnostics) {
				t.Fatal(diagnostics)
			}
			return fused
		}
		got := of(runs)
		if other := of(rapid.Permutation(runs).Draw(t, "order")); other != got {
			t.Fatalf("in another order\n%sbut\n%s", other, got)
		}
		read, diagnostics, err := retrieval.ReadRankings(t.Context(), text("fused", got)...)
		if err != nil || read == nil {
			t.Fatal(diagnostics, err)
		}
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) != len(union) {
			t.Fatalf("%d lines of %d documents", len(lines), len(union))
		}
		for _, topic := range read.Topics() {
			rank := 0
			for doc := range read.Ranking(steps.Of(t.Context()), topic) {
				rank++
				at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, fmt.Sprintf("%s Q0 %s %d ", topic, doc, rank)) })
				if at != 0 {
					t.Fatalf("%s at rank %d of %s stands at line %d of\n%s", doc, rank, topic, at, got)
				}
				lines = lines[1:]
			}
		}
	})
}
