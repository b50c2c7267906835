package retrieval

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"assay/shared/measure"
)

const (
	// satisfied is the chance that a reader who wants a subtopic stops at a document of it: (2^1 - 1) / 2^1, as ERR has it of the grade 1.
	satisfied = 0.5
	// maxIdealSteps bounds how many grades are looked at for them in one evaluation, to about half a minute. The Web tracks, with 50 topics
	// of 500 judgments, take a hundredth of it for three measures down to rank 1000.
	maxIdealSteps = 5_000_000_000
)

// addIdeal counts what the ideal rankings of a measure take, if it has some, and returns the reason why it has no value when that is too
// much.
func (p *plan) addIdeal(q *Qrels, m measure.Measure) (reason string) {
	steps := q.idealSteps(m)
	if p.idealSteps+steps > maxIdealSteps {
		return fmt.Sprintf("its ideal rankings, with those of the measures before it, take more than %d steps for so many judgments; "+
			"ask for fewer measures, or down to a higher rank", maxIdealSteps)
	}
	p.idealSteps += steps
	return ""
}

// idealSteps returns how many grades are looked at for the ideal rankings of a measure; 0 if it has none.
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

// discount is what a gain counts at a rank from 0.
type discount func(rank int) float64

func logarithmic(rank int) float64 { return 1 / math.Log2(float64(rank+2)) }
func reciprocal(rank int) float64  { return 1 / float64(rank+1) }

// subtopicsOf goes through those that a document is relevant for.
func (v *parameters) subtopicsOf(document []subtopicGrade) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, g := range document {
			if int(g.grade) >= v.rel && !yield(g.subtopic) {
				return
			}
		}
	}
}

// first are the documents down to the depth of the measure.
func (v *parameters) first(r *ranking) [][]subtopicGrade { return r.parts[:min(v.depth, len(r.parts))] }

// covered counts the subtopics that a document is relevant for.
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
	return ratio(v.covered(r, v.first(r)), v.covered(r, r.truth))
}

// noveltyOf is the discounted gain of a ranking. A document gains 1 for each of its subtopics, less alpha for each before it.
func (v *parameters) noveltyOf(r *ranking, alpha float64, at discount) (sum float64) {
	worth := slices.Repeat([]float64{1}, r.subtopics)
	for rank, document := range v.first(r) {
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

// noveltyShare divides the gain by that of documents that have all subtopics each.
func (v *parameters) noveltyShare(r *ranking, alpha float64, at discount) float64 {
	best, gain := 0.0, float64(v.covered(r, r.truth))
	for rank := range v.depth {
		if r.counter.Add(1) != nil {
			break
		}
		best += gain * at(rank)
		if gain *= 1 - alpha; gain == 0 {
			break
		}
	}
	return measure.Ratio(v.noveltyOf(r, alpha, at), best)
}

// noveltyOfIdeal divides the gain by that of the ideal ranking, which is found as ndeval finds it: the document of most gain comes next,
// of equal ones that with the last id.
func (v *parameters) noveltyOfIdeal(r *ranking, alpha float64, at discount) float64 {
	worth := slices.Repeat([]float64{1}, r.subtopics)
	left := slices.Clone(r.truth)
	best := 0.0
	for rank := range min(v.depth, len(left)) {
		next, most := -1, 0.0
		for i, document := range left {
			if r.counter.Add(1+len(document)) != nil {
				return 0
			}
			gain := 0.0
			for s := range v.subtopicsOf(document) {
				gain += worth[s]
			}
			if gain > 0 && gain >= most {
				next, most = i, gain
			}
		}
		if next < 0 {
			break
		}
		best += most * at(rank)
		for s := range v.subtopicsOf(left[next]) {
			worth[s] *= 1 - alpha
		}
		left[next] = nil // taken
	}
	return measure.Ratio(v.noveltyOf(r, alpha, at), best)
}
