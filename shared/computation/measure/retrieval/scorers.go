package retrieval

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/steps"
)

// ranking holds the grades of a topic's documents, by rank.
type ranking struct {
	counter *steps.Counter // if it has an error, values are invalid
	grades  []int16        // unjudged for a document that the truth lacks
	judged  []int16        // grades without unjudged and negative ones; only if the plan has judgedOnly
	ideal   []int16        // all grades of the truth, the highest first
	// For diversity qrels: the grades by subtopic of the documents of the ranking, and of the documents of the truth in the order of their
	// ids.
	parts, truth [][]subtopicGrade
	subtopics    int // number of subtopics
}

// relevant returns R, the number of documents of the truth with at least the grade.
func (r *ranking) relevant(rel int) int {
	return sort.Search(len(r.ideal), func(i int) bool { return int(r.ideal[i]) < rel })
}

// scorer computes a measure of one topic. It returns 0 if the formula would divide by zero.
type scorer func(v *parameters, r *ranking) float64

// counts lists the measures that are summed over the topics.
var counts = map[string]bool{"NumQ": true, "NumRet": true, "NumRel": true}

// scorers has an entry for each family of retrieval and of diversity. Retrieval uses the formulas of trec_eval 10.0, unless a parameter
// changes them.
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
	"Judged":  (*parameters).judgedShare,
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

// parameters are the parameters of a measure. Parameters that the measure lacks are zero.
type parameters struct {
	rel         int // least relevant grade
	depth       int // the last rank that counts, or 0 for all ranks
	judgedOnly  bool
	exponential bool    // gains are 2^grade - 1
	relative    bool    // precision divides by the number of relevant documents if it is less than the number retrieved
	level       float64 // of recall
	beta        float64
	persistence float64 // chance that the reader goes on to the next document
	highest     int16   // highest grade of the truth
	gains       map[int]float64
	normalize   bool
	alpha       float64 // share of a subtopic's gain that each earlier document takes away
}

func (q *Qrels) view(m measure.Measure) *parameters {
	return &parameters{
		rel: int(m.Number("rel")), depth: m.Depth(), judgedOnly: m.Flag("judged_only"), exponential: m.Param("dcg") == "exp-log2",
		relative: m.Flag("relative"), level: m.Recall(), beta: m.Number("beta"), persistence: m.Number("p"), highest: q.highest,
		gains: m.Gains("gains"), normalize: m.Flag("normalize"), alpha: m.Number("alpha"),
	}
}

// considered returns the grades of the documents that count for the measure. It counts a step for each document.
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

// relevantFound returns the number of relevant documents that count for the measure.
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

// setAveragePrecision returns precision times recall. Like trec_eval, it divides once, because another order can change the fourth decimal.
func (v *parameters) setAveragePrecision(r *ranking) float64 {
	found := float64(v.relevantFound(r))
	of := float64(len(v.considered(r))) * float64(r.relevant(v.rel))
	return measure.Ratio(found*found, of)
}

func (v *parameters) recall(r *ranking) float64 { return ratio(v.relevantFound(r), r.relevant(v.rel)) }

const (
	// leastAP is the least AP of a topic in the geometric mean, as in trec_eval.
	leastAP     = 0.00001
	maxERRGrade = bounds.ERRGrade
	maxExponent = bounds.ExponentGrade
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

// gain returns the gain of a document with the grade. Exponential gains are 2^grade - 1, as in gdeval.
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

// ndcg cuts the ideal ranking at the depth too. The ideal ranking has only documents with positive gains.
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

// equalGrades divides descending grades into runs of equal grades.
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

// bpref follows Buckley and Voorhees 2004 with the bound of trec_eval: at most min(N, R) non-relevant documents count, where N is the
// number of judged documents that are not relevant.
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

// inferredAP follows Yilmaz and Aslam 2006. A document with a negative grade was in the pool, but not in the judged sample. A document that
// the truth lacks was not in the pool.
func (v *parameters) inferredAP(r *ranking) float64 {
	const epsilon = 0.00001
	found := 0.0  // relevant documents above the rank
	judged := 0.0 // judged documents above the rank
	pooled := 0.0 // pooled documents above the rank
	sum := 0.0
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

// interpolated returns the best precision at any rank where the wanted share of the relevant documents is found. Like trec_eval 10, it
// rounds the wanted number of documents to the nearest integer.
func (v *parameters) interpolated(r *ranking) float64 { return v.interpolatedAt(r, v.level)[0] }

// interpolatedAverage adds the levels in descending order, like trec_eval.
func (v *parameters) interpolatedAverage(r *ranking) float64 {
	sum := 0.0
	levels := v.interpolatedAt(r, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0)
	for _, precision := range levels {
		sum += precision
	}
	return sum / float64(len(levels))
}

// interpolatedAt returns the interpolated precisions at descending levels.
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

// rankBiased follows Moffat and Zobel 2008. Without a least relevant grade, the gain of a document is its grade divided by the highest
// grade of the truth.
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

// expectedReciprocalRank follows Chapelle et al. 2009: a reader goes down the ranking and stops at a document of grade g with probability
// (2^g - 1) / 2^4.
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

// judgedShare counts documents of every grade. A negative grade is a judgment too, as in ir-measures.
func (v *parameters) judgedShare(r *ranking) float64 {
	list := v.considered(r)
	n := 0
	for _, g := range list {
		if isJudged(g) {
			n++
		}
	}
	return ratio(n, len(list))
}

// setF weights like trec_eval: beta multiplies the precision.
func (v *parameters) setF(r *ranking) float64 {
	precision, recall := v.setPrecision(r), v.recall(r)
	return measure.Ratio((v.beta+1)*precision*recall, v.beta*precision+recall)
}

// retrieved counts the relevant documents, or all documents if the measure names no grade.
func (v *parameters) retrieved(r *ranking) float64 {
	if v.rel == 0 {
		return float64(len(v.considered(r)))
	}
	return float64(v.relevantFound(r))
}
