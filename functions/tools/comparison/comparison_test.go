package comparison_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"assay/functions/tools/comparison"

	"pgregory.net/rapid"
)

// ranked makes a ranking of documents named by one letter each; a bracket holds documents of equal score.
func ranked(letters string) *comparison.Ranking {
	var documents []comparison.Document
	score, tied := 1000.0, false
	for _, c := range letters {
		switch c {
		case '(':
			tied = true
			score--
		case ')':
			tied = false
		default:
			if !tied {
				score--
			}
			documents = append(documents, comparison.Document{ID: string(c), Score: score})
		}
	}
	return comparison.NewRanking(documents)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestRanking_HasRanks(t *testing.T) {
	r := ranked("a(bc)")
	for id, want := range map[string]int{"a": 1, "b": 2, "c": 3, "d": 0, "": 0} {
		if got := r.Rank(id); got != want {
			t.Errorf("%q stands at %d, want %d", id, got, want)
		}
	}
}

func TestDifference_ByHand(t *testing.T) {
	first, second := ranked("abcdef"), ranked("acxbgf")
	want := comparison.Difference{
		Moved: []string{"c", "b"},
		Came:  []string{"x", "g"},
		Went:  []string{"d", "e"},
		Kept:  2,
	}
	if got := first.Difference(second, 6); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want = comparison.Difference{
		Moved: []string{"c"},
		Came:  []string{"x"},
		Went:  []string{"b"},
		Kept:  1,
	}
	if got := first.Difference(second, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("down to rank 3 %+v, want %+v", got, want)
	}
}

// rankings draws two rankings over few documents, with ties.
func rankings(t *rapid.T) (a, b *comparison.Ranking) {
	draw := func(name string) *comparison.Ranking {
		ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 14), 0, 12, rapid.ID[int]).Draw(t, name)
		score, documents := 100.0, []comparison.Document{}
		for _, id := range ids {
			score -= float64(rapid.IntRange(0, 1).Draw(t, "step"))
			documents = append(documents, comparison.Document{ID: fmt.Sprint(id), Score: score})
		}
		return comparison.NewRanking(documents)
	}
	return draw("a"), draw("b")
}

// TestDifference_CoversEveryDocument checks that the parts add up and that exchanging the rankings reverses them.
func TestDifference_CoversEveryDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rankings(t)
		depth := rapid.IntRange(1, 13).Draw(t, "depth")
		there, back := a.Difference(b, depth), b.Difference(a, depth)
		if n := len(there.Moved) + there.Kept; n+len(there.Went) != min(depth, a.Len()) || n+len(there.Came) != min(depth, b.Len()) {
			t.Fatalf("%d and %d documents give %+v", a.Len(), b.Len(), there)
		}
		if there.Kept != back.Kept || len(there.Moved) != len(back.Moved) || len(there.Came) != len(back.Went) {
			t.Fatalf("there %+v, back %+v", there, back)
		}
		for _, document := range there.Moved {
			if !slices.Contains(back.Moved, document) {
				t.Fatalf("%s is not in %+v", document, back.Moved)
			}
		}
	})
}

// BenchmarkCompare takes two rankings of 1,000 documents, half of them the same, through all that diffir asks.
func BenchmarkCompare(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	make1000 := func() []comparison.Document {
		ids := random.Perm(2000)[:1000]
		documents := make([]comparison.Document, len(ids))
		for i, id := range ids {
			documents[i] = comparison.Document{ID: fmt.Sprintf("document-%d", id), Score: float64(-i)}
		}
		return documents
	}
	first, second := make1000(), make1000()
	b.ReportAllocs()
	for b.Loop() {
		x, y := comparison.NewRanking(first), comparison.NewRanking(second)
		comparison.RankBiasedOverlap(x, y, 0.9)
		comparison.TauB(x, y)
		x.Difference(y, 1000)
	}
}
