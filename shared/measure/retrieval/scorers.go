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
type scorer func(v *view, r *ranking) float64

// counts are the measures that are summed over the topics.
var counts = map[string]bool{"NumQ": true, "NumRet": true, "NumRel": true}

// scorers has an entry for each family of measure.Catalogue(measure.Retrieval). Formulas are those of trec_eval 10.0
// unless told otherwise.
var scorers = map[string]scorer{
	"nDCG":    (*view).ndcg,
	"AP":      (*view).averagePrecision,
	"RR":      (*view).reciprocalRank,
	"P":       func(v *view, r *ranking) float64 { return ratio(v.found(r), v.depth) },
	"R":       (*view).recall,
	"Rprec":   (*view).rPrecision,
	"Bpref":   (*view).bpref,
	"infAP":   (*view).inferredAP,
	"Success": func(v *view, r *ranking) float64 { return float64(min(v.found(r), 1)) },
	"IPrec":   (*view).interpolated,
	"SetP":    (*view).setPrecision,
	"SetR":    (*view).recall,
	"SetF":    (*view).setF,
	"SetAP":   func(v *view, r *ranking) float64 { return v.setPrecision(r) * v.recall(r) },
	"Judged":  func(v *view, r *ranking) float64 { return ratio(v.found(r), len(v.of(r))) },
	"RBP":     (*view).rankBiased,
	"ERR":     (*view).expectedReciprocalRank,
	"NumQ":    func(*view, *ranking) float64 { return 1 },
	"NumRet":  (*view).retrieved,
	"NumRel":  func(v *view, r *ranking) float64 { return float64(r.relevant(v.rel)) },
}

// view is how a measure looks at a ranking. Parameters that the measure does not have are zero.
type view struct {
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

func (q *Qrels) view(m measure.Measure) *view {
	return &view{
		rel: m.Int("rel"), depth: m.Depth(), judgedOnly: m.Flag("judged_only"), exponential: m.Param("dcg") == "exp-log2",
		relative: m.Flag("relative"), level: m.Recall(), beta: m.Number("beta"), persistence: m.Number("p"), highest: q.highest,
	}
}

// of is what the measure sees.
func (v *view) of(r *ranking) []int16 {
	list := r.grades
	if v.judgedOnly {
		list = r.judged
	}
	if v.depth > 0 && v.depth < len(list) {
		list = list[:v.depth]
	}
	return list
}

// found is how many relevant documents the measure sees.
func (v *view) found(r *ranking) int {
	n := 0
	for _, g := range v.of(r) {
		if int(g) >= v.rel {
			n++
		}
	}
	return n
}

func ratio(part, whole int) float64 { return share(float64(part), whole) }

func (v *view) setPrecision(r *ranking) float64 {
	retrieved := len(v.of(r))
	if v.relative {
		retrieved = min(retrieved, r.relevant(v.rel))
	}
	return ratio(v.found(r), retrieved)
}

func (v *view) recall(r *ranking) float64 { return ratio(v.found(r), r.relevant(v.rel)) }
