// Package comparison measures how much two rankings of the same topic differ. Its coefficients are rank-biased overlap and
// Kendall's tau. It also finds the rank of a document.
//
// # Ties
//
// A ranking is a strict order: documents of equal score are in the order of their ids, as package
// assay/shared/computation/measure/retrieval defines. RankBiasedOverlap and Tau use this order. Only TauB looks at the scores, and counts
// documents of equal score as tied.
package comparison

import (
	"assay/shared/computation/measure/regression"
	"assay/shared/computation/measure/steps"
)

// Document is one document of a ranking.
type Document struct {
	ID    string
	Score float64
}

// Ranking holds the documents that a run retrieved for a topic, best first. It does not change, so several goroutines can compare
// it at once.
type Ranking struct {
	documents []Document
	places    map[string]int // index in documents by id
}

// NewRanking returns a ranking of the documents, which are distinct and best first. The caller must not change them afterwards.
func NewRanking(documents []Document) *Ranking {
	r := &Ranking{documents, make(map[string]int, len(documents))}
	for i, d := range documents {
		r.places[d.ID] = i
	}
	return r
}

// Len returns the number of documents.
func (r *Ranking) Len() int { return len(r.documents) }

// Rank returns the rank of a document, counted from 1. It returns 0 if the ranking does not have the document.
func (r *Ranking) Rank(id string) int {
	if i, ok := r.places[id]; ok {
		return i + 1
	}
	return 0
}

// RankBiasedOverlap returns the extrapolated rank-biased overlap of two rankings, from 0 (no document in common) to 1 (the same
// order). It is equation 32 of W. Webber, A. Moffat, J. Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4),
// 2010. It assumes that the agreement at the ends of the rankings continues below them. The rankings can have different lengths.
//
// p, above 0 and below 1, is the probability that the reader goes on to the next rank. The first ten ranks have 86 % of the
// weight for p = 0.9 and about 15 % for p = 0.99. Two empty rankings have overlap 1. An empty and a nonempty ranking have overlap
// 0.
func RankBiasedOverlap(a, b *Ranking, p float64) float64 {
	if a.Len() > b.Len() {
		a, b = b, a
	}
	short, long := a.Len(), b.Len()
	switch {
	case long == 0:
		return 1
	case short == 0:
		return 0
	}
	var (
		common   = 0 // documents that both rankings have down to the depth
		atShort  = 0 // value of common at the end of the shorter ranking
		weight   = 1.0
		sum      = 0.0
		sumShort = 0.0 // assumed part below the end of the shorter ranking
	)
	for i := range long {
		depth := i + 1
		if at, ok := a.places[b.documents[i].ID]; ok && at <= i {
			common++
		}
		if i < short {
			if at, ok := b.places[a.documents[i].ID]; ok && at < i {
				common++
			}
		}
		weight *= p
		sum += weight * float64(common) / float64(depth)
		if depth == short {
			atShort = common
		}
		if depth > short {
			sumShort += weight * float64(atShort) * float64(depth-short) / (float64(short) * float64(depth))
		}
	}
	tail := (float64(common-atShort)/float64(long) + float64(atShort)/float64(short)) * weight
	return max(0, min(1, (1-p)/p*(sum+sumShort)+tail))
}

// Tau returns Kendall's tau of the documents that both rankings have, over the strict orders. It is the number of pairs in the
// same order minus the number of pairs in opposite order, divided by the number of pairs. It is 1 for the same order and -1 for
// the reverse order. ok is false for fewer than two common documents. (M. G. Kendall, A new measure of rank correlation,
// Biometrika 30, 1938.)
func Tau(counter *steps.Counter, a, b *Ranking) (tau float64, ok bool) {
	var x, y []float64
	for i, d := range a.documents {
		if at, common := b.places[d.ID]; common {
			x, y = append(x, float64(i)), append(y, float64(at))
		}
	}
	return tauB(counter, x, y)
}

// TauB returns Kendall's tau-b of the documents that at least one ranking has. Documents of equal score are tied. Documents that
// a ranking lacks are tied below all its documents, so different documents count as a difference. Pairs that both rankings tie do
// not count. Pairs that one ranking ties reduce the divisor, which is the geometric mean of the untied pairs of each ranking. ok
// is false if a ranking ties all documents. (M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.)
func TauB(counter *steps.Counter, a, b *Ranking) (tau float64, ok bool) {
	inA, inB := a.groups(), b.groups()
	var x, y []float64
	for i, d := range a.documents {
		x = append(x, inA[i])
		if at, common := b.places[d.ID]; common {
			y = append(y, inB[at])
		} else {
			y = append(y, float64(b.Len()))
		}
	}
	for i, d := range b.documents {
		if _, common := a.places[d.ID]; !common {
			x, y = append(x, float64(a.Len())), append(y, inB[i])
		}
	}
	return tauB(counter, x, y)
}

// groups returns for each document the index of the first document with the same score.
func (r *Ranking) groups() []float64 {
	out := make([]float64, r.Len())
	for i := range out {
		out[i] = float64(i)
		if i > 0 && r.documents[i].Score == r.documents[i-1].Score {
			out[i] = out[i-1]
		}
	}
	return out
}

func tauB(counter *steps.Counter, x, y []float64) (float64, bool) {
	tau, reason := regression.Kendall(counter, x, y)
	return tau, reason == ""
}
