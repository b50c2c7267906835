package retrieval

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/steps"
)

const (
	// satisfied is the probability that a reader who wants a subtopic stops at a document of the subtopic: (2^1 - 1) / 2^1. This is
	// ERR's formula with 1 as the highest grade.
	satisfied = 0.5
	// maxIdealSteps bounds the grades that one evaluation looks at to find ideal rankings.
	maxIdealSteps = bounds.IdealSteps
)

// addIdeal adds the steps for the ideal rankings of a measure. If they exceed maxIdealSteps, it returns the reason why the measure has no
// value.
func (p *plan) addIdeal(q *Qrels, m measure.Measure) (reason string) {
	n := q.idealSteps(m)
	if p.idealSteps+n > maxIdealSteps {
		return fmt.Sprintf("its ideal rankings, with those of the measures before it, take more than %d steps for so many judgments; "+
			"ask for fewer measures, or down to a higher rank", maxIdealSteps)
	}
	p.idealSteps += n
	return ""
}

// idealSteps returns the number of grades that finding the ideal rankings of a measure looks at. It is 0 for measures without ideal
// rankings.
func (q *Qrels) idealSteps(m measure.Measure) (n int) {
	if m.Name != "alpha_nDCG" && m.Name != "nERR_IA" {
		return 0
	}
	starts := q.subtopics.starts
	for _, t := range q.topics {
		n += min(t.last-t.first, m.Depth()) * (starts[t.last] - starts[t.first])
	}
	return n
}

// discount returns the weight of a gain at a rank, counted from 0.
type discount func(rank int) float64

func logarithmic(rank int) float64 { return 1 / math.Log2(float64(rank+2)) }
func reciprocal(rank int) float64  { return 1 / float64(rank+1) }

// subtopicsOf returns an iterator over the subtopics that a document is relevant for.
func (v *parameters) subtopicsOf(document []subtopicGrade) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, g := range document {
			if int(g.grade) >= v.rel && !yield(g.subtopic) {
				return
			}
		}
	}
}

// top returns the documents of the ranking down to the depth of the measure.
func (v *parameters) top(r *ranking) [][]subtopicGrade { return r.parts[:min(v.depth, len(r.parts))] }

// covered counts the subtopics that at least one of the documents is relevant for.
func (v *parameters) covered(r *ranking, documents [][]subtopicGrade) (n int) {
	seen := make([]bool, r.subtopics)
	for _, document := range documents {
		if r.counter.Add(1+len(document)) != nil {
			break
		}
		for s := range v.subtopicsOf(document) {
			if !seen[s] {
				seen[s] = true
				n++
			}
		}
	}
	return n
}

func (v *parameters) subtopicRecall(r *ranking) float64 {
	return ratio(v.covered(r, v.top(r)), v.covered(r, r.truth))
}

// noveltyOf returns the discounted gain of a ranking. A document gains (1 - alpha)^n for each of its subtopics, where n is the number of
// documents above it that are relevant for the subtopic.
func (v *parameters) noveltyOf(r *ranking, alpha float64, at discount) (sum float64) {
	worth := slices.Repeat([]float64{1}, r.subtopics) // what a document gains for each subtopic
	for rank, document := range v.top(r) {
		if r.counter.Add(1+len(document)) != nil {
			break
		}
		gain := 0.0
		for s := range v.subtopicsOf(document) {
			gain += worth[s]
			worth[s] *= 1 - alpha
		}
		sum += gain * at(rank)
	}
	return sum
}

// noveltyShare divides the gain of the ranking by the gain of documents that are relevant for every subtopic.
func (v *parameters) noveltyShare(r *ranking, alpha float64, at discount) float64 {
	best := 0.0
	gain := float64(v.covered(r, r.truth))
	for rank := range v.depth {
		if gain == 0 || r.counter.Add(1) != nil {
			break
		}
		best += gain * at(rank)
		gain *= 1 - alpha
	}
	return measure.Ratio(v.noveltyOf(r, alpha, at), best)
}

// noveltyOfIdeal divides the gain of the ranking by the gain of the ideal ranking. Like ndeval, it finds the ideal ranking greedily: the
// next document is always one with the greatest gain and, of several, the one with the last id. The result is invalid if the counter has
// an error.
func (v *parameters) noveltyOfIdeal(r *ranking, alpha float64, at discount) float64 {
	worth := slices.Repeat([]float64{1}, r.subtopics) // what a document gains for each subtopic
	unranked := slices.Clone(r.truth)
	ideal := 0.0
	for rank := range min(v.depth, len(unranked)) {
		best, gain := v.mostGain(r.counter, unranked, worth)
		if gain == 0 {
			break
		}
		ideal += gain * at(rank)
		for s := range v.subtopicsOf(unranked[best]) {
			worth[s] *= 1 - alpha
		}
		unranked[best] = nil
	}
	return measure.Ratio(v.noveltyOf(r, alpha, at), ideal)
}

// mostGain returns the last document with the greatest gain, and this gain. The gain is 0 if no document has any.
func (v *parameters) mostGain(counter *steps.Counter, documents [][]subtopicGrade, worth []float64) (best int, most float64) {
	for i, document := range documents {
		if counter.Add(1+len(document)) != nil {
			return 0, 0
		}
		gain := 0.0
		for s := range v.subtopicsOf(document) {
			gain += worth[s]
		}
		if gain >= most {
			best, most = i, gain
		}
	}
	return best, most
}
