package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"assay/functions/tools/inputs"
	"assay/shared/plural"
	"assay/shared/problem"
)

// DiffirInput is which runs to compare, and how.
type DiffirInput struct {
	Runs    []inputs.RunReference  `json:"runs" minItems:"2" maxItems:"5" doc:"the runs; the others are compared with the first"`
	Truth   *inputs.TruthReference `json:"truth,omitempty" doc:"the judgments; unless given, those of the dataset that the runs are on, if you may read them"`
	Texts   *inputs.TextsReference `json:"texts,omitempty" doc:"the texts of documents and queries; unless given, those in the inputs of the dataset that the runs are on"`
	Order   string                 `json:"order,omitempty" enum:"overlap,tau,measure" doc:"what topics are ordered by, those that differ most first: rank-biased overlap, which it is unless given, Kendall's tau, or the greatest difference of a measure"`
	Measure string                 `json:"measure,omitempty" maxLength:"100" doc:"name of a measure whose values are shown; ordered by measure it is the primary one unless given" example:"nDCG@10"`
	P       float64                `json:"p,omitempty" minimum:"0.01" maximum:"0.99" doc:"of rank-biased overlap: the chance that a reader goes on to the next rank; 0.9 unless given"`
	Topics  []string               `json:"topics,omitempty" maxItems:"1000" maxLength:"500" doc:"ids of topics; all unless given"`
	Depth   int                    `json:"depth,omitempty" minimum:"1" maximum:"100" doc:"how many documents are shown of each ranking; 10 unless given"`
	Limit   int                    `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"of how many topics documents are shown; 20 unless given"`
}

const (
	byOverlap = "overlap"
	byTau     = "tau"
	byMeasure = "measure"
)

// Normalize fills in what is not given.
func (in *DiffirInput) Normalize() {
	in.Order = cmp.Or(in.Order, byOverlap)
	in.P = cmp.Or(in.P, 0.9)
	in.Depth = cmp.Or(in.Depth, 10)
	in.Limit = cmp.Or(in.Limit, 20)
}

const (
	// maxListedTopics is of how many topics an answer has numbers.
	maxListedTopics = 1000
	// maxShownDocuments is how many documents an answer shows, over all runs and topics: with texts, about as many as fit
	// one of a function.
	maxShownDocuments = 4000
	// maxPassage is how many characters of a document are shown, and maxTitle as many of its title.
	maxPassage = 300
	maxTitle   = 120
)

// Check reports the errors in the input.
func (in *DiffirInput) Check() []problem.Field {
	var fields problem.Fields
	n := len(in.Runs) * in.Depth * in.Limit
	fields.AddIf(n > maxShownDocuments, "/limit",
		"%s of %d runs to depth %d are up to %d documents, and an answer can show at most %d: give less of limit or depth, or name topics",
		plural.Count(in.Limit, "topic"), len(in.Runs), in.Depth, n, maxShownDocuments)
	first := map[string]int{}
	for i, topic := range in.Topics {
		if at, twice := first[topic]; twice {
			fields.Add(fmt.Sprintf("/topics/%d", i), "is the topic of /topics/%d: name it once", at)
		} else {
			first[topic] = i
		}
	}
	return fields
}

// comparedDepth is to which depth rankings are compared: what is below weighs less than 1e-6 in rank-biased overlap.
func (in *DiffirInput) comparedDepth() int {
	return max(1000, int(math.Ceil(math.Log(1e-6)/math.Log(in.P))))
}

// DiffirOutput is how runs differ.
type DiffirOutput struct {
	Order         string             `json:"order" doc:"what topics are ordered by: overlap, tau or measure"`
	P             float64            `json:"p" doc:"of rank-biased overlap"`
	Depth         int                `json:"depth" doc:"how many documents are shown of each ranking"`
	Compared      int                `json:"compared" doc:"how many documents of each ranking were compared, at most; those below change rank-biased overlap by less than 0.000001"`
	Judged        bool               `json:"judged" doc:"whether there are judgments"`
	TextFaults    []inputs.TextFault `json:"textFaults,omitempty" doc:"why texts of the dataset's inputs are missing, as far as its files are to blame"`
	Measure       string             `json:"measure,omitempty" doc:"canonical name of the measure, if one was asked for"`
	LowerIsBetter bool               `json:"lowerIsBetter,omitempty" doc:"whether the least value of the measure is the best"`
	Runs          []DiffirRun        `json:"runs" doc:"in the order asked for"`
	TopicCount    int                `json:"topicCount" doc:"how many topics were compared"`
	Topics        []DiffirTopic      `json:"topics" doc:"those that differ most first, up to 1,000 of them; the first have rankings"`
}

// DiffirRun is a run that was compared.
type DiffirRun struct {
	MeasuredRun
	Topics int      `json:"topics" doc:"how many topics the run has"`
	Value  *float64 `json:"value,omitempty" doc:"of the measure, over all topics"`
}

// DiffirTopic is how the runs differ in a topic.
type DiffirTopic struct {
	Topic       string                `json:"topic"`
	Query       string                `json:"query,omitempty" doc:"text of the topic, where rankings are shown and it is known"`
	Overlap     float64               `json:"overlap" doc:"the least rank-biased overlap, extrapolated as by Webber et al. 2010, of a run with the first"`
	Tau         *float64              `json:"tau,omitempty" doc:"the least Kendall's tau of a run with the first, over the documents that both have; absent when none is defined"`
	Difference  *float64              `json:"difference,omitempty" doc:"the greatest difference of the measure between two runs"`
	Values      []*float64            `json:"values,omitempty" doc:"of the measure, for each run; null where it has none"`
	Comparisons []DiffirComparison    `json:"comparisons" doc:"of each run but the first with the first"`
	Rankings    [][]DiffirDocument    `json:"rankings,omitempty" doc:"what each run retrieved, best first, where it is shown"`
	Texts       map[string]DiffirText `json:"texts,omitempty" doc:"of the documents in the rankings, by id, as far as they are known"`
}

// DiffirComparison is how a ranking differs from that of the first run.
type DiffirComparison struct {
	Overlap float64        `json:"overlap" doc:"rank-biased overlap, extrapolated, from 0 to 1"`
	Tau     *float64       `json:"tau,omitempty" doc:"Kendall's tau of the documents that both have; absent for fewer than two"`
	TauB    *float64       `json:"tauB,omitempty" doc:"where rankings are shown: tau-b of the documents that either has, with those of equal score tied, and those that a ranking does not have tied below all that it has"`
	Shown   *DiffirChanges `json:"shown,omitempty" doc:"where rankings are shown: what became of the documents"`
}

// DiffirChanges are numbers of documents that are shown.
type DiffirChanges struct {
	Kept  int `json:"kept" doc:"at the same rank in both"`
	Moved int `json:"moved" doc:"at different ranks"`
	Came  int `json:"came" doc:"in this run alone"`
	Went  int `json:"went" doc:"in the first run alone"`
}

// DiffirDocument is a document of a ranking.
type DiffirDocument struct {
	Rank     int      `json:"rank"`
	Document string   `json:"document" doc:"id"`
	Score    float64  `json:"score"`
	Grade    *int     `json:"grade,omitempty" doc:"absent when it is not judged"`
	Change   string   `json:"change,omitempty" enum:"kept,moved,came" doc:"how it stands to what is shown of the first run; absent there"`
	Ranks    []int    `json:"ranks" doc:"where it stands in each run; 0 where it is not among the documents that were compared"`
	Went     []string `json:"went,omitempty" doc:"in the first run: names of the runs that do not show it"`
}

// DiffirText is the text of a document.
type DiffirText struct {
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty" doc:"the passage with most words of the query, up to 300 characters"`
}

// diffirExample compares what is found by words with what is found by meaning.
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
	description: "Two to five runs side by side: which documents moved, came and went, with their judgments and texts, the topics that " +
		"differ most first. " +
		"Topics are ordered by rank-biased overlap (Webber, Moffat and Zobel, 2010), by Kendall's tau, or by how much a measure differs.\n\n" +
		"Name runs by `runId`, or send their files. Judgments are shown to those who may read the truth, and to those who send one; texts are " +
		"those in the inputs of the dataset, or sent along.",
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
