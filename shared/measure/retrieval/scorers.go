package retrieval

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"assay/shared/measure"
	"assay/shared/measure/steps"
)

// ranking is one topic of a run as the measures see it: the grades of its documents by rank.
type ranking struct {
	counter *steps.Counter // if it has an error, values are of no use
	grades  []int16        // unjudged where the truth does not have the document
	judged  []int16        // the same without unjudged documents and negative grades, when the plan needs it
	ideal   []int16        // all grades of the truth, the highest first
	// Of diversity qrels: the grades by subtopic of each document of the ranking, and of each of the truth by id; how many subtopics
	// there are.
	parts, truth [][]subtopicGrade
	subtopics    int
}

// relevant is how many documents of the truth have at least this grade: R.
func (r *ranking) relevant(rel int) int {
	return sort.Search(len(r.ideal), func(i int) bool { return int(r.ideal[i]) < rel })
}

// scorer computes a measure of one topic. It gives 0 where a formula would divide by zero.
type scorer func(v *parameters, r *ranking) float64

// counts are the measures that are summed over the topics.
var counts = map[string]bool{"NumQ": true, "NumRet": true, "NumRel": true}

// scorers has an entry for each family of retrieval and of diversity. Formulas of retrieval are those of trec_eval 10.0
// unless a parameter says otherwise.
var scorers = map[string]scorer{
	"nDCG":    (*parameters).ndcg,
	"AP":      (*parameters).averagePrecision,
	"GMAP":    func(v *parameters, r *ranking) float64 { return max(v.averagePrecision(r), leastAP) },
	"RR":      (*parameters).reciprocalRank,
	"P":       func(v *parameters, r *ranking) float64 { return ratio(v.relevantFound(r), v.depth) },
	"R":       (*parameters).recall,
	"Rprec":   (*parameters).rPrecision,
	"Bpref":   (*parameters).bpref,
	"infAP":   (*parameters).inferredAP,
	"Success": func(v *parameters, r *ranking) float64 { return float64(min(v.relevantFound(r), 1)) },
	"IPrec":   (*parameters).interpolated,
	"IAP":     (*parameters).interpolatedAverage,
	"SetP":    (*parameters).setPrecision,
	"SetR":    (*parameters).recall,
	"SetF":    (*parameters).setF,
	"SetAP":   (*parameters).setAveragePrecision,
	"Judged":  func(v *parameters, r *ranking) float64 { return ratio(v.relevantFound(r), len(v.considered(r))) },
	"RBP":     (*parameters).rankBiased,
	"ERR":     (*parameters).expectedReciprocalRank,
	"Compat":  (*parameters).compatibility,
	"NumQ":    func(*parameters, *ranking) float64 { return 1 },
	"NumRet":  (*parameters).retrieved,
	"NumRel":  func(v *parameters, r *ranking) float64 { return float64(r.relevant(v.rel)) },

	"alpha_DCG":  func(v *parameters, r *ranking) float64 { return v.noveltyShare(r, v.alpha, logarithmic) },
	"alpha_nDCG": func(v *parameters, r *ranking) float64 { return v.noveltyOfIdeal(r, v.alpha, logarithmic) },
	"ERR_IA":     func(v *parameters, r *ranking) float64 { return v.noveltyShare(r, satisfied, reciprocal) },
	"nERR_IA":    func(v *parameters, r *ranking) float64 { return v.noveltyOfIdeal(r, satisfied, reciprocal) },
	"StRecall":   (*parameters).subtopicRecall,
}

// parameters is how a measure looks at a ranking. Parameters that the measure does not have are zero.
type parameters struct {
	rel         int // least relevant grade
	depth       int // ranks below it are not looked at; 0: all are
	judgedOnly  bool
	exponential bool    // gains are 2^grade - 1
	relative    bool    // precision is relative to the number of relevant documents where that is less
	level       float64 // of recall
	beta        float64
	persistence float64 // chance that the reader goes on to the next document
	highest     int16   // grade of the truth
	gains       map[int]float64
	normalize   bool
	alpha       float64 // what an earlier document of a subtopic takes away
}

func (q *Qrels) view(m measure.Measure) *parameters {
	return &parameters{
		rel: int(m.Number("rel")), depth: m.Depth(), judgedOnly: m.Flag("judged_only"), exponential: m.Param("dcg") == "exp-log2",
		relative: m.Flag("relative"), level: m.Recall(), beta: m.Number("beta"), persistence: m.Number("p"), highest: q.highest,
		gains: m.Gains("gains"), normalize: m.Flag("normalize"), alpha: m.Number("alpha"),
	}
}

// considered returns the documents that count for the measure, and counts a step for each: formulas go through them once.
func (v *parameters) considered(r *ranking) []int16 {
	list := r.grades
	if v.judgedOnly {
		list = r.judged
	}
	if v.depth > 0 {
		list = list[:min(v.depth, len(list))]
	}
	if r.counter.Add(len(list)) != nil {
		return nil
	}
	return list
}

// relevantFound is how many relevant documents the measure sees.
func (v *parameters) relevantFound(r *ranking) int {
	n := 0
	for _, g := range v.considered(r) {
		if int(g) >= v.rel {
			n++
		}
	}
	return n
}

func ratio(part, whole int) float64 { return share(float64(part), whole) }

func share(sum float64, whole int) float64 { return measure.Ratio(sum, float64(whole)) }

func (v *parameters) setPrecision(r *ranking) float64 {
	retrieved := len(v.considered(r))
	if v.relative {
		retrieved = min(retrieved, r.relevant(v.rel))
	}
	return ratio(v.relevantFound(r), retrieved)
}

// setAveragePrecision is precision times recall, divided once as in trec_eval, whose fourth decimal another order can change.
func (v *parameters) setAveragePrecision(r *ranking) float64 {
	found := float64(v.relevantFound(r))
	of := float64(len(v.considered(r))) * float64(r.relevant(v.rel))
	return measure.Ratio(found*found, of)
}

func (v *parameters) recall(r *ranking) float64 { return ratio(v.relevantFound(r), r.relevant(v.rel)) }

const (
	// leastAP is what an AP below counts as in the geometric mean, as in trec_eval.
	leastAP = 0.00001
	// maxERRGrade is the highest grade of gdeval, whose ERR this is.
	maxERRGrade = 4
	// maxExponent keeps sums of gains of 2^grade finite.
	maxExponent = 900
)

func (v *parameters) averagePrecision(r *ranking) float64 {
	found, sum := 0, 0.0
	for i, g := range v.considered(r) {
		if int(g) >= v.rel {
			found++
			sum += float64(found) / float64(i+1)
		}
	}
	return share(sum, r.relevant(v.rel))
}

func (v *parameters) reciprocalRank(r *ranking) float64 {
	for i, g := range v.considered(r) {
		if int(g) >= v.rel {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// gain of a document of the grade. Exponential gains are those of gdeval, 2^grade - 1.
func (v *parameters) gain(grade int16) float64 {
	if own, ok := v.gains[int(grade)]; ok {
		return own
	}
	switch {
	case grade <= 0:
		return 0
	case v.exponential:
		return math.Exp2(float64(grade)) - 1
	}
	return float64(grade)
}

// ndcg cuts the ideal ranking, which is one of positive gains, at the depth too.
func (v *parameters) ndcg(r *ranking) float64 {
	ideal := r.ideal
	if v.gains != nil && r.counter.Add(len(ideal)) == nil {
		byGrade := slices.Collect(equalGrades(ideal))
		slices.SortStableFunc(byGrade, func(a, b []int16) int { return cmp.Compare(v.gain(b[0]), v.gain(a[0])) })
		ideal = slices.Concat(byGrade...)
	}
	best, sum := 0.0, 0.0
	for i, g := range (&parameters{depth: v.depth}).considered(&ranking{counter: r.counter, grades: ideal}) {
		best += max(0, v.gain(g)) / math.Log2(float64(i+2))
	}
	if best == 0 {
		return 0
	}
	for i, g := range v.considered(r) {
		if gain := v.gain(g); gain != 0 {
			sum += gain / math.Log2(float64(i+2))
		}
	}
	return sum / best
}

// equalGrades goes through the parts of descending grades that are equal.
func equalGrades(descending []int16) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		for from := 0; from < len(descending); {
			to := from + 1
			for to < len(descending) && descending[to] == descending[from] {
				to++
			}
			if !yield(descending[from:to]) {
				return
			}
			from = to
		}
	}
}

func (v *parameters) rPrecision(r *ranking) float64 {
	relevant := r.relevant(v.rel)
	return ratio((&parameters{rel: v.rel, depth: relevant, judgedOnly: v.judgedOnly}).relevantFound(r), relevant)
}

// bpref is Buckley and Voorhees 2004 as trec_eval bounds it: no more than min(N, R) non-relevant documents count,
// where N is the number of judged documents that are not relevant.
func (v *parameters) bpref(r *ranking) float64 {
	relevant := r.relevant(v.rel)
	bound := min(r.relevant(0)-relevant, relevant)
	above, sum := 0, 0.0
	for _, g := range v.considered(r) {
		switch {
		case int(g) >= v.rel && above == 0:
			sum++
		case int(g) >= v.rel:
			sum += 1 - float64(min(above, relevant))/float64(bound)
		case g >= 0:
			above++
		}
	}
	return share(sum, relevant)
}

// inferredAP is Yilmaz and Aslam 2006. A document with a negative grade was in the pool but not in the sample that
// was judged; one that the truth does not have was not in the pool.
func (v *parameters) inferredAP(r *ranking) float64 {
	const epsilon = 0.00001
	found := 0.0
	judged := 0.0
	pooled := 0.0
	sum := 0.0 // above the rank; judged includes found, pooled includes judged
	for i, g := range v.considered(r) {
		above := float64(i)
		switch {
		case g == unjudged:
			continue
		case int(g) >= v.rel && i == 0:
			sum++
		case int(g) >= v.rel:
			sum += 1/(above+1) + above/(above+1)*(pooled/above)*((found+epsilon)/(judged+2*epsilon))
		}
		if int(g) >= v.rel {
			found++
		}
		if g >= 0 {
			judged++
		}
		pooled++
	}
	return share(sum, r.relevant(v.rel))
}

// interpolated is the best precision at any rank with at least the wanted share of the relevant documents, a number
// that trec_eval 10 rounds to the nearest.
func (v *parameters) interpolated(r *ranking) float64 { return v.interpolatedAt(r, v.level)[0] }

// interpolatedAverage adds the levels from the last one on, as trec_eval does.
func (v *parameters) interpolatedAverage(r *ranking) float64 {
	sum := 0.0
	levels := v.interpolatedAt(r, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0)
	for _, precision := range levels {
		sum += precision
	}
	return sum / float64(len(levels))
}

// interpolatedAt returns the interpolated precision at levels that fall.
func (v *parameters) interpolatedAt(r *ranking, levels ...float64) []float64 {
	list := v.considered(r)
	values := make([]float64, len(levels))
	relevant := float64(r.relevant(v.rel))
	found := v.relevantFound(r)
	best := 0.0
	next := 0
	for rank := len(list); rank > 0; rank-- {
		for next < len(levels) && int(math.Round(levels[next]*relevant)) > found {
			values[next] = best
			next++
		}
		best = max(best, float64(found)/float64(rank))
		if int(list[rank-1]) >= v.rel {
			found--
		}
	}
	for ; next < len(levels); next++ {
		values[next] = best
	}
	return values
}

// rankBiased is Moffat and Zobel 2008. Without a least relevant grade the gain of a document is its grade as a share
// of the highest that the truth has.
func (v *parameters) rankBiased(r *ranking) float64 {
	sum, weight := 0.0, 1-v.persistence
	for _, g := range v.considered(r) {
		switch {
		case v.rel > 0 && int(g) >= v.rel:
			sum += weight
		case v.rel == 0 && g > 0:
			sum += weight * float64(g) / float64(v.highest)
		}
		weight *= v.persistence
	}
	return sum
}

// expectedReciprocalRank is Chapelle et al. 2009: a reader goes down the ranking and stops at a document of grade g
// with chance (2^g - 1) / 2^4.
func (v *parameters) expectedReciprocalRank(r *ranking) float64 {
	sum, reading := 0.0, 1.0
	for i, g := range v.considered(r) {
		if g <= 0 {
			continue
		}
		stops := (math.Exp2(float64(g)) - 1) / (1 << maxERRGrade)
		sum += reading * stops / float64(i+1)
		reading *= 1 - stops
	}
	return sum
}

// setF is weighted as trec_eval has it: beta multiplies the precision.
func (v *parameters) setF(r *ranking) float64 {
	precision, recall := v.setPrecision(r), v.recall(r)
	return measure.Ratio((v.beta+1)*precision*recall, v.beta*precision+recall)
}

// retrieved counts relevant documents, or all where no grade is named.
func (v *parameters) retrieved(r *ranking) float64 {
	if v.rel == 0 {
		return float64(len(r.grades))
	}
	return float64(v.relevantFound(r))
}

// compatibility is Clarke, Vtyurina and Smucker 2021: of the ideal rankings, by grades above 0, it takes the one with documents of equal
// grade in the order of the run, where those that it lacks come last. What ranking and ideal have in common down to a rank is counted at
// the rank where the second of them has the document.
func (v *parameters) compatibility(r *ranking) float64 {
	relevant := r.relevant(1)
	if r.counter.Add(2*max(len(r.grades), relevant)) != nil {
		return 0
	}
	common := make([]int, max(len(r.grades), relevant))
	above := map[int16]int{} // documents of the grade so far
	for rank, g := range r.grades {
		if g > 0 {
			common[max(rank, r.relevant(int(g)+1)+above[g])]++
			above[g]++
		}
	}
	overlap := 0
	sum := 0.0
	best := 0.0
	all := 0.0
	weight := 1.0
	for rank, n := range common {
		overlap += n
		sum += weight * float64(overlap) / float64(rank+1)
		best += weight * float64(min(rank+1, relevant)) / float64(rank+1)
		all += weight
		weight *= v.persistence
	}
	if !v.normalize {
		best = all
	}
	return measure.Ratio(sum, best)
}
