package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"assay/functions/tools/inputs"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// DiffirInput selects the runs to compare and says how.
type DiffirInput struct {
	Runs    []inputs.RunReference  `json:"runs" minItems:"2" maxItems:"5" doc:"the runs; the others are compared with the first"`
	Truth   *inputs.TruthReference `json:"truth,omitempty" doc:"the judgments; by default the truth of the dataset that the runs are on, if you may read it"`
	Texts   *inputs.TextsReference `json:"texts,omitempty" doc:"the texts of documents and queries; by default the inputs of the dataset that the runs are on"`
	Order   string                 `json:"order,omitempty" enum:"overlap,tau,measure" doc:"the order of topics, the greatest difference first: by rank-biased overlap (the default), by Kendall's tau, or by the greatest difference of a measure"`
	Measure string                 `json:"measure,omitempty" maxLength:"100" doc:"name of a measure whose values are shown; for the order measure the default is the measure that ranks" example:"nDCG@10"`
	P       float64                `json:"p,omitempty" minimum:"0.01" maximum:"0.99" doc:"persistence of rank-biased overlap: the probability that a reader goes on to the next rank; default 0.9"`
	Topics  []string               `json:"topics,omitempty" maxItems:"1000" maxLength:"500" doc:"ids of topics; default all"`
	Depth   int                    `json:"depth,omitempty" minimum:"1" maximum:"100" doc:"number of documents shown of each ranking; default 10"`
	Limit   int                    `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"number of topics whose documents are shown; default 20"`
}

const (
	byOverlap = "overlap"
	byTau     = "tau"
	byMeasure = "measure"
)

// Normalize sets the defaults.
func (in *DiffirInput) Normalize() {
	in.Order = cmp.Or(in.Order, byOverlap)
	in.P = cmp.Or(in.P, 0.9)
	in.Depth = cmp.Or(in.Depth, 10)
	in.Limit = cmp.Or(in.Limit, 20)
}

const (
	// maxListedTopics bounds the topics whose numbers an answer has.
	maxListedTopics = 1000
	// maxShownDocuments bounds the documents of an answer, over all runs and topics. With texts, about as many fit the answer of
	// a function.
	maxShownDocuments = 4000
	// maxPassage and maxTitle bound the characters of the text and the title that are shown of a document.
	maxPassage = 300
	maxTitle   = 120
)

// Check reports the errors in the input.
func (in *DiffirInput) Check() []problem.Field {
	var fields problem.Fields
	n := len(in.Runs) * in.Depth * in.Limit
	fields.AddIf(n > maxShownDocuments, "/limit",
		"%s of %d runs to depth %d are up to %d documents, and an answer can show at most %d: give less of {limit} or {depth}, or name {topics}",
		plural.Count(in.Limit, "topic"), len(in.Runs), in.Depth, n, maxShownDocuments)
	first := map[string]int{}
	for i, topic := range in.Topics {
		if at, twice := first[topic]; twice {
			fields.Add(fmt.Sprintf("/topics/%d", i), "is the topic of %s: name it once", problem.Member(fmt.Sprintf("/topics/%d", at)))
		} else {
			first[topic] = i
		}
	}
	return fields
}

// comparedDepth returns the depth to which rankings are compared. Documents below this depth weigh less than 1e-6 in rank-biased
// overlap.
func (in *DiffirInput) comparedDepth() int {
	return max(1000, int(math.Ceil(math.Log(1e-6)/math.Log(in.P))))
}

// DiffirOutput describes how runs differ.
type DiffirOutput struct {
	Order         string             `json:"order" doc:"the order of topics"`
	P             float64            `json:"p" doc:"persistence of rank-biased overlap"`
	Depth         int                `json:"depth" doc:"number of documents shown of each ranking"`
	Compared      int                `json:"compared" doc:"number of documents compared of each ranking, at most; documents below change rank-biased overlap by less than 0.000001"`
	Judged        bool               `json:"judged" doc:"whether there are judgments"`
	TextFaults    []inputs.TextFault `json:"textFaults,omitempty" doc:"errors in the dataset's input files that explain missing texts"`
	Measure       string             `json:"measure,omitempty" doc:"canonical name of the measure, if the input asks for one"`
	LowerIsBetter bool               `json:"lowerIsBetter,omitempty" doc:"whether lower values of the measure are better"`
	Runs          []DiffirRun        `json:"runs" doc:"in the order asked for"`
	TopicCount    int                `json:"topicCount" doc:"number of topics compared"`
	Topics        []DiffirTopic      `json:"topics" doc:"topics in order, up to 1,000; the first have rankings"`
}

// DiffirRun is a run that was compared.
type DiffirRun struct {
	MeasuredRun
	Topics int      `json:"topics" doc:"number of topics of the run"`
	Value  *float64 `json:"value,omitempty" doc:"value of the measure, over all topics"`
}

// DiffirTopic describes how the runs differ in a topic.
type DiffirTopic struct {
	Topic       string                `json:"topic"`
	Query       string                `json:"query,omitempty" doc:"text of the topic, if it is known and rankings are shown"`
	Overlap     float64               `json:"overlap" doc:"the lowest rank-biased overlap, extrapolated as by Webber et al. 2010, of a run with the first"`
	Tau         *float64              `json:"tau,omitempty" doc:"the lowest Kendall's tau of a run with the first, over the documents that both have; absent when none is defined"`
	Difference  *float64              `json:"difference,omitempty" doc:"the greatest difference of the measure between two runs"`
	Values      []*float64            `json:"values,omitempty" doc:"value of the measure for each run; null for a run without a value"`
	Comparisons []DiffirComparison    `json:"comparisons" doc:"comparisons of each other run with the first"`
	Rankings    [][]DiffirDocument    `json:"rankings,omitempty" doc:"the documents that each run retrieved, best first, if they are shown"`
	Texts       map[string]DiffirText `json:"texts,omitempty" doc:"texts of the documents in the rankings, by id, if they are known"`
}

// DiffirComparison describes how a ranking differs from the ranking of the first run.
type DiffirComparison struct {
	Overlap float64        `json:"overlap" doc:"rank-biased overlap, extrapolated, from 0 to 1"`
	Tau     *float64       `json:"tau,omitempty" doc:"Kendall's tau of the documents that both have; absent for fewer than two documents"`
	TauB    *float64       `json:"tauB,omitempty" doc:"if rankings are shown: tau-b of the documents that either ranking has. Documents of equal score are tied. Documents that a ranking lacks are tied below all its documents"`
	Shown   *DiffirChanges `json:"shown,omitempty" doc:"if rankings are shown: how many documents moved, came and went"`
}

// DiffirChanges counts the shown documents by their change from the first run.
type DiffirChanges struct {
	Kept  int `json:"kept" doc:"at the same rank in both"`
	Moved int `json:"moved" doc:"at different ranks"`
	Came  int `json:"came" doc:"only in this run"`
	Went  int `json:"went" doc:"only in the first run"`
}

// DiffirDocument is a document of a ranking.
type DiffirDocument struct {
	Rank     int      `json:"rank"`
	Document string   `json:"document" doc:"id"`
	Score    float64  `json:"score"`
	Grade    *int     `json:"grade,omitempty" doc:"absent if the document is not judged"`
	Change   string   `json:"change,omitempty" enum:"kept,moved,came" doc:"change from the documents shown of the first run; absent in the first run"`
	Ranks    []int    `json:"ranks" doc:"rank in each run; 0 where it is not among the compared documents"`
	Went     []string `json:"went,omitempty" doc:"in the first run: names of the runs that do not show the document"`
}

// DiffirText is the text of a document.
type DiffirText struct {
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty" doc:"the passage with most words of the query, up to 300 characters"`
}

// diffirExample compares a run of lexical retrieval with a run of semantic retrieval.
var diffirExample = DiffirInput{
	Runs: []inputs.RunReference{
		{Name: "words", Files: []inputs.InlineFile{
			{Name: "words.txt", Text: "1 Q0 pond 1 4.0 words\n1 Q0 road 2 3.0 words\n1 Q0 lake 3 2.0 words\n2 Q0 lake 1 2.0 words\n2 Q0 pond 2 " +
				"1.0 words\n"}}},
		{Name: "meaning", Files: []inputs.InlineFile{
			{Name: "meaning.txt", Text: "1 Q0 lake 1 0.9 meaning\n1 Q0 pond 2 0.8 meaning\n1 Q0 brook 3 0.2 meaning\n2 Q0 lake 1 0.7 meaning\n2 " +
				"Q0 pond 2 0.6 meaning\n"}}},
	},
	Truth: &inputs.TruthReference{Files: []inputs.InlineFile{{Name: "qrels.txt", Text: "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n2 0 lake 1\n"}}},
	Texts: &inputs.TextsReference{Files: []inputs.InlineFile{
		{Name: "documents.tsv", Text: "lake\tA lake is a large body of still water, deeper than a pond.\npond\tA pond is a small body of still " +
			"water.\nroad\tThe road around the water is closed.\nbrook\tA brook is a small stream.\n"},
		{Name: "queries.tsv", Text: "1\tdeep still water\n2\tlakes\n"},
	}},
	Measure: "nDCG@10",
}

var diffirTool = define(metadata{
	name: "diffir", kind: "comparison", problems: valueProblems, summary: "Compare runs by topic",
	description: "Shows two to five runs side by side: which documents moved, came and went, with their judgments and texts. The topics " +
		"that differ most come first. " +
		"Topics are ordered by rank-biased overlap (Webber, Moffat and Zobel, 2010), by Kendall's tau, or by how much a measure differs.\n\n" +
		"Name runs by `runId`, or send their files. Judgments are shown to callers with the right to read the truth, and to callers who send " +
		"one. Texts come from the inputs of the dataset, or from files that you send.",
}, diffirExample, func(ctx context.Context, resolver *inputs.Resolver, in DiffirInput) (compute[DiffirOutput], error) {
	w := diffirWork{in: in}
	var err error
	if in.Measure != "" || in.Order == byMeasure {
		asked := oneMeasureRequest(in.Runs, in.Truth, in.Measure)
		asked.WithFiles = true
		if w.results, err = resolver.Results(ctx, asked); err != nil {
			return nil, err
		}
		w.runs, w.truth = w.results.Runs, w.results.Truth
	} else if w.runs, err = resolver.Runs(ctx, "/runs", in.Runs); err != nil {
		return nil, err
	}
	if err := resolver.CheckRankings(ctx, w.runs...); err != nil {
		return nil, err
	}
	if w.truth == nil {
		if w.truth, err = resolver.Judgments(ctx, in.Truth, w.runs); err != nil {
			return nil, err
		}
	}
	w.texts, err = resolver.Texts(ctx, "/texts", in.Texts, w.runs)
	return w.compute, err
})
