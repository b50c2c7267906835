package measure

var clusteringEvaluator = EvaluatorKind{
	Kind:       Clustering,
	Definition: "Clusters: one for each item, whatever its name",
	Truth:      "The true cluster of each item, written as runs are.",
	Formats:    []string{JSONL, CSV},
	ValueField: "cluster",
	Defaults:   []string{"VMeasure", "ARI", "BCubedF"},
	Families: []Family{
		{Name: "VMeasure", Cutoff: NoCutoff, HigherIsBetter: true, Parameters: []Parameter{
			{Name: "beta", Domain: "number", Default: "1.0", Min: 0, Max: 1000, Definition: "weight of completeness"}},
			Definition: "Harmonic mean of homogeneity and completeness."},
		{Name: "Homogeneity", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "How much of the true clusters the predicted ones tell: 1 when each has items of only one true cluster."},
		{Name: "Completeness", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "How much of the predicted clusters the true ones tell: 1 when all items of a true cluster are together."},
		{Name: "ARI", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Rand index, corrected for chance: share of pairs of items that are together or apart in both clusterings."},
		{Name: "NMI", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Mutual information of the two clusterings, as a share of the mean of their entropies."},
		{Name: "BCubedF", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Harmonic mean of BCubedP and BCubedR."},
		{Name: "BCubedP", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Mean over the items of the share of their predicted cluster that is in their true one."},
		{Name: "BCubedR", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Mean over the items of the share of their true cluster that is in their predicted one."},
		{Name: "Purity", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Share of items that belong to the most frequent true cluster of their predicted cluster."},
	},
}
