package measure

import "assay/shared/computation/measure/bounds"

var (
	average = Parameter{Name: "average", Domain: "choice", Choices: []string{"macro", "micro", "weighted"},
		Definition: "macro: plain mean over the labels; weighted: mean weighted by how often a label is true; micro: all decisions pooled"}
	positive = Parameter{Name: "positive", Domain: "label", Definition: "the one label that is measured"}
	someOf   = Parameter{Name: "labels", Domain: "label", with: average.Name,
		Definition: "the labels that are averaged, separated by commas; all unless given"}
	beta = Parameter{Name: "beta", Domain: "number", Default: "1.0", Min: 0, Max: 1000,
		Definition: "how many times as much recall counts as precision"}
	averageOrPositive = []string{average.Name, positive.Name}
	ofLabels          = []Parameter{average, positive, someOf}
	onlyPositive      = []string{positive.Name}
	ofOneLabel        = []Parameter{positive}
)

// labelConventions hold for labels of classification and multilabel.
var labelConventions = []string{
	"macro is the mean over the labels that the truth or the run has: a label that only the run has counts 0, so that predicting it lowers " +
		"the mean.",
	"weighted weighs each label by the number of items that truly have it, so that labels that only the run has do not count.",
	"A measure has no value if it names a label that no item of the truth has.",
}

var classificationEvaluator = EvaluatorKind{
	Kind:       Classification,
	Definition: "Labels: one for each item",
	Truth:      "The true label of each item, written as runs are.",
	Formats:    []string{JSONL, CSV},
	ValueField: "label",
	HasLabels:  true,
	Defaults:   []string{"Accuracy", "F1(average=macro)", "MCC"},
	Conventions: append([]string{
		"0/0 is 0: the precision of a label that the run never predicts, and F1 of a label without a hit.",
		"micro equals Accuracy, unless the measure names some of the labels.",
	}, labelConventions...),
	Limits: ofLabelledItems(bounds.Line,
		Limit{"labels of a scale", bounds.Scale},
		comparedLabels,
	),
	Families: []Family{
		{Name: "Accuracy", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Share of items whose predicted label is the true one."},
		{Name: "BalancedAccuracy", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Mean recall over the labels of the truth.",
			Conventions: []string{"Labels that only the run has do not count."}},
		{Name: "F1", Cutoff: NoCutoff, Parameters: ofLabels, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Harmonic mean of precision and recall."},
		{Name: "F", Cutoff: NoCutoff, Parameters: append([]Parameter{beta}, ofLabels...), oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Weighted harmonic mean of precision and recall."},
		{Name: "Precision", Cutoff: NoCutoff, Parameters: ofLabels, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Share of the items predicted with a label that truly have it."},
		{Name: "Recall", Cutoff: NoCutoff, Parameters: ofLabels, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Share of the items that truly have a label that are predicted with it."},
		{Name: "Specificity", Cutoff: NoCutoff, Parameters: ofOneLabel, oneOf: onlyPositive, HigherIsBetter: true,
			Definition:  "Share of the items truly without a label that are not predicted with it.",
			Conventions: []string{"It has no value if every item truly has the label."}},
		{Name: "FPR", Cutoff: NoCutoff, Parameters: ofOneLabel, oneOf: onlyPositive,
			Definition:  "False positive rate: share of the items truly without a label that are predicted with it, which is 1 - Specificity.",
			Conventions: []string{"It has no value if every item truly has the label."}},
		{Name: "FNR", Cutoff: NoCutoff, Parameters: ofOneLabel, oneOf: onlyPositive,
			Definition: "False negative rate: share of the items truly with a label that are not predicted with it, which is 1 - Recall."},
		{Name: "MCC", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "Matthews correlation coefficient of predicted and true labels, for any number of labels.",
			Conventions: []string{"It is 0 if the truth or the run has only one label."}},
		{Name: "Kappa", Cutoff: NoCutoff, HigherIsBetter: true, Parameters: []Parameter{
			{Name: "weights", Domain: "choice", Choices: []string{"linear", "quadratic"},
				Definition: "how far apart labels are counts, by their places in the order of numbers or, of other labels, of the alphabet, or by " +
					"the squares of that; without it all count alike"},
			{Name: "labels", Domain: "scale", with: "weights", Max: MaxScale,
				Definition: "the scale: all labels in their order, separated by commas, or the first and the last of whole numbers, as in 1..5; " +
					"without it, labels that neither truth nor run has leave no gap, so that the distances depend on the run"}},
			Definition: "Cohen's kappa: agreement with the truth beyond what chance would give.",
			Conventions: []string{"It has no value if truth and run have one and the same label throughout, or if a label is not on the scale.",
				"Labels are compared as text, so that 1.0 is not on the scale 1..5."}},
		{Name: "MacroMAE", Cutoff: NoCutoff,
			Definition:  "Mean absolute error of labels that are numbers, as the mean over the true labels, so that rare ones count as much.",
			Conventions: []string{"It has no value if a label of the truth or of the run is not a number."}},
	},
}
