package measure

import (
	"fmt"
	"strings"

	"assay/shared/computation/measure/bounds"
)

// CompatDepth is the rank down to which Compat compares rankings, as in its authors' program.
const CompatDepth = bounds.CompatDepth

var (
	relLevel = Parameter{Name: "rel", Domain: "integer", Default: "1", Min: 1, Max: 1_000_000,
		Definition: "least grade that counts as relevant"}
	judgedOnly = Parameter{Name: "judged_only", Domain: "flag", Default: "False",
		Definition: "leave unjudged documents out of the ranking first"}
)

// relLevelWithoutDefault returns relLevel without a default. The meaning says what the measure computes if the parameter is left out.
func relLevelWithoutDefault(meaning string) Parameter {
	p := relLevel
	p.Default, p.Definition = "", p.Definition+"; without it "+meaning
	return p
}

// rankingConventions returns the conventions of all rankings, followed by others.
func rankingConventions(others ...string) []string {
	return append([]string{
		"Documents are ranked by score, the highest first, and equal scores by document id, the last in the order of bytes first, for every " +
			"measure; the rank field of a run does not count.",
		"Values are means over all topics of the truth; a topic that the run lacks counts with nothing retrieved.",
	}, others...)
}

// retrievalEvaluator declares retrieval. Measures and parameters have the names of ir-measures (MacAvaney, Macdonald, Ounis:
// Streamlining Evaluation with ir-measures, ECIR 2022). In addition, infAP and NumRet have judged_only, which is trec_eval's option -J.
var retrievalEvaluator = EvaluatorKind{
	Kind:         Retrieval,
	SafePerTopic: true,
	Definition:   "Rankings: which documents are found for each topic",
	Truth:        "Relevance judgments as TREC qrels, a line each: topic, 0, document, grade.",
	Formats:      []string{TRECRun},
	Defaults:     []string{"nDCG@10", "AP", "RR", "P@10", "R@1000"},
	Conventions: rankingConventions(
		"A document without a judgment and a document with a negative grade have the gain 0 and are not relevant; judged_only leaves both out.",
		"A topic without relevant documents has the value 0 and counts in the mean, as 0/0 does everywhere.",
	),
	Limits: ofRankings(),
	Families: []Family{
		{Name: "nDCG", Aliases: []string{"NDCG"}, Cutoff: OptionalDepth, HigherIsBetter: true,
			Parameters: []Parameter{
				{Name: "dcg", Domain: "choice", Default: "log2", Choices: []string{"log2", "exp-log2"},
					Definition: "log2: the gain is the grade; exp-log2: it is 2^grade - 1"},
				{Name: "gains", Domain: "gains", Min: -1_000_000, Max: 1_000_000,
					Definition: "gains of one's own for some of the grades, such as {0:0,1:2,2:3.5}; other grades keep theirs"},
				judgedOnly,
			},
			Definition: "Discounted gain of the ranking, each gain divided by log2(rank + 1), relative to that of the ideal ranking.",
			Conventions: []string{
				"The ideal ranking has all judged documents with a gain above 0, the greatest gain first, and is cut at the same rank.",
				fmt.Sprintf("exp-log2 has no value if the truth has a grade above %d.", bounds.ExponentGrade),
			}},
		{Name: "AP", Aliases: []string{"MAP"}, Cutoff: OptionalDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Precision at the rank of each relevant document retrieved (down to the cutoff), summed and divided by the number of " +
				"relevant documents."},
		{Name: "GMAP", geometric: true, Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Geometric mean over the topics of AP, which counts as at least 0.00001."},
		{Name: "RR", Aliases: []string{"MRR"}, Cutoff: OptionalDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "One divided by the rank of the first relevant document, 0 when there is none (down to the cutoff)."},
		{Name: "P", Aliases: []string{"Precision"}, Cutoff: RequiredDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Share of relevant documents among the first k; ranks that the run leaves empty count as not relevant."},
		{Name: "R", Aliases: []string{"Recall"}, Cutoff: RequiredDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Share of the relevant documents that stand among the first k."},
		{Name: "Rprec", Aliases: []string{"RPrec"}, Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Precision at rank R, the number of relevant documents of the topic."},
		{Name: "Bpref", Aliases: []string{"BPref"}, Cutoff: NoCutoff, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "How seldom judged non-relevant documents stand above relevant ones; unjudged documents do not matter.",
			Conventions: []string{"Documents with a negative grade count as unjudged.",
				"At most min(N, R) documents that are not relevant count, where R judged documents are relevant and N are not."}},
		{Name: "infAP", Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Average precision estimated from a judged sample of the pool; a negative grade marks a pooled document that was not " +
				"judged."},
		{Name: "Success", Cutoff: RequiredDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "1 when a relevant document stands among the first k, else 0."},
		{Name: "IPrec", Cutoff: RequiredRecall, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Interpolated precision: the best precision at any rank where at least r of the relevant documents are retrieved, a " +
				"number that is rounded as in trec_eval 10 and otherwise than in earlier versions."},
		{Name: "IAP", Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Interpolated average precision: the mean of IPrec at the eleven levels 0.0, 0.1 to 1.0; trec_eval's 11pt_avg."},
		{Name: "SetP", Aliases: []string{"SetRelP"}, presets: map[string]Param{"SetRelP": {"relative", "True"}}, Cutoff: NoCutoff,
			Parameters: []Parameter{relLevel,
				{Name: "relative", Domain: "flag", Default: "False", Definition: "divide by the number of relevant documents where that is less"},
				judgedOnly}, HigherIsBetter: true,
			Definition: "Share of relevant documents among all that were retrieved; SetRelP is SetP(relative=True)."},
		{Name: "SetR", Cutoff: NoCutoff, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "Share of the relevant documents that were retrieved at any rank."},
		{Name: "SetF", Cutoff: NoCutoff, Parameters: []Parameter{relLevel,
			{Name: "beta", Domain: "number", Default: "1.0", Min: 0, Max: 1000,
				Definition: "weight x in (x + 1) P R / (x P + R), like in trec_eval"}, judgedOnly}, HigherIsBetter: true,
			Definition: "Harmonic mean of precision and recall of all that was retrieved."},
		{Name: "SetAP", Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Precision times recall of all that was retrieved."},
		{Name: "Judged", Cutoff: OptionalDepth, HigherIsBetter: true,
			Definition:  "Share of documents with a judgment of any grade, also a negative one, among those retrieved (down to the cutoff).",
			Conventions: []string{"It is 0 for a topic that the run lacks."}},
		{Name: "RBP", Cutoff: OptionalDepth, Parameters: []Parameter{
			{Name: "p", Domain: "number", Default: "0.8", Min: 0, Max: 1, Open: true,
				Definition: "chance that the reader goes on to the next document"},
			relLevelWithoutDefault("the gain is the grade divided by the highest grade of the truth")}, HigherIsBetter: true,
			Definition: "Rank-biased precision: the gain that a reader meets who goes on to the next rank with chance p."},
		{Name: "ERR", Cutoff: OptionalDepth, HigherIsBetter: true,
			Definition: "Expected reciprocal rank at which a reader is satisfied, a grade g satisfying with chance (2^g - 1) / 16; grades go up " +
				"to 4.",
			Conventions: []string{fmt.Sprintf("It has no value if the truth has a grade above %d.", bounds.ERRGrade)}},
		{Name: "Compat", Cutoff: NoCutoff, HigherIsBetter: true, Parameters: []Parameter{
			{Name: "p", Domain: "number", Default: "0.95", Min: 0, Max: 1, Open: true,
				Definition: "persistence: weight of a rank relative to the one above"},
			{Name: "normalize", Domain: "flag", Default: "True", Definition: "divide by the overlap that the ideal ranking has with itself"}},
			Definition: fmt.Sprintf("Compatibility: rank-biased overlap with the ideal ranking that is most like the run, down to rank %d as in "+
				"its authors' compatibility.py, however many documents the run has.", CompatDepth),
			Conventions: []string{
				"The ideal ranking has the documents with grades above 0, the highest grade first; documents of equal grade are in the order of the " +
					"run, and those that the run lacks come last.",
				"Without normalize, it is divided by the sum of the weights of all ranks.",
			}},
		{Name: "NumQ", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Number of topics of the truth."},
		{Name: "NumRet", Aliases: []string{"NumRelRet"}, presets: map[string]Param{"NumRelRet": {"rel", "1"}}, Cutoff: NoCutoff,
			Parameters: []Parameter{relLevelWithoutDefault("every document counts"), judgedOnly}, HigherIsBetter: true,
			Definition: "Number of documents retrieved for the topics of the truth, a sum; NumRelRet is NumRet(rel=1)."},
		{Name: "NumRel", Cutoff: NoCutoff, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "Number of relevant documents in the truth, a sum over its topics."},
	},
	alias: fromTrecEval,
}

// trecEval maps trec_eval's names to measures. A name with a parameter ends in an underscore, and the parameter replaces $.
var trecEval = map[string]string{
	"map": "AP", "map_cut_": "AP@$", "ndcg": "nDCG", "ndcg_cut_": "nDCG@$", "P_": "P@$", "recall_": "R@$", "success_": "Success@$",
	"recip_rank": "RR", "bpref": "Bpref", "iprec_at_recall_": "IPrec@$", "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel",
	"num_rel_ret": "NumRelRet", "set_P": "SetP", "set_relative_P": "SetRelP", "set_recall": "SetR", "set_map": "SetAP",
	"set_F": "SetF", "set_F_": "SetF(beta=$)", "gm_map": "GMAP", "11pt_avg": "IAP", "ndcg_": "nDCG(gains={$})",
}

// fromTrecEval translates a name of trec_eval, in the form that trec_eval prints (P_5) or of its option -m (P.5). It returns any other
// text unchanged.
func fromTrecEval(text string) string {
	name, parameter := strings.TrimSpace(text), ""
	if i := strings.IndexAny(name, "0123456789"); i > 0 && (name[i-1] == '_' || name[i-1] == '.') {
		name, parameter = name[:i-1]+"_", name[i:]
	}
	if known, ok := trecEval[name]; ok {
		return strings.ReplaceAll(known, "$", parameter)
	}
	return text
}
