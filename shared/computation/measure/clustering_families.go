package measure

import "assay/shared/computation/measure/bounds"

var clusteringEvaluator = EvaluatorKind{
	Kind:       Clustering,
	Definition: "Clusters: one for each item, whatever its name",
	Truth:      "The true cluster of each item, written as runs are.",
	Formats:    []string{JSONL, CSV},
	ValueField: "cluster",
	Defaults:   []string{"VMeasure", "ARI", "BCubedF"},
	Conventions: []string{
		"Names of clusters do not matter: clusters of truth and run with the same name are unrelated.",
		"Each item is in one cluster, and every item may be in a cluster of its own.",
	},
	Limits: ofItems(bounds.Line,
		Limit{"bytes of the name of a cluster", bounds.Name},
		Limit{"bytes of the names of all clusters of a truth, and of a run", bounds.IDs},
	),
	Families: []Family{
		{Name: "VMeasure", Cutoff: NoCutoff, HigherIsBetter: true, Parameters: []Parameter{
			{Name: "beta", Domain: "number", Default: "1.0", Min: 0, Max: 1000, Definition: "weight of completeness"}},
			Definition:  "Harmonic mean of homogeneity and completeness.",
			Conventions: []string{"It is 0 if one of the two is 0."}},
		{Name: "Homogeneity", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "How much of the true clusters the predicted ones tell: 1 when each has items of only one true cluster.",
			Conventions: []string{"It is 1 if there is only one true cluster."}},
		{Name: "Completeness", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "How much of the predicted clusters the true ones tell: 1 when all items of a true cluster are together.",
			Conventions: []string{"It is 1 if there is only one predicted cluster."}},
		{Name: "ARI", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "Rand index, corrected for chance: share of pairs of items that are together or apart in both clusterings.",
			Conventions: []string{"It is 1 if the clusterings are equal, also if there is only one item."}},
		{Name: "NMI", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "Mutual information of the two clusterings, as a share of the mean of their entropies.",
			Conventions: []string{"The mean is arithmetic; it is 1 if both clusterings have only one cluster."}},
		{Name: "BCubedF", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Harmonic mean of BCubedP and BCubedR."},
		{Name: "BCubedP", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Mean over the items of the share of their predicted cluster that is in their true one."},
		{Name: "BCubedR", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Mean over the items of the share of their true cluster that is in their predicted one."},
		{Name: "Purity", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Share of items that belong to the most frequent true cluster of their predicted cluster."},
	},
}
