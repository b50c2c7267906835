package tools

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"assay/functions/tools/comparison"
	"assay/functions/tools/inputs"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// changes compares two runs down to a depth. Each letter of a run is a document.
func changes(depth int, first, second string) DiffirTopic {
	rankings := make([]ranking, 2)
	for i, letters := range []string{first, second} {
		for _, c := range letters {
			rankings[i].documents = append(rankings[i].documents, comparison.Document{ID: string(c)})
		}
		rankings[i].Ranking = comparison.NewRanking(rankings[i].documents)
	}
	t := DiffirTopic{Comparisons: make([]DiffirComparison, 1)}
	w := diffirWork{in: DiffirInput{Depth: depth}, runs: []*inputs.Run{{Name: "first"}, {Name: "second"}}}
	w.showTopic(steps.Of(context.Background()), &t, rankings, nil)
	return t
}

func TestDiffirChanges_ByHand(t *testing.T) {
	for depth, want := range map[int]string{
		6: "{Kept:2 Moved:2 Came:2 Went:2} kept moved came moved came kept, went de",
		3: "{Kept:1 Moved:1 Came:1 Went:1} kept moved came, went b",
	} {
		shown := changes(depth, "abcdef", "acxbgf")
		var words []string
		for _, d := range shown.Rankings[1] {
			words = append(words, d.Change)
		}
		went := ""
		for _, d := range shown.Rankings[0] {
			if len(d.Went) > 0 {
				went += d.Document
			}
		}
		if got := fmt.Sprintf("%+v %s, went %s", *shown.Comparisons[0].Shown, strings.Join(words, " "), went); got != want {
			t.Errorf("down to rank %d %s, want %s", depth, got, want)
		}
	}
}

// The numbers of changes add up, and exchanging the rankings reverses them.
func TestDiffirChanges_CoverEveryDocument(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		draw := func(name string) string {
			return string(rapid.SliceOfNDistinct(rapid.RuneFrom([]rune("abcdefghijklmno")), 0, 12, rapid.ID[rune]).Draw(t, name))
		}
		a := draw("a")
		b := draw("b")
		depth := rapid.IntRange(1, 13).Draw(t, "depth")
		there := *changes(depth, a, b).Comparisons[0].Shown
		back := *changes(depth, b, a).Comparisons[0].Shown
		if n := there.Moved + there.Kept; n+there.Went != min(depth, len(a)) || n+there.Came != min(depth, len(b)) {
			t.Fatalf("%s and %s give %+v", a, b, there)
		}
		if back != (DiffirChanges{Kept: there.Kept, Moved: there.Moved, Came: there.Went, Went: there.Came}) {
			t.Fatalf("there %+v, back %+v", there, back)
		}
	})
}
