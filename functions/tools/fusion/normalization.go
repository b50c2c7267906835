package fusion

import (
	"math"

	"assay/shared/measure"
)

// Normalization says how the scores that a run has for a topic are made comparable with those of other runs. In the
// definitions s is a score, and min, max, mean and deviation are those of the run's n documents of the topic.
type Normalization string

const (
	// Unchanged takes scores as they are, as Fox and Shaw 1994 did with runs of one system.
	Unchanged Normalization = "none"
	// MinMax is (s - min) / (max - min), from 0 to 1 (J. H. Lee, Analyses of multiple evidence combination, SIGIR 1997);
	// 1 when all scores are equal.
	MinMax Normalization = "min-max"
	// Sum is (s - min) divided by the sum of all s - min, so that a run's scores add up to 1 (M. Montague, J. A. Aslam,
	// Relevance score normalization for metasearch, CIKM 2001); 1 / n when all scores are equal.
	Sum Normalization = "sum"
	// ZScore is (s - mean) / deviation, with n in the divisor of the variance (the zero-mean, unit-variance of the
	// same); 0 when all scores are equal. It is negative for the worse half of a run.
	ZScore Normalization = "z-score"
	// Rank is 1 - (rank - 1) / n, from 1 down to 1 / n (Lee 1997).
	Rank Normalization = "rank"
)

// Normalizations lists every normalization.
func Normalizations() []Normalization { return []Normalization{Unchanged, MinMax, Sum, ZScore, Rank} }

// apply normalizes the scores of one ranking, best first, in place.
func (n Normalization) apply(scores []float64) {
	if len(scores) == 0 {
		return
	}
	size, highest, lowest := float64(len(scores)), scores[0], scores[len(scores)-1]
	equal := highest == lowest
	switch n {
	case Unchanged:
	case MinMax:
		for i, s := range scores {
			scores[i] = ratio(s-lowest, highest-lowest, 1)
		}
	case Sum:
		var sum measure.Sum
		for _, s := range scores {
			sum.Add(s - lowest)
		}
		total := sum.Total()
		for i, s := range scores {
			scores[i] = ratio(s-lowest, total, 1/size)
		}
	case ZScore:
		var sum, squares measure.Sum
		for _, s := range scores {
			sum.Add(s)
		}
		mean := sum.Total() / size
		for _, s := range scores {
			squares.Add((s - mean) * (s - mean))
		}
		deviation := math.Sqrt(squares.Total() / size)
		for i, s := range scores {
			if scores[i] = ratio(s-mean, deviation, 0); equal {
				scores[i] = 0 // although the mean may be rounded
			}
		}
	case Rank:
		for i := range scores {
			scores[i] = (size - float64(i)) / size
		}
	}
}

// ratio is part / whole, and otherwise what stands for it when there is no spread.
func ratio(part, whole, otherwise float64) float64 {
	if whole == 0 {
		return otherwise
	}
	return part / whole
}
