package scoring_test

import (
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
)

func settingsOf(kind measure.Kind, format string, measures ...string) scoring.Settings {
	s := scoring.Settings{Kind: kind, Measures: measures, Format: measure.Format{Kind: format}}
	if measure.HasFields(format) {
		s.Format.IDField, s.Format.ValueField = "id", "label"
	}
	return s
}

const topicsFile = `{"qid":"t1","query":"deep lakes"}` + "\n" + `{"qid":"t2","query":"long rivers"}` + "\n"

const unscoredSubtopics = "; not scored against itself, because the best ranking of documents with subtopics is not computed"

const unscoredScores = "; not scored against itself, because a run with a score for each label would be too large"

const thousandLabels = `1000 items, 1000 labels ("label0" 1, "label1" 1, "label2" 1, "label3" 1, "label4" 1 and 995 more)`

var ownLabels = []string{`every item has a label of its own; check that "label" is the field meant`}

// longLabels are the contents of a truth with 100 labels that begin with 1,000 times a.
var longLabels = "100 items, 100 labels (" + strings.Repeat(`"`+strings.Repeat("a", 60)+`"... 1, `, 4) + `"` + strings.Repeat("a", 60) +
	`"... 1 and 95 more)`

// TestPortray_TellsWhatATruthHas has truths of all kinds. A want that ends with … is the beginning of a warning.
func TestPortray_TellsWhatATruthHas(t *testing.T) {
	retrieval := settingsOf(measure.Retrieval, measure.TRECRun, "AP", "nDCG@10", "Compat", "SetP", "GMAP", "NumRel")
	for name, test := range map[string]struct {
		settings      scoring.Settings
		truth, inputs string
		contents      string
		warnings      []string
	}{
		"qrels": {retrieval, "t1 0 a 1\nt1 0 b 0\nt2 0 c 2\n", topicsFile,
			"2 topics, 3 judgments, 2 relevant; 2 of the 2 topics of the inputs are judged", nil},
		"a depth that is too great": {settingsOf(measure.Retrieval, measure.TRECRun, "P@10"), "t1 0 a 1\nt2 0 c 2\n", "",
			"2 topics, 2 judgments, 2 relevant", []string{"P@10 cannot reach its best value 1: the truth scored against itself gets 0.1"}},
		"topics of another collection": {retrieval, "301 0 a 1\n302 0 c 2\n", topicsFile,
			"2 topics, 2 judgments, 2 relevant; 0 of the 2 topics of the inputs are judged", []string{
				`no topic of the truth is in the inputs: the truth has "301", "302"; check that truth and inputs…`}},
		"some other topics": {retrieval, "t1 0 a 1\n302 0 c 2\n", topicsFile,
			"2 topics, 2 judgments, 2 relevant; 1 of the 2 topics of the inputs are judged", []string{
				`1 of the 2 topics of the truth are not in the inputs: "302"`}},
		"swapped columns": {retrieval, "a 0 t1 1\nb 0 t2 1\n", topicsFile,
			"2 topics, 2 judgments, 2 relevant; 0 of the 2 topics of the inputs are judged", []string{
				"no topic of the truth is in the inputs, but the values of its other column are: the columns are probably swapped"}},
		"nothing relevant": {settingsOf(measure.Retrieval, measure.TRECRun, "AP"), "t1 1 a 0\nt2 2 c 0\n", "",
			"2 topics, 2 judgments, 0 relevant; not scored against itself, because no document is relevant",
			[]string{"no document is relevant, since no grade is above 0…"}},
		"documents as topics": {settingsOf(measure.Retrieval, measure.TRECRun, "AP"), "a 0 1 1\nb 0 1 1\nc 0 1 1\nd 0 1 1\n", "",
			"4 topics, 4 judgments, 4 relevant", []string{"there are 4 topics and only 1 document: if the first field of the lines has the " +
				"documents and the third one the topics, exchange them"}},
		"documents as subtopics": {settingsOf(measure.Diversity, measure.TRECRun, "alpha_nDCG@5"), "t a 1 1\nt b 1 1\nt c 2 1\n", "",
			"1 topic, 2 judgments, 2 relevant" + unscoredSubtopics, []string{"there are 3 subtopics and only 2 documents: if the second field of " +
				"the lines has the documents and the third one the subtopics, exchange them"}},
		"documents as topics of subtopics": {settingsOf(measure.Diversity, measure.TRECRun, "alpha_nDCG@5"),
			"a 1 t 1\nb 1 t 1\nc 1 t 1\nd 2 t 1\n", "",
			"4 topics, 4 judgments, 4 relevant" + unscoredSubtopics, []string{"there are 4 topics and only 1 document…"}},
		"a topic without relevant documents": {settingsOf(measure.Retrieval, measure.TRECRun, "AP"), "t1 0 a 1\nt2 0 c 0\n", "",
			"2 topics, 2 judgments, 1 relevant", []string{`1 of 2 topics has no relevant document, and every run gets 0 there: "t2"`,
				"AP cannot reach its best value 1: the truth scored against itself gets 0.5"}},
		"subtopics": {settingsOf(measure.Diversity, measure.TRECRun, "alpha_nDCG@5"), "t1 1 a 1\nt1 2 b 1\n", "",
			"1 topic, 2 judgments, 2 relevant" + unscoredSubtopics,
			nil},
		"many scores": {settingsOf(measure.Probabilities, measure.CSV, "Brier"), "id,label\n" +
			repeated(1000, "%d,label%d\n", func(i int) int { return i }), "", thousandLabels, ownLabels},
		"more scores than a run may have": {settingsOf(measure.Probabilities, measure.JSONL, "Brier"),
			repeated(1000, `{"id":"%d","label":"label%d"}`+"\n", func(i int) int { return i }), "", thousandLabels + unscoredScores, ownLabels},
		"long labels in the header": {settingsOf(measure.Probabilities, measure.CSV, "Brier"), "id,label\n" +
			repeated(100, "%d,"+strings.Repeat("a", 1000)+"%d\n", func(i int) int { return i }), "", longLabels, ownLabels},
		"long labels in each line": {settingsOf(measure.Probabilities, measure.JSONL, "Brier"),
			repeated(100, `{"id":"%d","label":"`+strings.Repeat("a", 1000)+`%d"}`+"\n", func(i int) int { return i }), "",
			longLabels + unscoredScores, ownLabels},
		"labels": {settingsOf(measure.Classification, measure.CSV, "Accuracy", "MCC", "FPR(positive='cat')"), "id,label\n1,cat\n2,dog\n3,cat\n",
			`{"id":"1"}` + "\n" + `{"id":"2"}` + "\n" + `{"id":"3"}` + "\n" + `{"id":"4"}` + "\n",
			`3 items, 2 labels ("cat" 2, "dog" 1); 3 of the 4 items of the inputs are in the truth`, nil},
		"labels in other capitals": {settingsOf(measure.Classification, measure.CSV, "Accuracy"),
			"id,label\n1,pos\n2,neg\n3,Pos\n4,Neg\n5,x\n6,x \n", "",
			`6 items, 6 labels ("pos" 1, "neg" 1, "Pos" 1, "Neg" 1, "x" 1 and 1 more)`, []string{
				`the labels "Neg" and "neg" differ only in blanks or case, as in 2 further pairs: write them alike if they are one label`}},
		"labels in other capitals alone": {settingsOf(measure.Classification, measure.CSV, "Accuracy"), "id,label\n1,x\n2,X\n", "",
			`2 items, 2 labels ("x" 1, "X" 1)`, []string{
				`the labels "X" and "x" differ only in upper and lower case: write them alike if they are one label`}},
		"labels in blanks": {settingsOf(measure.Classification, measure.CSV, "Accuracy"), "id,label\n1,x\n2,x \n", "",
			`2 items, 2 labels ("x" 1, "x " 1)`, []string{
				`the labels "x" and "x " differ only in blanks or case: write them alike if they are one label`}},
		"a missing label and a sum": {settingsOf(measure.Classification, measure.CSV, "Accuracy"), "id,label\n1,x\n2,nan\n Total,2\n", "",
			`3 items, 3 labels ("x" 1, "nan" 1, "2" 1)`, []string{
				`items have the label "nan", which pandas and Python write for a missing value: write their labels, or leave these items out`,
				`the last item is " Total", which is probably a sum below a table: leave its line out`}},
		"labels that are numbers": {settingsOf(measure.Classification, measure.CSV, "Accuracy"), "id,label\n1,1.0\n2,0\n3,2.5\n4,x\n", "",
			`4 items, 4 labels ("1.0" 1, "0" 1, "2.5" 1, "x" 1)`, []string{
				`the labels "1.0" and "0" are numbers in different forms, and labels are compared as text: write all of them alike`}},
		"decimals": {settingsOf(measure.Classification, measure.CSV, "Accuracy"), "id,label\n1,1\n2,0\n3,2.5\n", "",
			`3 items, 3 labels ("1" 1, "0" 1, "2.5" 1)`, nil},
		"lists of labels": {settingsOf(measure.Multilabel, measure.CSV, "HammingLoss"), "id,label\n1,\"['a', 'b']\"\n2,['c']\n", "",
			`2 items, 0 of them without a label, 2 labels ("['a', 'b']" 1, "['c']" 1)`, []string{
				`the label "['a', 'b']" is a list as Python prints it: write the labels with "|" between them`}},
		"another separator": {settingsOf(measure.Multilabel, measure.CSV, "HammingLoss"), "id,label\n1,a;b\n2,b\n3,c d\n", "",
			`3 items, 0 of them without a label, 3 labels ("a;b" 1, "b" 1, "c d" 1)`, []string{
				`labels such as "a;b" contain ";", and labels are separated by "|": write "|" between labels, or name ";" as ` +
					`the separator`}},
		"names with a comma": {settingsOf(measure.Multilabel, measure.CSV, "HammingLoss"), "id,label\n1,\"a, b\"\n2,c\n", "",
			`2 items, 0 of them without a label, 2 labels ("a, b" 1, "c" 1)`, nil},
		"clusters of one item": {settingsOf(measure.Clustering, measure.CSV, "ARI"),
			"id,label\n" + repeated(10, "%d,c%d\n", func(i int) int { return i }), "", "10 items, 10 clusters", []string{
				`every item has a cluster of its own; check that "label" is the field meant`}},
		"numbers of tokens": {settingsOf(measure.Spans, measure.CoNLL, "F1(average=micro)"), "1\tAnn\tB-PER\n2\thas\tO\n\n1\tLee\tB-PER\n", "",
			"2 sentences, 3 tokens, 2 spans of 1 type", []string{"the first column has the numbers of the tokens, as in CoNLL-U; expected the " +
				"tokens themselves: leave that column out"}},
		"one label": {settingsOf(measure.Classification, measure.CSV, "Accuracy", "Kappa"), "id,label\n1,cat\n2,cat\n", "",
			`2 items, 1 label ("cat" 2)`, []string{`every item has the label "cat"`, "Kappa has no value where the truth is scored against itself: …"},
		},
		"swapped fields": {settingsOf(measure.Classification, measure.CSV, "Accuracy"), "label,id\n1,cat\n2,dog\n", "id,text\n1,a\n2,b\n",
			`2 items, 2 labels ("1" 1, "2" 1); 0 of the 2 items of the inputs are in the truth`, []string{
				"no item of the truth is in the inputs, but the values of its other column are: the columns are probably swapped"}},
		"empty sets on both sides": {settingsOf(measure.Multilabel, measure.CSV, "F1(average=samples)", "ExactMatch"),
			"id,label\n1,a|b\n2,\n", "",
			`2 items, 1 of them without a label, 2 labels ("a" 1, "b" 1)`, []string{
				"F1(average=samples) cannot reach its best value 1: the truth scored against itself gets 0.5"}},
		"numbers": {settingsOf(measure.Regression, measure.JSONL, "RMSE", "Pearson"), `{"id":1,"label":2.5}` + "\n" + `{"id":2,"label":2.5}` + "\n", "",
			"2 items, numbers from 2.5 to 2.5", []string{"every item has the number 2.5",
				"Pearson has no value where the truth is scored against itself: …"}},
		"clusters": {settingsOf(measure.Clustering, measure.CSV, "ARI", "VMeasure"), "id,label\n1,a\n2,b\n3,a\n", "", "3 items, 2 clusters", nil},
		"probabilities of csv": {settingsOf(measure.Probabilities, measure.CSV, "AUC(average=macro)", "Brier", "LogLoss"),
			"id,label\n1,\"a \"\"b\"\"\"\n2,dog\n3,x\n", "", `3 items, 3 labels ("a \"b\"" 1, "dog" 1, "x" 1)`, nil},
		"probabilities of jsonl": {settingsOf(measure.Probabilities, measure.JSONL, "AUC", "PAN"),
			`{"id":"1","label":"\"yes\" <é>"}` + "\n" + `{"id":"\"2\"","label":"no"}` + "\n", "",
			`2 items, 2 labels ("\"yes\" <é>" 1, "no" 1)`, nil},
		"single words": {settingsOf(measure.Text, measure.JSONL, "BLEU", "EM"), `{"id":"1","label":["lake","pond"]}` + "\n" +
			`{"id":"2","label":"river"}` + "\n", "", "2 items, 3 references", []string{
			"BLEU cannot reach its best value 100: the truth scored against itself gets 0"}},
		"another script": {settingsOf(measure.Text, measure.JSONL, "ROUGE1", "chrF"), `{"id":"1","label":"湖は深い"}` + "\n", "", "1 item, 1 reference",
			[]string{"ROUGE1 cannot reach its best value 1: the truth scored against itself gets 0"}},
		"tags outside the scheme": {settingsOf(measure.Spans, measure.CoNLL, "F1(average=micro,scheme=IOB2)"),
			"Ann B-PER\nhas O\nLee I-PER\n\n", "",
			"1 sentence, 3 tokens, 2 spans of 1 type", []string{"with scheme=IOB2, 1 of 2 spans counts; …"}},
		"other tokens": {settingsOf(measure.Spans, measure.CoNLL, "F1(average=micro)"), "Ann B-PER\nhas O\n\n", "Ann\nhad\n\n",
			"1 sentence, 2 tokens, 1 span of 1 type", []string{"the tokens of the truth differ from those of the inputs from line 2 on"}},
		"spans after the texts": {settingsOf(measure.Spans, measure.JSONL, "F1(average=micro)"), `{"id":"1","label":[{"start":1,"end":5}]}` + "\n" +
			`{"id":"2","label":[{"start":1,"end":5}]}` + "\n", `{"id":"1","text":"äöü"}` + "\n" + `{"id":"2","text":"äöü"}` + "\n",
			"2 items, 0 of them without spans, 2 spans of 1 type; 2 of the 2 items of the inputs are in the truth", []string{
				"lines 1 and 2 of the truth: the span from 1 to 5 ends after the 3 characters of the text in the inputs of the dataset; the likely " +
					"cause: offsets count bytes, and not characters"}},
		"a span that ends within a word": {settingsOf(measure.Spans, measure.JSONL, "F1(average=micro)"), `{"id":"1","label":[{"start":0,"end":3},` +
			`{"start":4,"end":7},{"start":8,"end":9},{"start":9,"end":11},{"start":11,"end":12}]}` + "\n", `{"id":"1","text":"Die Seen 湖は深い"}` + "\n",
			"1 item, 0 of them without spans, 5 spans of 1 type; 1 of the 1 items of the inputs are in the truth", nil},
		"spans without their last characters": {settingsOf(measure.Spans, measure.JSONL, "F1(average=micro)"), `{"id":"1","label":[{"start":0,` +
			`"end":2},{"start":4,"end":7},{"start":9,"end":11}]}` + "\n", `{"id":"1","text":"Die Seen bei"}` + "\n",
			"1 item, 0 of them without spans, 3 spans of 1 type; 1 of the 1 items of the inputs are in the truth", []string{
				"line 1 of the truth: 3 of 3 spans begin or end within a word of the texts in the inputs of the dataset; the likely cause: end is " +
					"the last character of the span: add 1 to it, because it is the character after the span"}},
		"spans in bytes": {settingsOf(measure.Spans, measure.JSONL, "F1(average=micro)"), `{"id":"1","label":[{"start":0,"end":4},` +
			`{"start":5,"end":10},{"start":11,"end":14},{"start":15,"end":16}]}` + "\n", `{"id":"1","text":"Säe Söer bei dir"}` + "\n",
			"1 item, 0 of them without spans, 4 spans of 1 type; 1 of the 1 items of the inputs are in the truth", []string{
				"line 1 of the truth: 3 of 4 spans begin or end within a word of the texts in the inputs of the dataset; check…"}},
		"spans": {settingsOf(measure.Spans, measure.JSONL, "F1(average=micro)"), `{"id":"1","label":[{"start":0,"end":2,"type":"PER"}]}` + "\n" +
			`{"id":"2","label":[]}` + "\n", "", "2 items, 1 of them without spans, 1 span of 1 type", nil},
	} {
		t.Run(name, func(t *testing.T) {
			files := []scoring.File{file("truth", test.truth)}
			truth, diagnostics, err := scoring.ReadTruth(t.Context(), test.settings, files)
			if err != nil || truth == nil {
				t.Fatal(err, diagnostics)
			}
			var known *scoring.KnownIDs
			if test.inputs != "" {
				known, err = scoring.ReadInputs(t.Context(), test.settings, []scoring.File{file("inputs", test.inputs)})
				if err != nil || known == nil {
					t.Fatal(err, known)
				}
			}
			got, err := truth.Portray(t.Context(), files, known)
			same := func(warning, want string) bool {
				start, cut := strings.CutSuffix(want, "…")
				return warning == want || cut && strings.HasPrefix(warning, start)
			}
			if err != nil || got.Contents != test.contents || !slices.EqualFunc(got.Warnings, test.warnings, same) {
				t.Errorf("got %v, %q\n%s\nwant %q\n%s", err, got.Contents, strings.Join(got.Warnings, "\n"), test.contents,
					strings.Join(test.warnings, "\n"))
			}
		})
	}
}
