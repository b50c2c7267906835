package comparison

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
