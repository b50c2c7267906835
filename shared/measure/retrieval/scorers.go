package retrieval

import (
	"cmp"
	"math"
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
type scorer func(r *ranking) float64

// counts are the measures that are summed over the topics.
var counts = map[string]bool{"NumQ": true, "NumRet": true, "NumRel": true}

// scorers has an entry for each family of measure.Catalogue(measure.Retrieval). Formulas are those of trec_eval 10.0
// unless told otherwise.
var scorers = map[string]func(m measure.Measure, q *Qrels) scorer{
	"nDCG": func(m measure.Measure, _ *Qrels) scorer { return view(m).ndcg(m.Param("dcg") == "exp-log2") },
	"AP":   func(m measure.Measure, _ *Qrels) scorer { return view(m).averagePrecision() },
	"RR":   func(m measure.Measure, _ *Qrels) scorer { return view(m).reciprocalRank() },
	"P": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		return func(r *ranking) float64 { return ratio(v.found(r), v.depth) }
	},
	"R": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		return func(r *ranking) float64 { return ratio(v.found(r), r.relevant(v.rel)) }
	},
	"Rprec": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		return func(r *ranking) float64 {
			relevant := r.relevant(v.rel)
			return ratio(viewpoint{v.rel, relevant, v.judgedOnly}.found(r), relevant)
		}
	},
	"Bpref": func(m measure.Measure, _ *Qrels) scorer { return view(m).bpref },
	"infAP": func(m measure.Measure, _ *Qrels) scorer { return view(m).inferredAP },
	"Success": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		return func(r *ranking) float64 { return float64(min(v.found(r), 1)) }
	},
	"IPrec": func(m measure.Measure, _ *Qrels) scorer { return view(m).interpolated(m.Recall()) },
	"SetP": func(m measure.Measure, _ *Qrels) scorer {
		v, relative := view(m), m.Flag("relative")
		return func(r *ranking) float64 { return v.setPrecision(r, relative) }
	},
	"SetR": func(m measure.Measure, _ *Qrels) scorer { return view(m).setRecall },
	"SetF": func(m measure.Measure, _ *Qrels) scorer {
		v, x := view(m), m.Number("beta")
		return func(r *ranking) float64 {
			p, recall := v.setPrecision(r, false), v.setRecall(r)
			if x*p+recall == 0 {
				return 0
			}
			return (x + 1) * p * recall / (x*p + recall)
		}
	},
	"SetAP": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		return func(r *ranking) float64 { return v.setPrecision(r, false) * v.setRecall(r) }
	},
	"Judged": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		v.rel = 0
		return func(r *ranking) float64 { return ratio(v.found(r), len(v.of(r))) }
	},
	"RBP":  func(m measure.Measure, q *Qrels) scorer { return view(m).rankBiased(m.Number("p"), q.highest) },
	"ERR":  func(m measure.Measure, _ *Qrels) scorer { return view(m).expectedReciprocalRank },
	"NumQ": func(measure.Measure, *Qrels) scorer { return func(*ranking) float64 { return 1 } },
	"NumRet": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		v.rel = cmp.Or(v.rel, math.MinInt)
		return func(r *ranking) float64 { return float64(v.found(r)) }
	},
	"NumRel": func(m measure.Measure, _ *Qrels) scorer {
		v := view(m)
		return func(r *ranking) float64 { return float64(r.relevant(v.rel)) }
	},
}

// viewpoint is how a measure looks at a ranking.
type viewpoint struct {
	rel        int // least relevant grade
	depth      int // ranks below it are not looked at; 0: all are
	judgedOnly bool
}

func view(m measure.Measure) viewpoint {
	return viewpoint{rel: m.Int("rel"), depth: m.Depth(), judgedOnly: m.Flag("judged_only")}
}

// of is what the measure sees.
func (v viewpoint) of(r *ranking) []int16 {
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
func (v viewpoint) found(r *ranking) int {
	n := 0
	for _, g := range v.of(r) {
		if int(g) >= v.rel {
			n++
		}
	}
	return n
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func (v viewpoint) setPrecision(r *ranking, relative bool) float64 {
	retrieved := len(v.of(r))
	if relative {
		retrieved = min(retrieved, r.relevant(v.rel))
	}
	return ratio(v.found(r), retrieved)
}

func (v viewpoint) setRecall(r *ranking) float64 { return ratio(v.found(r), r.relevant(v.rel)) }
