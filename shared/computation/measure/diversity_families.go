package measure

import (
	"strings"

	"assay/shared/computation/measure/bounds"
)

// MaxIdeal is the deepest cutoff of measures that compare with an ideal ranking with subtopics.
const MaxIdeal = bounds.IdealDepth

var redundancy = Parameter{Name: "alpha", Domain: "number", Default: "0.5", Min: 0, Max: 1,
	Definition: "how much of the gain of a subtopic each earlier document of it takes away"}

// diversityEvaluator declares rankings with subtopics. Measures and parameters have the names of ir-measures.
var diversityEvaluator = EvaluatorKind{
	Kind:         Diversity,
	SafePerTopic: true,
	Definition:   "Rankings of topics that have subtopics (intents, aspects): how many of them documents cover, and how early",
	Truth:        "Diversity qrels as of the TREC Web tracks, a line each: topic, subtopic, document, grade.",
	Formats:      []string{TRECRun},
	Defaults:     []string{"alpha_nDCG@20", "ERR_IA@20", "StRecall@20"},
	Conventions: rankingConventions(
		"Only subtopics with a relevant document count; a topic without one has the value 0.",
		"The ideal ranking takes the document of the greatest gain next and, of several, the one with the last id.",
		"alpha_DCG and ERR_IA are divided by their greatest sum at rank 1 too, unlike in ndeval.",
	),
	Limits: ofRankings(
		Limit{"different subtopics of a truth", bounds.Topics},
		Limit{"rank of a cutoff of alpha_nDCG, alpha_DCG and nERR_IA", bounds.IdealDepth},
		Limit{"grades that an evaluation looks at to find ideal rankings; alpha_nDCG and nERR_IA have no value if these would be more",
			bounds.IdealSteps},
	),
	Families: []Family{
		{Name: "alpha_nDCG", Aliases: []string{"alpha_NDCG"}, Cutoff: RequiredDepth, deepest: MaxIdeal,
			Parameters: []Parameter{redundancy, relLevel}, HigherIsBetter: true,
			Definition: "alpha_DCG relative to that of an ideal ranking, which takes the document of most gain next."},
		{Name: "alpha_DCG", Cutoff: RequiredDepth, deepest: MaxIdeal, Parameters: []Parameter{redundancy, relLevel}, HigherIsBetter: true,
			Definition: "Novel gain of the ranking, divided by log2(rank + 1), as a share of what documents of all subtopics would have."},
		{Name: "ERR_IA", Cutoff: RequiredDepth, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "Expected reciprocal rank, mean over the subtopics, as a share of what documents of all subtopics would have."},
		{Name: "nERR_IA", Cutoff: RequiredDepth, deepest: MaxIdeal, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "ERR_IA relative to that of the ideal ranking."},
		{Name: "StRecall", Cutoff: RequiredDepth, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "Share of the subtopics that the first k documents cover; ndeval's strec."},
	},
	alias: fromNdeval,
}

// ndeval translates the names that ndeval prints to the names of ir-measures.
var ndeval = strings.NewReplacer("alpha-", "alpha_", "α-", "alpha_", "α_", "alpha_", "-IA", "_IA", "strec", "StRecall")

// fromNdeval translates a name of ndeval, such as alpha-nDCG@20. It returns any other text unchanged.
func fromNdeval(text string) string {
	end := strings.IndexAny(text+"@", "(@")
	return ndeval.Replace(text[:end]) + text[end:]
}
