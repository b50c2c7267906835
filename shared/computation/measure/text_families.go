package measure

import "strings"

var (
	lowercase = Parameter{Name: "lowercase", Domain: "flag", Default: "False",
		Definition: "write all in lower case first; case:lc in the signature"}
	rougeParameters = []Parameter{
		{Name: "score", Domain: "choice", Default: "fmeasure", Choices: []string{"fmeasure", "precision", "recall"},
			Definition: "which of the three is the value; the best reference is always that of the best F-measure"},
		{Name: "stem", Domain: "flag", Default: "False", Definition: "reduce words to their stems by the algorithm of Porter, as NLTK does"},
		{Name: "tokenize", Domain: "choice", Default: "ascii", Choices: []string{"ascii", "unicode"}, without: "stem",
			Definition: "what a word is: ascii: the letters a to z and digits, as in rouge-score, so that texts in other scripts have no words; " +
				"unicode: letters and digits of all scripts with their marks, and each character of Chinese, Japanese, Thai, Lao, Khmer and Burmese"},
	}
)

// textEvaluator declares measures of texts. Parameters have the names of rouge-score and sacrebleu.
var textEvaluator = EvaluatorKind{
	Kind:         Text,
	SafePerTopic: true,
	Definition:   "Texts: one for each item, such as an answer, a summary or a translation",
	Truth: "The references of each item: a text or, in JSON lines, an array of texts. An empty text or array says that there is nothing " +
		"to answer. If there are few different answers, such as yes and no, EM by item tells them to everybody who sees an evaluation: use " +
		"classification instead, where only organizers see values by item.",
	Formats:    []string{JSONL, CSV},
	ValueField: "text",
	Defaults:   []string{"ROUGE1", "ROUGE2", "ROUGEL", "BLEU", "chrF"},
	Families: []Family{
		{Name: "EM", Aliases: []string{"ExactMatch"}, Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Share of items whose text equals a reference, as SQuAD compares: without case, punctuation and articles."},
		{Name: "TokenF1", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Mean F1 of the words of a text and of its best reference, as SQuAD compares: without case, punctuation and articles."},
		{Name: "ROUGE1", Aliases: []string{"rouge1"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition: "Mean overlap of the words of a text with those of its best reference, from 0 to 1."},
		{Name: "ROUGE2", Aliases: []string{"rouge2"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition: "Mean overlap of the pairs of words of a text with those of its best reference."},
		{Name: "ROUGEL", Aliases: []string{"rougeL"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition: "Mean share of the longest common subsequence of words of a text and of its best reference."},
		{Name: "ROUGELsum", Aliases: []string{"rougeLsum"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition: "Like ROUGEL, but compares each line of a reference with all lines of the text."},
		{Name: "BLEU", Aliases: []string{"sacreBLEU"}, Cutoff: NoCutoff, HigherIsBetter: true, Parameters: []Parameter{
			{Name: "tokenize", Domain: "choice", Default: "13a", Choices: []string{"13a", "char", "intl", "none", "zh"},
				Definition: "how a text is taken apart: 13a, intl: words and punctuation; zh: like 13a, and each Chinese character; char: characters, " +
					"for scripts without spaces; none: at spaces; tok in the signature"}, lowercase},
			Definition: "Precision of n-grams of 1 to 4 words over all texts, with a penalty for short texts, from 0 to 100, as sacrebleu " +
				"computes it; evaluations have the signature, which for one reference and without parameters is " +
				"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0."},
		{Name: "chrF", Aliases: []string{"chrF2", chrFpp}, presets: map[string]Param{chrFpp: {"word_order", "2"}}, Cutoff: NoCutoff,
			HigherIsBetter: true, Parameters: []Parameter{
				{Name: "word_order", Domain: "integer", Default: "0", Min: 0, Max: 4,
					Definition: "longest n-grams of words that count too; chrF++ is chrF(word_order=2); nw in the signature"},
				{Name: "char_order", Domain: "integer", Default: "6", Min: 1, Max: 10,
					Definition: "longest n-grams of characters; nc in the signature"},
				{Name: "beta", Domain: "integer", Default: "2", Min: 1, Max: 10, Definition: "how many times as much recall counts as precision"},
				lowercase},
			Definition: "F-measure of n-grams of characters over all texts, from 0 to 100, as sacrebleu computes it; chrF++ is " +
				"chrF(word_order=2), and evaluations have the signature, which for one reference and without parameters is " +
				"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0."},
	},
	alias: func(text string) string { return strings.Replace(text, "chrF++", chrFpp, 1) },
}

// chrFpp stands for chrF++, because names consist of letters and digits.
const chrFpp = "chrFpp"
