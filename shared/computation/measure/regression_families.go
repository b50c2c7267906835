package measure

var regressionEvaluator = EvaluatorKind{
	Kind:       Regression,
	Definition: "Numbers: one for each item",
	Truth:      "The true number of each item, written as runs are.",
	Formats:    []string{JSONL, CSV},
	ValueField: "value",
	Defaults:   []string{"RMSE", "MAE", "Pearson"},
	Families: []Family{
		{Name: "MSE", Cutoff: NoCutoff, Definition: "Mean squared error."},
		{Name: "RMSE", Cutoff: NoCutoff, Definition: "Square root of the mean squared error."},
		{Name: "MAE", Cutoff: NoCutoff, Definition: "Mean absolute error."},
		{Name: "MedianAE", Aliases: []string{"MedAE"}, Cutoff: NoCutoff, Definition: "Median of the absolute errors."},
		{Name: "MAPE", Cutoff: NoCutoff, Definition: "Mean of the absolute errors, each as a share of the true value."},
		{Name: "R2", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Share of the variance of the truth that the predictions explain."},
		{Name: "Pearson", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Linear correlation of prediction and truth."},
		{Name: "CCC", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Lin's concordance correlation coefficient: correlation that also asks for the same mean and spread."},
		{Name: "Spearman", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Correlation of the ranks of prediction and truth, ties sharing their mean rank."},
		{Name: "Kendall", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Kendall's tau-b: concordant less discordant pairs, corrected for ties."},
	},
}
