package measure

import "assay/shared/computation/measure/bounds"

var regressionEvaluator = EvaluatorKind{
	Kind:       Regression,
	Definition: "Numbers: one for each item",
	Truth:      "The true number of each item, written as runs are.",
	Formats:    []string{JSONL, CSV},
	ValueField: "value",
	Defaults:   []string{"RMSE", "MAE", "Pearson"},
	Conventions: []string{
		"R2 and the correlations need two items at least.",
		"Pearson, Spearman and Kendall have no value if all numbers of the truth or of the run are equal.",
	},
	Limits: ofItems(bounds.Line),
	Families: []Family{
		{Name: "MSE", Cutoff: NoCutoff, Definition: "Mean squared error."},
		{Name: "RMSE", Cutoff: NoCutoff, Definition: "Square root of the mean squared error."},
		{Name: "MAE", Cutoff: NoCutoff, Definition: "Mean absolute error."},
		{Name: "MedianAE", Aliases: []string{"MedAE"}, Cutoff: NoCutoff, Definition: "Median of the absolute errors.",
			Conventions: []string{"The median of an even number is the mean of the middle two."}},
		{Name: "MAPE", Cutoff: NoCutoff, Definition: "Mean of the absolute errors, each as a share of the true value.",
			Conventions: []string{"It is a share and not a percentage.",
				"It has no value if a number of the truth is 0; scikit-learn divides by a tiny number instead."}},
		{Name: "R2", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Share of the variance of the truth that the predictions explain.",
			Conventions: []string{"If all numbers of the truth are equal, it is 1 for a run without errors and 0 for others."}},
		{Name: "Pearson", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Linear correlation of prediction and truth."},
		{Name: "CCC", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "Lin's concordance correlation coefficient: correlation that also asks for the same mean and spread.",
			Conventions: []string{"Variances are divided by n, and it has no value if all numbers of truth and run are equal."}},
		{Name: "Spearman", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Correlation of the ranks of prediction and truth, ties sharing their mean rank."},
		{Name: "Kendall", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Kendall's tau-b: concordant less discordant pairs, corrected for ties."},
	},
}
