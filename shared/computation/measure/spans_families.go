package measure

import "assay/shared/computation/measure/bounds"

// TypeParameter is the parameter with the only type of spans that a measure counts.
const TypeParameter = "type"

var (
	ofType = Parameter{Name: TypeParameter, Domain: "label",
		Definition: "the only type of spans that is measured; spans without a type have the type _"}
	pooled = Parameter{Name: "average", Domain: "choice", Choices: []string{"micro", "macro", "weighted"},
		Definition: "micro: all spans pooled; macro: plain mean over the types; weighted: mean weighted by how much of the truth has the type"}
	overlap = Parameter{Name: "overlap", Domain: "choice", Default: "exact", Choices: []string{"exact", "any", "proportional", "units"},
		Definition: "exact: spans match that are equal; any: that share a unit; proportional: by the share of the span that matches, as in " +
			"SemEval-2020 task 11; units: single characters or tokens are counted, and not spans"}
	scheme = Parameter{Name: "scheme", Domain: "choice", Choices: []string{"IOB1", "IOB2", "IOE2", "IOBES", "BILOU"}, format: CoNLL,
		synonyms: map[string]string{"BIOES": "IOBES", "BIO": "IOB2"},
		Definition: "only spans that are valid in the scheme count, as in seqeval's strict mode (IOBES is BIOES); without it, all spans that " +
			"tags begin or end, as in conlleval"}
	averageOrType = []string{pooled.Name, ofType.Name}
	matching      = []Parameter{pooled, ofType, overlap, scheme}
)

var emptyDocuments = []string{"A document without spans in truth and run counts 1, and a document with spans in only one of them counts 0.",
	"Without type, the characters of all types are added."}

var spansEvaluator = EvaluatorKind{
	Kind:         Spans,
	SafePerTopic: true,
	Definition:   "Spans: the parts of each text, or tags of its tokens",
	Truth:        "The true spans of each text, or the true tags of its tokens, written as runs are.",
	Formats:      []string{CoNLL, JSONL},
	ValueField:   "spans",
	HasLabels:    true,
	Defaults:     []string{"F1(average=micro)", "Precision(average=micro)", "Recall(average=micro)"},
	Conventions: []string{
		"macro is the mean over the types that the truth or the run has; weighted weighs each type by the divisor of its recall.",
		"0/0 is 0, as the precision of a type that the run lacks.",
		"A measure has no value if the truth has no spans, or no spans of the type that it names, also if the run has none either; only " +
			"DocumentF1 and DocumentIoU without type have a value then.",
		"Overlapping spans of a type are merged first for overlap=proportional, IoU and units, so that a character counts once; exact and any " +
			"count each span.",
		"Spans that only touch, without a character in common, are not merged.",
		"Spans without a type have the type _, and spans of different types never match.",
		"Without scheme, L and U of BILOU mean E and S.",
	},
	Limits: ofFiles(bounds.Line,
		Limit{"tokens of a truth, and of a run", bounds.Tokens},
		Limit{"bytes of all tokens of a truth, and of a run", bounds.TokenText},
		Limit{"columns of a line with a token", bounds.Columns},
		Limit{"spans of a truth, and of a run", bounds.Spans},
		Limit{"different types of a truth, and of a run", bounds.Types},
		Limit{"end of a span, in characters", bounds.Offset},
		Limit{"bytes of a line of JSON with spans", bounds.ValueLine},
		Limit{"levels of arrays and objects in a line of JSON", bounds.Nesting},
		Limit{"documents of a truth in JSON", bounds.Items},
		Limit{"bytes of the id of a document", bounds.Name},
		Limit{"bytes of all ids of a truth", bounds.IDs},
		Limit{"bytes of a token", bounds.Name},
		Limit{"bytes of a type", bounds.Name},
		Limit{"documents of an evaluation with values by document; an evaluation of more documents has no such values", bounds.Examples},
	),
	Families: []Family{
		{Name: "F1", Cutoff: NoCutoff, Parameters: matching, oneOf: averageOrType, HigherIsBetter: true,
			Definition: "Harmonic mean of precision and recall."},
		{Name: "Precision", Cutoff: NoCutoff, Parameters: matching, oneOf: averageOrType, HigherIsBetter: true,
			Definition: "Share of the predicted spans that match one of the truth of the same type."},
		{Name: "Recall", Cutoff: NoCutoff, Parameters: matching, oneOf: averageOrType, HigherIsBetter: true,
			Definition: "Share of the true spans that match a predicted one of the same type."},
		{Name: "IoU", Cutoff: NoCutoff, Parameters: []Parameter{pooled, ofType, scheme}, oneOf: averageOrType, HigherIsBetter: true,
			Definition: "Intersection over union: characters or tokens in a true and a predicted span of a type, as a share of those in either."},
		{Name: "DocumentF1", Cutoff: NoCutoff, Parameters: []Parameter{ofType, scheme}, HigherIsBetter: true,
			Definition:  "Mean over the documents, or sentences of tokens, of F1 of their characters or tokens, as in SemEval-2021 task 5.",
			Conventions: emptyDocuments},
		{Name: "DocumentIoU", Cutoff: NoCutoff, Parameters: []Parameter{ofType, scheme}, HigherIsBetter: true,
			Definition:  "Mean over the documents, or sentences of tokens, of the intersection over union of their characters or tokens.",
			Conventions: emptyDocuments},
	},
}
