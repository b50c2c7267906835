package retrieval

import (
	"fmt"
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
	if !slices.Contains([]string{"alpha_nDCG", "nERR_IA", "nNRBP"}, m.Name) {
		return ""
	}
	ranks := measure.MaxIdeal
	if m.Depth() > 0 {
		ranks = m.Depth()
	}
	steps, starts := 0, q.subtopics.starts
	for _, t := range q.topics {
		steps += min(t.last-t.first, ranks) * (starts[t.last] - starts[t.first])
	}
	if p.idealSteps+steps > maxIdealSteps {
		return fmt.Sprintf("its ideal rankings, with those of the measures before it, take more than %d steps for so many judgments; "+
			"ask for fewer measures, or down to a higher rank", maxIdealSteps)
	}
	p.idealSteps += steps
	return ""
}

// discount is what a gain counts at a rank from 0.
type discount func(rank int) float64

func logarithmic(rank int) float64                      { return 1 / math.Log2(float64(rank+2)) }
func reciprocal(rank int) float64                       { return 1 / float64(rank+1) }
func (v *parameters) persistent(rank int) float64       { return math.Pow(v.beta, float64(rank)) }
func (v *parameters) relevantPart(p subtopicGrade) bool { return int(p.grade) >= v.rel }

// first are the documents down to the depth of the measure.
func (v *parameters) first(r *ranking) [][]subtopicGrade {
	if v.depth > 0 {
		return r.parts[:min(v.depth, len(r.parts))]
	}
	return r.parts
}

// relevantParts counts the relevant documents of each subtopic, and the subtopics that have some: no others count.
func (v *parameters) relevantParts(r *ranking) (documents []int, subtopics int) {
	documents = make([]int, r.subtopics)
	for _, parts := range r.truth {
		for _, p := range parts {
			if v.relevantPart(p) {
				if documents[p.subtopic]++; documents[p.subtopic] == 1 {
					subtopics++
				}
			}
		}
	}
	return documents, subtopics
}

// novelty is what the next document with a subtopic gains, from 1 on, for each subtopic.
type novelty []float64

func newNovelty(r *ranking) novelty {
	n := make(novelty, r.subtopics)
	for i := range n {
		n[i] = 1
	}
	return n
}

// gain is that of a document.
func (n novelty) gain(v *parameters, parts []subtopicGrade) (gain float64) {
	for _, p := range parts {
		if v.relevantPart(p) {
			gain += n[p.subtopic]
		}
	}
	return gain
}

// take makes the subtopics of a document worth less.
func (n novelty) take(v *parameters, parts []subtopicGrade, alpha float64) {
	for _, p := range parts {
		if v.relevantPart(p) {
			n[p.subtopic] *= 1 - alpha
		}
	}
}

// noveltyOf is the discounted gain of a ranking.
func (v *parameters) noveltyOf(r *ranking, alpha float64, at discount) (sum float64) {
	n := newNovelty(r)
	for rank, parts := range v.first(r) {
		if len(parts) > 0 {
			sum += n.gain(v, parts) * at(rank)
			n.take(v, parts, alpha)
		}
	}
	return sum
}

// noveltyShare divides the gain by that of documents that have all subtopics each.
func (v *parameters) noveltyShare(r *ranking, alpha float64, at discount) float64 {
	_, subtopics := v.relevantParts(r)
	best, gain := 0.0, float64(subtopics)
	for rank := range v.depth {
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
	n, best := newNovelty(r), 0.0
	taken := make([]bool, len(r.truth))
	for rank := range min(len(r.truth), measure.MaxIdeal) {
		if v.depth > 0 && rank == v.depth {
			break
		}
		next, most := -1, 0.0
		for i, parts := range r.truth {
			if taken[i] {
				continue
			}
			if gain := n.gain(v, parts); gain > 0 && gain >= most {
				next, most = i, gain
			}
		}
		if next < 0 {
			break
		}
		best += most * at(rank)
		n.take(v, r.truth[next], alpha)
		taken[next] = true
	}
	return measure.Ratio(v.noveltyOf(r, alpha, at), best)
}

// noveltyRankBiased is Clarke, Kolla and Vechtomova 2009.
func (v *parameters) noveltyRankBiased(r *ranking) float64 {
	_, subtopics := v.relevantParts(r)
	return share((1-(1-v.alpha)*v.beta)*v.noveltyOf(r, v.alpha, v.persistent), subtopics)
}

func (v *parameters) subtopicRecall(r *ranking) float64 {
	_, subtopics := v.relevantParts(r)
	covered, n := make([]bool, r.subtopics), 0
	for _, parts := range v.first(r) {
		for _, p := range parts {
			if v.relevantPart(p) && !covered[p.subtopic] {
				covered[p.subtopic] = true
				n++
			}
		}
	}
	return ratio(n, subtopics)
}

func (v *parameters) intentAwarePrecision(r *ranking) float64 {
	_, subtopics := v.relevantParts(r)
	n := 0
	for _, parts := range v.first(r) {
		for _, p := range parts {
			if v.relevantPart(p) {
				n++
			}
		}
	}
	return ratio(n, v.depth*subtopics)
}

func (v *parameters) intentAwareAP(r *ranking) float64 {
	documents, subtopics := v.relevantParts(r)
	found, sum := make([]int, r.subtopics), 0.0
	for rank, parts := range v.first(r) {
		for _, p := range parts {
			if v.relevantPart(p) {
				found[p.subtopic]++
				sum += float64(found[p.subtopic]) / float64(rank+1) / float64(documents[p.subtopic])
			}
		}
	}
	return share(sum, subtopics)
}
