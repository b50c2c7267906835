package comparison_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay/functions/tools/comparison"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// ranked returns a ranking of documents. Each letter is a document, and parentheses enclose documents of equal score.
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

// documents is the number of different documents in the rankings.
const documents = 15

// rankings draws two rankings over few documents, with ties.
func rankings(t *rapid.T) (a, b *comparison.Ranking) {
	draw := func(name string) *comparison.Ranking {
		ids := rapid.SliceOfNDistinct(rapid.IntRange(0, documents-1), 0, 12, rapid.ID[int]).Draw(t, name)
		score, drawn := 100.0, []comparison.Document{}
		for _, id := range ids {
			score -= float64(rapid.IntRange(0, 1).Draw(t, "step"))
			drawn = append(drawn, comparison.Document{ID: fmt.Sprint(id), Score: score})
		}
		return comparison.NewRanking(drawn)
	}
	return draw("a"), draw("b")
}

// BenchmarkCompare computes all comparisons of the tool diffir for two rankings of 1,000 documents that share half of them.
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
		comparison.TauB(steps.Of(b.Context()), x, y)
	}
}

// TestRankBiasedOverlap_AgreesWithItsAuthor compares the alphabet with other rankings. The expected values are the six digits
// that William Webber's own program printed. github.com/mpetri/rbo (MIT) publishes them as test_data/uneven_abc.json.
func TestRankBiasedOverlap_AgreesWithItsAuthor(t *testing.T) {
	alphabet := ranked("abcdefghijklmnopqrstuvwxyz")
	for _, c := range []struct {
		other string
		p     float64
		want  float64
	}{
		{"afcmleivjhs", 0.1, 0.951493},
		{"av", 0.2, 0.900000},
		{"bcflzvq", 0.2, 0.105201},
		{"bcxhkur", 0.4, 0.212763},
		{"degczfbxkwnjutsirylmhpv", 0.4, 0.035780},
		{"afdqwtvehcpubinloygrs", 0.4, 0.782330},
		{"karfvodcjmwgzlypebunq", 0.9, 0.468431},
		{"zhatsimjpnkvcfxwqgoeryubd", 0.9, 0.364444},
		{"f", 0.9, 0.053090},
		{"zclx", 0.9, 0.233312},
		{"nxqyk", 0.9, 0.049050},
	} {
		if got := comparison.RankBiasedOverlap(alphabet, ranked(c.other), c.p); math.Abs(got-c.want) > 6e-7 {
			t.Errorf("overlap with %q at %v is %v, want %v", c.other, c.p, got, c.want)
		}
	}
}

func TestRankBiasedOverlap_ByHand(t *testing.T) {
	for _, c := range []struct {
		a, b string
		p    float64
		want float64
	}{
		// Figure 5 of Webber, Moffat and Zobel 2010, whose overlaps at depths 1 to 7 are 0, 0, 2, 2, 2, 2, 2.
		{"abcdefg", "zcavwxy", 0.9, 0.2882172857142857},
		// (0.1/0.9) (0.9 + 0.81/2 + 0.729) + 0.729
		{"abc", "acb", 0.9, 0.955},
		// Lengths 1 and 3: X is 1 at each depth, and all documents below the end of the first ranking are assumed to be common.
		{"a", "abc", 0.5, 1},
		// Lengths 2 and 3, p = 1/2: X = 0, 1, 2, and the assumed part of depth 3 is one half:
		// (1/4)/2 + (2/3)/8 + (1/6)/8 + (1/3 + 1/2)/8.
		{"ab", "cab", 0.5, 0.125 + 2./24 + 1./48 + 5./48},
		{"abc", "def", 0.9, 0},
		{"", "", 0.9, 1},
		{"", "a", 0.9, 0},
	} {
		for range 2 {
			if got := comparison.RankBiasedOverlap(ranked(c.a), ranked(c.b), c.p); !near(got, c.want) {
				t.Errorf("overlap of %q and %q at %v is %v, want %v", c.a, c.b, c.p, got, c.want)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

// TestRankBiasedOverlap_IsTheInfiniteSum compares with the definition of rank-biased overlap: (1-p) times the sum of p^(d-1)
// A(d). It adds terms until they vanish, with the assumed agreement A below the ends of the rankings.
func TestRankBiasedOverlap_IsTheInfiniteSum(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		a, b := rankings(t)
		p := rapid.Float64Range(0.05, 0.95).Draw(t, "p")
		got := comparison.RankBiasedOverlap(a, b, p)
		if back := comparison.RankBiasedOverlap(b, a, p); !near(got, back) {
			t.Fatalf("%v there, %v back", got, back)
		}
		short, long := min(a.Len(), b.Len()), max(a.Len(), b.Len())
		if short == 0 {
			return
		}
		common := func(depth int) float64 {
			n := 0.0
			for id := range documents {
				if inA, inB := a.Rank(fmt.Sprint(id)), b.Rank(fmt.Sprint(id)); inA*inB > 0 && max(inA, inB) <= depth {
					n++
				}
			}
			return n
		}
		want, weight := 0.0, 1-p
		for depth := 1; depth < 1000; depth++ {
			at := min(depth, long)
			agreement := common(at)
			if at > short {
				agreement += common(short) * float64(at-short) / float64(short)
			}
			want += weight * agreement / float64(at)
			weight *= p
		}
		if !near(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestTau_ByHand(t *testing.T) {
	type coefficient = func(counter *steps.Counter, a, b *comparison.Ranking) (float64, bool)
	for _, c := range []struct {
		name        string
		coefficient coefficient
		a, b        string
		want        float64 // NaN: not defined
	}{
		{"tau", comparison.Tau, "abcd", "abcd", 1},
		{"tau", comparison.Tau, "abcd", "dcba", -1},
		{"tau", comparison.Tau, "abcd", "acbd", 4. / 6}, // five pairs of six agree
		{"tau", comparison.Tau, "axbcy", "zcab", -1. / 3},
		{"tau", comparison.Tau, "ab", "bc", math.NaN()},
		{"tau", comparison.Tau, "", "", math.NaN()},
		{"tau-b", comparison.TauB, "abcd", "dcba", -1},
		// a and b are tied in the first ranking: 5 agreeing pairs, 6 - 1 and 6 untied pairs.
		{"tau-b", comparison.TauB, "(ab)cd", "abcd", 5 / math.Sqrt(30)},
		// {a b} and {c d}: pairs across the two sets disagree, and each ranking ties one pair.
		{"tau-b", comparison.TauB, "ab", "cd", -4 / 5.},
		// The union is a b c, and no ranking has ties: 2 agreeing pairs minus 1.
		{"tau-b", comparison.TauB, "abc", "ac", 1. / 3},
		// The example of scipy.stats.kendalltau: ranks 12 2 1 12 2 and 1 4 7 1 0.
		{"tau-b", comparison.TauB, "c(be)(ad)", "e(ad)bc", -0.4714045207910316},
		{"tau-b", comparison.TauB, "(ab)", "ab", math.NaN()},
		{"tau-b", comparison.TauB, "a", "", math.NaN()},
	} {
		if got, ok := c.coefficient(steps.Of(t.Context()), ranked(c.a), ranked(c.b)); ok == math.IsNaN(c.want) || ok && !near(got, c.want) {
			t.Errorf("%s of %q and %q is %v, %v; want %v", c.name, c.a, c.b, got, ok, c.want)
		}
	}
}

// TestTau_IsBoundedAndSymmetric also checks that a ranking agrees with itself.
func TestTau_IsBoundedAndSymmetric(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		a, b := rankings(t)
		for name, coefficient := range map[string]func(counter *steps.Counter, a, b *comparison.Ranking) (float64, bool){
			"tau": comparison.Tau, "tau-b": comparison.TauB} {
			there, ok := coefficient(steps.Of(t.Context()), a, b)
			if back, same := coefficient(steps.Of(t.Context()), b, a); ok != same || !near(there, back) {
				t.Fatalf("%s is %v there and %v back", name, there, back)
			}
			if math.IsNaN(there) || there < -1-1e-12 || there > 1+1e-12 {
				t.Fatalf("%s is %v", name, there)
			}
			if own, ok := coefficient(steps.Of(t.Context()), a, a); ok && !near(own, 1) {
				t.Fatalf("%s of a ranking with itself is %v", name, own)
			}
		}
	})
}
