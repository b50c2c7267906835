// Package clustering compares predicted clusters with true clusters. The names of clusters do not matter, only which examples are
// together.
//
// # Definitions
//
// n examples are in true clusters of sizes a_i and in predicted clusters of sizes b_j. n_ij examples are in both i and j. H is the entropy
// of the clusters of one side, and MI is the mutual information of both sides.
//
//   - Homogeneity: MI / H(true). Completeness: MI / H(predicted).
//   - VMeasure: (1 + beta) h c / (beta h + c) of homogeneity h and completeness c (Rosenberg and Hirschberg, EMNLP-CoNLL 2007).
//   - NMI: MI / ((H(true) + H(predicted)) / 2).
//   - ARI: the Rand index, corrected for chance (Hubert and Arabie, Journal of Classification 2, 1985).
//   - BCubedP, BCubedR: mean over the examples of n_ij / b_j and of n_ij / a_i, where i and j are the clusters of the example (Bagga and
//     Baldwin, COLING-ACL 1998). BCubedF: harmonic mean of BCubedP and BCubedR.
//
// The families of package measure state the conventions, such as values of one cluster.
//
// Values equal the values of scikit-learn for the measures that it has.
package clustering

import (
	"math"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/steps"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "clustering/1"

// Computation computes the measures of clusterings.
var Computation = predictions.Evaluator[*table]{
	Version: Version,
	Compare: func(counter *steps.Counter, truth *predictions.Gold, run *predictions.Run) *table {
		return newTable(counter, truth.Clusters(), run.Clusters(), truth.Codes(), run.Codes())
	},
	Measure: evaluate,
	Steps: func(_ []measure.Measure, truth *predictions.Gold) int {
		return 2*truth.Len() + steps.SortSteps(truth.Len())
	},
}.Computation(predictions.Clusters)

func evaluate(counter *steps.Counter, asked []measure.Measure, t *table) measure.Result {
	return measure.Compute(counter, asked, func(m measure.Measure) (float64, string) { return measures[m.Name](t, m), "" })
}

var measures = map[string]func(*table, measure.Measure) float64{
	"Homogeneity":  func(t *table, _ measure.Measure) float64 { return share(t.information, t.trueEntropy) },
	"Completeness": func(t *table, _ measure.Measure) float64 { return share(t.information, t.predictedEntropy) },
	"VMeasure": func(t *table, m measure.Measure) float64 {
		h := share(t.information, t.trueEntropy)
		c := share(t.information, t.predictedEntropy)
		beta := m.Number("beta")
		if h*c == 0 { // also where beta is 0
			return 0
		}
		return (1 + beta) * h * c / (beta*h + c)
	},
	"NMI": func(t *table, _ measure.Measure) float64 {
		return share(t.information, (t.trueEntropy+t.predictedEntropy)/2)
	},
	"ARI":     func(t *table, _ measure.Measure) float64 { return t.adjustedRand() },
	"BCubedP": func(t *table, _ measure.Measure) float64 { return t.precision },
	"BCubedR": func(t *table, _ measure.Measure) float64 { return t.recall },
	"BCubedF": func(t *table, _ measure.Measure) float64 {
		return 2 * t.precision * t.recall / (t.precision + t.recall)
	},
	"Purity": func(t *table, _ measure.Measure) float64 { return t.purity },
}

// share returns information divided by an entropy, or 1 if the entropy is 0.
func share(information, entropy float64) float64 {
	if entropy == 0 {
		return 1
	}
	return min(1, information/entropy)
}

// table holds the sums over the cells of the contingency table. All measures follow from them.
type table struct {
	n                                          float64
	trueEntropy, predictedEntropy, information float64
	precision, recall, purity                  float64
	// Ordered pairs of examples that are together in a true cluster, in a predicted cluster, and in both.
	truePairs, predictedPairs, commonPairs float64
}

// newTable compares truth[i] with predicted[i], which are codes below the numbers of true and of predicted clusters.
func newTable(counter *steps.Counter, trueClusters, predictedClusters int, truth, predicted []int32) *table {
	t := &table{n: float64(len(truth))}
	actual, guessed := make([]int32, trueClusters), make([]int32, predictedClusters)
	cells := make([]uint64, len(truth)) // the cell of each example; sorting brings equal cells together
	for i, a := range truth {
		if counter.Add(1) != nil {
			break
		}
		actual[a]++
		guessed[predicted[i]]++
		cells[i] = uint64(predicted[i])<<32 | uint64(a)
	}
	steps.Sort(counter, cells)
	t.trueEntropy, t.truePairs = t.margin(actual)
	t.predictedEntropy, t.predictedPairs = t.margin(guessed)
	most := make([]int32, predictedClusters) // examples of the most frequent true cluster, by predicted cluster
	var information, precision, recall, purity measure.Sum
	for from := 0; from < len(cells); {
		to := from + 1
		for to < len(cells) && cells[to] == cells[from] {
			to++
		}
		if counter.Add(to-from) != nil {
			break
		}
		both := float64(to - from)
		a := float64(actual[uint32(cells[from])])
		b := float64(guessed[cells[from]>>32])
		information.Add(both / t.n * (math.Log(both*t.n) - math.Log(a*b)))
		precision.Add(both * both / b)
		recall.Add(both * both / a)
		t.commonPairs += both * (both - 1)
		most[cells[from]>>32] = max(most[cells[from]>>32], int32(to-from))
		from = to
	}
	for _, n := range most {
		purity.Add(float64(n))
	}
	t.information = max(0, information.Total())
	t.precision = precision.Total() / t.n
	t.recall = recall.Total() / t.n
	t.purity = purity.Total() / t.n
	return t
}

// margin returns the entropy of clusters with the sizes, and the number of ordered pairs of examples that are together in a cluster.
func (t *table) margin(sizes []int32) (entropy, pairs float64) {
	var sum measure.Sum
	for _, size := range sizes {
		if x := float64(size); size > 0 && x < t.n {
			sum.Add(-x / t.n * math.Log(x/t.n))
		}
		pairs += float64(size) * float64(size-1)
	}
	return sum.Total(), pairs
}

// adjustedRand returns the Rand index, corrected for chance: (common - chance) / (mean - chance), where common is the number of pairs that
// are together on both sides, chance its expected value, and mean the mean number of pairs of both sides.
func (t *table) adjustedRand() float64 {
	if max(t.truePairs, t.predictedPairs) == t.commonPairs {
		return 1
	}
	all := t.n * (t.n - 1)
	chance := t.truePairs / all * t.predictedPairs
	return (t.commonPairs - chance) / ((t.truePairs+t.predictedPairs)/2 - chance)
}
