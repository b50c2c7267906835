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
		{Name: "R2", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Share of the variance of the truth that the predictions explain."},
		{Name: "Pearson", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Linear correlation of prediction and truth."},
		{Name: "Spearman", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Correlation of the ranks of prediction and truth, ties sharing their mean rank."},
		{Name: "Kendall", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Kendall's tau-b: concordant less discordant pairs, corrected for ties."},
	},
}
