package measure

import "assay/shared/computation/measure/bounds"

var (
	averageOfSets = Parameter{Name: "average", Domain: "choice", Choices: []string{"macro", "micro", "samples", "weighted"},
		Definition: "samples: mean over the items; macro: over the labels; weighted: over these by how often true; micro: all decisions pooled"}
	zeroDivision = Parameter{Name: "zero_division", Domain: "integer", Default: "0", Min: 0, Max: 1,
		Definition: "value of an item for which neither truth nor run has a label"}
	ofSets        = []Parameter{averageOfSets, positive, someOf}
	ofSetsDivided = append(ofSets[:len(ofSets):len(ofSets)], zeroDivision)
)

var multilabelEvaluator = EvaluatorKind{
	Kind:       Multilabel,
	Definition: "Labels: any number of them for each item",
	Truth:      "The true labels of each item, written as runs are.",
	Formats:    []string{JSONL, CSV},
	ValueField: "labels",
	HasLabels:  true,
	Defaults:   []string{"F1(average=macro)", "F1(average=micro)", "Jaccard(average=samples)"},
	Conventions: append([]string{
		"0/0 is 0; F1, F and Jaccard have zero_division for items for which neither truth nor run has a label.",
		"micro, macro and weighted are over the labels, samples is over the items.",
	}, labelConventions...),
	Limits: ofLabelledItems(bounds.ValueLine,
		Limit{"labels of an item", bounds.Set},
		Limit{"labels of all items, plus items, of a truth or a run", bounds.Assigned},
		Limit{"bytes of the separator of labels in csv", bounds.Separator},
		comparedLabels,
	),
	Families: []Family{
		{Name: "F1", Cutoff: NoCutoff, Parameters: ofSetsDivided, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Harmonic mean of precision and recall."},
		{Name: "F", Cutoff: NoCutoff, Parameters: append([]Parameter{beta}, ofSetsDivided...), oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Weighted harmonic mean of precision and recall."},
		{Name: "Precision", Cutoff: NoCutoff, Parameters: ofSets, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Share of the labels predicted that are true."},
		{Name: "Recall", Cutoff: NoCutoff, Parameters: ofSets, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Share of the true labels that are predicted."},
		{Name: "Jaccard", Cutoff: NoCutoff, Parameters: ofSetsDivided, oneOf: averageOrPositive, HigherIsBetter: true,
			Definition: "Share of the labels that are predicted and true among those that are predicted or true."},
		{Name: "ExactMatch", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "Share of items that are predicted with all of their true labels and no other.",
			Conventions: []string{"An item without true and without predicted labels is right."}},
		{Name: "HammingLoss", Cutoff: NoCutoff,
			Definition: "Labels that are predicted or true but not both, divided by items and by labels of the truth; scikit-learn also divides " +
				"by labels that only the run has, so that predicting other labels lowers the loss there."},
	},
}
