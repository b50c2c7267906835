package retrieval

import (
	"sort"

	"assay/shared/measure"
)

// ranking is one topic of a run as the measures see it: the grades of its documents by rank.
type ranking struct {
	grades []int16 // unjudged where the truth does not have the document
	judged []int16 // the same without unjudged documents and negative grades, when the plan needs it
	ideal  []int16 // all grades of the truth, the highest first
}

// relevant is how many documents of the truth have at least this grade: R.
func (r *ranking) relevant(rel int) int {
	return sort.Search(len(r.ideal), func(i int) bool { return int(r.ideal[i]) < rel })
}

// scorer computes a measure of one topic. It gives 0 where a formula would divide by zero.
type scorer func(v *parameters, r *ranking) float64

// counts are the measures that are summed over the topics.
var counts = map[string]bool{"NumQ": true, "NumRet": true, "NumRel": true}

// scorers has an entry for each family of measure.Catalogue(measure.Retrieval). Formulas are those of trec_eval 10.0
// unless a parameter says otherwise.
var scorers = map[string]scorer{
	"nDCG":    (*parameters).ndcg,
	"AP":      (*parameters).averagePrecision,
	"RR":      (*parameters).reciprocalRank,
	"P":       func(v *parameters, r *ranking) float64 { return ratio(v.relevantFound(r), v.depth) },
	"R":       (*parameters).recall,
	"Rprec":   (*parameters).rPrecision,
	"Bpref":   (*parameters).bpref,
	"infAP":   (*parameters).inferredAP,
	"Success": func(v *parameters, r *ranking) float64 { return float64(min(v.relevantFound(r), 1)) },
	"IPrec":   (*parameters).interpolated,
	"SetP":    (*parameters).setPrecision,
	"SetR":    (*parameters).recall,
	"SetF":    (*parameters).setF,
	"SetAP":   func(v *parameters, r *ranking) float64 { return v.setPrecision(r) * v.recall(r) },
	"Judged":  func(v *parameters, r *ranking) float64 { return ratio(v.relevantFound(r), len(v.considered(r))) },
	"RBP":     (*parameters).rankBiased,
	"ERR":     (*parameters).expectedReciprocalRank,
	"NumQ":    func(*parameters, *ranking) float64 { return 1 },
	"NumRet":  (*parameters).retrieved,
	"NumRel":  func(v *parameters, r *ranking) float64 { return float64(r.relevant(v.rel)) },
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
}

func (q *Qrels) view(m measure.Measure) *parameters {
	return &parameters{
		rel: m.Int("rel"), depth: m.Depth(), judgedOnly: m.Flag("judged_only"), exponential: m.Param("dcg") == "exp-log2",
		relative: m.Flag("relative"), level: m.Recall(), beta: m.Number("beta"), persistence: m.Number("p"), highest: q.highest,
	}
}

// considered is what the measure sees.
func (v *parameters) considered(r *ranking) []int16 {
	list := r.grades
	if v.judgedOnly {
		list = r.judged
	}
	if v.depth > 0 && v.depth < len(list) {
		list = list[:v.depth]
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

func (v *parameters) setPrecision(r *ranking) float64 {
	retrieved := len(v.considered(r))
	if v.relative {
		retrieved = min(retrieved, r.relevant(v.rel))
	}
	return ratio(v.relevantFound(r), retrieved)
}

func (v *parameters) recall(r *ranking) float64 { return ratio(v.relevantFound(r), r.relevant(v.rel)) }
