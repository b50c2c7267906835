package measure

import (
	"cmp"

	"assay/shared/computation/measure/bounds"
)

var (
	averageOfClasses = Parameter{Name: "average", Domain: "choice", Choices: []string{"macro", "weighted"},
		Definition: "mean over the labels, each against the rest: macro: plain; weighted: by how often a label is true"}
	positiveClass = Parameter{Name: "positive", Domain: "label", without: averageOfClasses.Name,
		Definition: "the label that scores are for; the greater one of two unless given, such as 1, true or yes"}
	editionOfPAN = Parameter{Name: "edition", Domain: "choice", Default: "2021", Choices: []string{"2021", "2024", "2025"},
		Definition: "how items with a score of exactly 0.5 count, by the year of PAN whose evaluator first counted them so; 2021, also used in " +
			"2020, 2022 and 2023: F1 leaves them out; 2024: F1 counts them as predictions of the other label, and CAt1 counts those of the " +
			"other label as right, so that it can exceed 1; 2025: F1 as in 2024, CAt1 as in 2021"}
	ofClasses  = []Parameter{averageOfClasses, positiveClass}
	ofPositive = []Parameter{positiveClass}
	ofPAN      = []Parameter{positiveClass, editionOfPAN}
)

var probabilitiesEvaluator = EvaluatorKind{
	Kind:       Probabilities,
	Definition: "Scores: one for each item, or one for each label of an item",
	Truth:      "The true label of each item, in the field that runs have the score in.",
	Formats:    []string{JSONL, CSV},
	ValueField: "value",
	HasLabels:  true,
	Defaults:   []string{"AUC", "AP"},
	Conventions: []string{
		"Averages are over the labels of the truth, each against the rest; labels that only the run has do not count.",
		"A measure has no value if the run has no scores for a label that it needs.",
		"If measures other than AUC and AP are asked for, scores must be from 0 to 1, and scores of several labels must sum to 1, give or " +
			"take 0.01.",
		"Without positive, the signature of the evaluation names the label that scores are for; there is none unless the truth has two labels.",
		"0/0 is 0 in F1 and F05u.",
		"PAN's evaluators count an item that a run lacks as unanswered; here a run must have every item.",
	},
	Limits: ofLabelledItems(bounds.ValueLine,
		Limit{"labels with a score of an item", bounds.Set},
		Limit{"scores of a run", bounds.Scores},
		Limit{"scores of a run that is resampled for intervals and tests", bounds.TopicValues},
		Limit{"bytes of a run with a score for each label that repeats the truth; a larger truth is not scored against itself", bounds.OwnScores},
	),
	Families: []Family{
		{Name: "AUC", Aliases: []string{"ROC_AUC", "AUROC"}, Cutoff: NoCutoff, Parameters: ofClasses, HigherIsBetter: true,
			Definition:  "Area under the ROC curve: share of pairs of a positive and another item in which the positive one has the higher score.",
			Conventions: []string{"Equal scores count half.", "It has no value if all items of the truth have one and the same label."}},
		{Name: "AP", Cutoff: NoCutoff, Parameters: ofClasses, HigherIsBetter: true,
			Definition: "Average precision: mean of the precision at each rise of recall, by falling score.",
			Conventions: []string{"Items of equal score count together, and precision is not interpolated.",
				"It is 1 if every item has the label."}},
		{Name: "LogLoss", Cutoff: NoCutoff, Parameters: ofPositive,
			Definition: "Mean negative logarithm of the probability of the true label.",
			Conventions: []string{"The logarithm is natural, and a probability counts as at least 2^-52 and at most 1 - 2^-52, as in scikit-learn.",
				"Probabilities are not divided by their sum."}},
		{Name: "Brier", Cutoff: NoCutoff, Parameters: ofPositive,
			Definition: "Mean squared difference of the probabilities from 1 for the true label and 0 for others, summed over the labels of the " +
				"run if it has scores of more than two.",
			Conventions: []string{
				"With one score for each item, scores of two labels, or positive, it is the squared difference for one label, from 0 to 1.",
				"With scores of more labels, it goes from 0 to 2, also if the truth has only two of them.",
			}},
		{Name: "F1", Cutoff: NoCutoff, Parameters: ofPAN, HigherIsBetter: true,
			Definition: "F1 of the positive label, predicted above 0.5; the edition says how items with a score of exactly 0.5 count."},
		{Name: "CAt1", Cutoff: NoCutoff, Parameters: ofPAN, HigherIsBetter: true,
			Definition: "PAN's C@1: accuracy in which items with a score of exactly 0.5 are unanswered, and count as right as often as the others."},
		{Name: "F05u", Cutoff: NoCutoff, Parameters: ofPositive, HigherIsBetter: true,
			Definition: "PAN's F0.5u since 2021: F with more weight on precision, in which unanswered items count as missed."},
		{Name: "Specificity", Cutoff: NoCutoff, Parameters: ofPositive, HigherIsBetter: true,
			Definition: "Share of the items without the positive label whose score is not above 0.5."},
		{Name: "FPR", Cutoff: NoCutoff, Parameters: ofPositive,
			Definition: "False positive rate: share of the items without the positive label whose score is above 0.5, which is 1 - Specificity."},
		{Name: "FNR", Cutoff: NoCutoff, Parameters: ofPositive,
			Definition: "False negative rate: share of the items with the positive label whose score is not above 0.5."},
		{Name: "PAN", Cutoff: NoCutoff, Parameters: ofPAN, HigherIsBetter: true,
			Definition: "Mean of AUC, CAt1, F05u, F1 and 1 - Brier, as in PAN's authorship verification since 2021; PAN 2020 had no Brier."},
	},
	alias: func(text string) string { return cmp.Or(namesOfPAN[text], text) },
}

// namesOfPAN maps the names that PAN's evaluator prints to measures.
var namesOfPAN = map[string]string{"auc": "AUC", "C@1": "CAt1", "c@1": "CAt1", "f_05_u": "F05u", "overall": "PAN"}
