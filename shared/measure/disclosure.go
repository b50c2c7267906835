package measure

import (
	"math"
	"slices"
)

// Shape is how much there is to find out about a ground truth whose examples have labels or numbers.
type Shape struct {
	Examples int `json:"examples"`
	Labels   int `json:"labels,omitempty"` // different ones in the truth
}

// doubleBits are the bits of a score that a run can make depend on labels: a double has 53, of which sums and roundings take some.
const doubleBits = 45

// RunsToReveal estimates after how many runs a team that reads their exact scores knows the truth; 0 where there is no estimate. Real
// teams need no fewer than about half of it, and more if they know no integer program.
//
//   - Classification: a score tells how many of n predictions are right, at most log2(n+1) bits of the n·log2(k) that k labels have. No
//     strategy needs fewer runs than their quotient, and twice the quotient suffices for large n. For two labels that is the problem of
//     weighing coins (P. Erdős, A. Rényi, On two problems of information theory, 1963; B. Lindström, On a combinatory detection problem I,
//     1964: 2n/log2(n) weighings), for more labels Mastermind (V. Chvátal, Mastermind, Combinatorica 3, 1983).
//   - Multilabel: the same for n·k decisions with two outcomes.
//   - Probabilities: Brier and the logarithmic loss weigh each example by the prediction, so that a score tells as many bits as a double
//     holds (J. Whitehill, Climbing the Kaggle leaderboard by exploiting the log-loss oracle, 2018). Other measures count, as above.
//   - Regression: a score is one equation in n unknown numbers, and one more run gives what the unknown numbers have in common. Measures of
//     ranks and medians have no estimate.
//
// There is no estimate for retrieval and diversity, whose scores are shown by topic and whose unjudged documents are without bound, nor for
// clustering, spans and text, whose truths are no lists of labels, nor for evaluators of organizers.
func RunsToReveal(kind Kind, measures []string, s Shape) int {
	if s.Examples == 0 {
		return 0
	}
	n, k := float64(s.Examples), float64(max(s.Labels, 2))
	uses := func(names ...string) bool {
		return slices.ContainsFunc(measures, func(name string) bool {
			m, err := Parse(kind, name)
			return err == nil && slices.Contains(names, m.Name)
		})
	}
	switch {
	case kind == Multilabel:
		return weighings(n*k, 2)
	case kind == Probabilities && uses("Brier", "LogLoss", "PAN"):
		return int(math.Ceil(n * math.Log2(k) / doubleBits))
	case kind == Classification || kind == Probabilities:
		return weighings(n, k)
	case kind == Regression && uses("MSE", "RMSE", "MAE", "MAPE", "R2", "Pearson", "CCC"):
		return s.Examples + 1
	}
	return 0
}

// weighings is twice the bits of n examples with k labels divided by those of a count up to n, and never more than trying each label of
// each example.
func weighings(n, k float64) int {
	return int(max(1, min(2*n*math.Log2(k)/math.Log2(n+1), n*(k-1))))
}
