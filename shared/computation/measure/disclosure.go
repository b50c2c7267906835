package measure

import (
	"math"
	"slices"
)

// Shape is the amount of information in a ground truth whose examples have labels or numbers.
type Shape struct {
	Examples int `json:"examples"`
	Labels   int `json:"labels,omitempty"` // different labels in the truth
}

// doubleBits is the number of bits of a score that can depend on the labels. A double has 53 bits, but sums and roundings lose some.
const doubleBits = 45

// RunsToReveal estimates the number of runs after which a team that reads their exact scores knows the truth. It returns 0 if there is no
// estimate. Real teams need at least about half as many runs, and more than the estimate if they cannot solve an integer program.
//
//   - Classification: a score tells how many of n predictions are right. This is at most log2(n+1) bits. The truth has n·log2(k) bits for
//     k labels. No strategy needs fewer runs than the quotient, and twice the quotient suffices for large n. For two labels this is the
//     problem of weighing coins (P. Erdős, A. Rényi, On two problems of information theory, 1963; B. Lindström, On a combinatory detection
//     problem I, 1964: 2n/log2(n) weighings). For more labels it is Mastermind (V. Chvátal, Mastermind, Combinatorica 3, 1983).
//   - Multilabel: like classification, for n·k decisions with two outcomes.
//   - Probabilities: Brier and the logarithmic loss weigh each example by the prediction. So a score tells as many bits as a double
//     holds (J. Whitehill, Climbing the Kaggle leaderboard by exploiting the log-loss oracle, 2018). Other measures count right
//     predictions, as in classification.
//   - Regression: a score is one equation in n unknown numbers. One more run determines the constants that all equations share. Measures
//     of ranks and medians have no estimate.
//
// Retrieval and diversity have no estimate, because scores are shown by topic and the unjudged documents are unbounded. Clustering, spans
// and text have none, because their truths are not lists of labels. Evaluators of organizers have none either.
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

// weighings returns twice the bits of n examples with k labels divided by the bits of a count from 0 to n. It is at most n·(k-1): the
// runs that try each label of each example.
func weighings(n, k float64) int {
	return int(max(1, min(2*n*math.Log2(k)/math.Log2(n+1), n*(k-1))))
}
