// Package comparison says how much two rankings of the same topic differ, as one number from either of two well-known
// coefficients, and where a document stands in a ranking.
//
// # Ties
//
// A ranking is a strict order, as a run is once documents of equal score stand in the order of their ids
// (assay/shared/measure/retrieval says which). RankBiasedOverlap and Tau take it as it stands; TauB alone
// looks at the scores again and counts documents of equal score as tied.
package comparison

import (
	"assay/shared/measure/regression"
	"assay/shared/measure/steps"
)

// Document is one document of a ranking.
type Document struct {
	ID    string
	Score float64
}

// Ranking has the documents that one run retrieved for one topic, best first. It does not change, so that it can be compared with
// several others at the same time.
type Ranking struct {
	documents []Document
	places    map[string]int // index in documents by id
}

// NewRanking takes documents, best first and each once. They must not be changed afterwards.
func NewRanking(documents []Document) *Ranking {
	r := &Ranking{documents, make(map[string]int, len(documents))}
	for i, d := range documents {
		r.places[d.ID] = i
	}
	return r
}

// Len is the number of documents.
func (r *Ranking) Len() int { return len(r.documents) }

// Rank is where a document stands, counted from 1; 0 means that the ranking does not have it.
func (r *Ranking) Rank(id string) int {
	if i, ok := r.places[id]; ok {
		return i + 1
	}
	return 0
}

// RankBiasedOverlap is the extrapolated rank-biased overlap of two rankings, from 0 (no document in common) to 1 (the
// same order): equation 32 of W. Webber, A. Moffat, J. Zobel, A similarity measure for indefinite rankings, ACM TOIS
// 28(4), 2010. It supposes that agreement goes on below the ends of the rankings as it is at them, and is defined for
// rankings of different lengths.
//
// p, above 0 and below 1, is the chance that the reader goes on to the next rank: the first ten ranks have 86 % of the
// weight at 0.9 and about 15 % at 0.99. Both rankings empty have overlap 1; one empty and the other not, 0.
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
		common   = 0 // documents that the first depth of both have
		atShort  = 0 // as many at the end of the shorter one
		weight   = 1.0
		sum      = 0.0
		sumShort = 0.0 // what is supposed below the end of the shorter one
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

// Tau is Kendall's tau of the documents that both rankings have (their intersection), over the strict orders: the
// number of pairs in the same order less that of pairs in the other, divided by the number of pairs. 1 is the same
// order, -1 the reverse. It is not defined for fewer than two documents in common, and then ok is false. (M. G.
// Kendall, A new measure of rank correlation, Biometrika 30, 1938.)
func Tau(counter *steps.Counter, a, b *Ranking) (tau float64, ok bool) {
	var x, y []float64
	for i, d := range a.documents {
		if at, common := b.places[d.ID]; common {
			x, y = append(x, float64(i)), append(y, float64(at))
		}
	}
	return tauB(counter, x, y)
}

// TauB is Kendall's tau-b of the documents that either ranking has (their union). Documents of equal score are tied,
// and those that a ranking does not have are tied below all that it has, so that rankings of different documents
// are distinguished from rankings of the same. Pairs that both tie do not count, and those that one ties reduce the divisor
// to the geometric mean of the untied pairs of each. It is not defined when one ranking ties all the documents, and
// then ok is false. (M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.)
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

// groups has, for each document, the index of the first with its score.
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
