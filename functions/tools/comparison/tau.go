package comparison

import "assay/shared/measure/regression"

// Tau is Kendall's tau of the documents that both rankings have (their intersection), over the strict orders: the
// number of pairs in the same order less that of pairs in the other, divided by the number of pairs. 1 is the same
// order, -1 the reverse. It is not defined for fewer than two documents in common, and then ok is false. (M. G.
// Kendall, A new measure of rank correlation, Biometrika 30, 1938.)
func Tau(a, b *Ranking) (tau float64, ok bool) {
	var x, y []float64
	for i, d := range a.documents {
		if at, common := b.places[d.ID]; common {
			x, y = append(x, float64(i)), append(y, float64(at))
		}
	}
	return tauB(x, y)
}

// TauB is Kendall's tau-b of the documents that either ranking has (their union). Documents of equal score are tied,
// and those that a ranking does not have are tied below all that it has, so that rankings of different documents
// are distinguished from rankings of the same. Pairs that both tie do not count, and those that one ties reduce the divisor
// to the geometric mean of the untied pairs of each. It is not defined when one ranking ties all the documents, and
// then ok is false. (M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.)
func TauB(a, b *Ranking) (tau float64, ok bool) {
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
	return tauB(x, y)
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

func tauB(x, y []float64) (float64, bool) {
	tau, reason := regression.Kendall(x, y)
	return tau, reason == ""
}
