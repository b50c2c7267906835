package measure

import (
	"strings"

	"assay/shared/computation/measure/bounds"
)

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

var (
	answerConventions = []string{
		"Case is that of Unicode, punctuation is that of ASCII, and the articles are a, an and the.",
		"References without words do not count; if no reference has words, only a text without words is right.",
	}
	rougeConventions = []string{
		"The best reference is that of the best F-measure, also for precision and recall, and the first of equally good ones.",
		"The value is the mean over the items, and not the median of samples that ROUGE-1.5.5 and rouge-score's aggregator return.",
		"stem changes words of more than three letters.",
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
	Conventions: []string{
		"EM, TokenF1 and ROUGE are means over the items; BLEU and chrF count n-grams over all items together, and have no values by item.",
		"An item without references counts as an item with one empty reference.",
		"If text and reference have no words, EM and TokenF1 are 1 for the item, ROUGE is 0, and BLEU and chrF count nothing.",
	},
	Limits: ofItems(bounds.ValueLine,
		Limit{"bytes of a text", bounds.Text},
		Limit{"references of an item", bounds.References},
		Limit{"bytes of all references of an item", bounds.ItemText},
		Limit{"bytes of all texts of a truth, and of a run", bounds.Texts},
		ofSteps("the common subsequences of a run by ROUGEL and ROUGELsum", bounds.SubsequenceSteps),
	),
	Families: []Family{
		{Name: "EM", Aliases: []string{"ExactMatch"}, Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "Share of items whose text equals a reference, as SQuAD compares: without case, punctuation and articles.",
			Conventions: answerConventions},
		{Name: "TokenF1", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition:  "Mean F1 of the words of a text and of its best reference, as SQuAD compares: without case, punctuation and articles.",
			Conventions: answerConventions},
		{Name: "ROUGE1", Aliases: []string{"rouge1"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition: "Mean overlap of the words of a text with those of its best reference, from 0 to 1.", Conventions: rougeConventions},
		{Name: "ROUGE2", Aliases: []string{"rouge2"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition: "Mean overlap of the pairs of words of a text with those of its best reference.", Conventions: rougeConventions},
		{Name: "ROUGEL", Aliases: []string{"rougeL"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition: "Mean share of the longest common subsequence of words of a text and of its best reference.", Conventions: rougeConventions},
		{Name: "ROUGELsum", Aliases: []string{"rougeLsum"}, Cutoff: NoCutoff, Parameters: rougeParameters, HigherIsBetter: true,
			Definition:  "Like ROUGEL, but compares each line of a reference with all lines of the text.",
			Conventions: append([]string{"Lines end with a line feed; sentences are not separated."}, rougeConventions...)},
		{Name: "BLEU", Aliases: []string{"sacreBLEU"}, Cutoff: NoCutoff, HigherIsBetter: true, Parameters: []Parameter{
			{Name: "tokenize", Domain: "choice", Default: "13a", Choices: []string{"13a", "char", "intl", "none", "zh"},
				Definition: "how a text is taken apart: 13a, intl: words and punctuation; zh: like 13a, and each Chinese character; char: " +
					"characters, for scripts without spaces; none: at spaces; tok in the signature"}, lowercase},
			Definition: "Precision of n-grams of 1 to 4 words over all texts, with a penalty for short texts, from 0 to 100, as sacrebleu " +
				"computes it; evaluations have the signature, which for one reference and without parameters is " +
				"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0.",
			Conventions: []string{
				"Smoothing is exponential, and the order is always 4: texts of fewer than four words have no n-grams of four words.",
				"It is 0 if no word of any text is in a reference, or if no text has four words.",
				"zh separates the characters that sacrebleu's zh separates, and none outside the basic plane.",
			}},
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
				"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0.",
			Conventions: []string{"White space does not count, and the reference of the best value counts for each text."}},
	},
	alias: func(text string) string { return strings.Replace(text, "chrF++", chrFpp, 1) },
}

// chrFpp stands for chrF++, because names consist of letters and digits.
const chrFpp = "chrFpp"
