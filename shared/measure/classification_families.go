package measure

var (
	average = Parameter{Name: "average", Domain: "choice", Choices: []string{"macro", "micro", "weighted"},
		Definition: "macro: plain mean over the labels; weighted: mean weighted by how often a label is true; micro: all decisions pooled"}
	averageOrPositive = []string{average.Name, positive.Name}
	positive          = Parameter{Name: "positive", Domain: "label", Definition: "the one label that is measured"}
)

var classificationEvaluator = EvaluatorKind{
	Kind:       Classification,
	Definition: "Labels: one for each item",
	Truth:      "The true label of each item, written as runs are.",
	Formats:    []string{JSONL, CSV},
	ValueField: "label",
	Defaults:   []string{"Accuracy", "F1(average=macro)", "MCC"},
	Families: []Family{
		{Name: "Accuracy", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Share of items whose predicted label is the true one."},
		{Name: "BalancedAccuracy", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Mean recall over the labels of the truth."},
		{Name: "F1", Cutoff: NoCutoff, Parameters: []Parameter{average, positive}, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Harmonic mean of precision and recall."},
		{Name: "Precision", Cutoff: NoCutoff, Parameters: []Parameter{average, positive}, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Share of the items predicted with a label that truly have it."},
		{Name: "Recall", Cutoff: NoCutoff, Parameters: []Parameter{average, positive}, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Share of the items that truly have a label that are predicted with it."},
		{Name: "MCC", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Matthews correlation coefficient of predicted and true labels, for any number of labels."},
		{Name: "Kappa", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Cohen's kappa: agreement with the truth beyond what chance would give."},
	},
}
