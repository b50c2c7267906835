package measure

import "strings"

// MaxIdeal is how many documents of an ideal ranking with subtopics are looked for, which takes the more time the more they are.
const MaxIdeal = 1000

var redundancy = Parameter{Name: "alpha", Domain: "number", Default: "0.5", Min: 0, Max: 1,
	Definition: "how much of the gain of a subtopic each earlier document of it takes away"}

// diversityEvaluator declares rankings with subtopics. Names and parameters of measures are those of ir-measures.
var diversityEvaluator = EvaluatorKind{
	Kind:         Diversity,
	SafePerTopic: true,
	Definition:   "Rankings of topics that have subtopics (intents, aspects): how many of them documents cover, and how early",
	Truth:        "Diversity qrels as of the TREC Web tracks, a line each: topic, subtopic, document, grade.",
	Formats:      []string{TRECRun},
	Defaults:     []string{"alpha_nDCG@20", "ERR_IA@20", "StRecall@20"},
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

// ndeval has the names that it prints and ir-measures writes in another way.
var ndeval = strings.NewReplacer("alpha-", "alpha_", "α-", "alpha_", "α_", "alpha_", "-IA", "_IA", "strec", "StRecall")

// fromNdeval returns the measure that a name of ndeval stands for, such as alpha-nDCG@20; any other text as it is.
func fromNdeval(text string) string {
	end := strings.IndexAny(text+"@", "(@")
	return ndeval.Replace(text[:end]) + text[end:]
}
