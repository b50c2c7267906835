package tools

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/functions/tools/inputs"
	"assay/shared/computation/corpus"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"github.com/a-h/templ"
)

// SerpInput selects a ranking.
type SerpInput struct {
	Run   inputs.RunReference    `json:"run" doc:"the run"`
	Topic string                 `json:"topic,omitempty" maxLength:"500" doc:"id of the topic; default the first topic" example:"301"`
	Query string                 `json:"query,omitempty" maxLength:"1000" doc:"the query whose words are marked; default the text of the topic"`
	Truth *inputs.TruthReference `json:"truth,omitempty" doc:"the judgments; by default the truth of the dataset that the run is on, if you may read it"`
	Texts *inputs.TextsReference `json:"texts,omitempty" doc:"the texts of documents and queries; by default the inputs of the dataset that the run is on"`
	Depth int                    `json:"depth,omitempty" minimum:"1" maximum:"200" doc:"number of documents shown; default 20"`
}

// Normalize sets the defaults.
func (in *SerpInput) Normalize() {
	in.Depth = cmp.Or(in.Depth, 20)
}

// SerpOutput is a ranking as a search engine would show it.
type SerpOutput struct {
	Run        string             `json:"run" doc:"name of the run"`
	RunID      string             `json:"runId,omitempty"`
	Topic      string             `json:"topic"`
	Query      string             `json:"query,omitempty" doc:"the query whose words are marked; absent if it is not known"`
	Judged     bool               `json:"judged" doc:"whether there are judgments"`
	TextFaults []inputs.TextFault `json:"textFaults,omitempty" doc:"errors in the dataset's input files that explain missing texts"`
	Retrieved  int                `json:"retrieved" doc:"number of documents of the run for the topic"`
	Results    []SerpResult       `json:"results" doc:"best first; a passage has up to 300 characters"`
	Position   int                `json:"position" doc:"position of the topic among the topics of the run, from 1"`
	TopicCount int                `json:"topicCount" doc:"number of topics of the run"`
	Topics     []string           `json:"topics" doc:"ids of the topics of the run, up to 1,000; numbers in the order of their values"`
	Links      SerpLinks          `json:"links"`
}

// SerpResult is a document that was retrieved.
type SerpResult struct {
	Rank     int     `json:"rank"`
	Document string  `json:"document" doc:"id"`
	Score    float64 `json:"score"`
	Grade    *int    `json:"grade,omitempty" doc:"absent if the document is not judged"`
	Title    string  `json:"title,omitempty"`
	corpus.Snippet
}

// SerpLinks are addresses of the neighbouring topics.
type SerpLinks struct {
	Previous string `json:"previous,omitempty" format:"uri-reference" doc:"absent for the first topic, and if the input is too long for an address"`
	Next     string `json:"next,omitempty" format:"uri-reference" doc:"absent for the last topic, and if the input is too long for an address"`
}

var serpTool = define(metadata{
	name: "serp", kind: "inspection", problems: truthProblems, summary: "Show a run as a page of search results",
	description: "Shows the documents that a run retrieved for a topic like a search engine: rank, score, judgment, title and a passage " +
		"with the words of the query marked.\n\n" +
		"Name the run by `runId`, or send its files. Judgments are shown to callers with the right to read the truth, and to callers who send " +
		"one. Texts come from the inputs of the dataset, or from files that you send.",
}, SerpInput{
	Run:   inputs.RunReference{Name: "words", Files: diffirExample.Runs[0].Files},
	Topic: "1", Truth: diffirExample.Truth, Texts: diffirExample.Texts,
}, func(ctx context.Context, resolver *inputs.Resolver, in SerpInput) (compute[SerpOutput], error) {
	w := serpWork{in: in}
	var err error
	if w.run, err = resolver.Run(ctx, "/run", in.Run); err != nil {
		return nil, err
	}
	runs := []*inputs.Run{w.run}
	if err := resolver.CheckRankings(ctx, w.run); err != nil {
		return nil, err
	}
	if w.truth, err = resolver.Judgments(ctx, in.Truth, runs); err != nil {
		return nil, err
	}
	w.texts, err = resolver.Texts(ctx, "/texts", in.Texts, runs)
	return w.compute, err
})

// serpWork is the state of the computation of a page of results.
type serpWork struct {
	in    SerpInput
	run   *inputs.Run
	truth *inputs.TruthInput // nil: no judgments
	texts *inputs.Texts      // nil: no texts
}

func (w *serpWork) compute(ctx context.Context) (out SerpOutput, err error) {
	rankings, err := w.run.Rankings(ctx)
	if err != nil {
		return out, err
	}
	topics := slices.Clone(rankings.Topics())
	steps.SortFunc(steps.Of(ctx), topics, compareTopics)
	at := 0
	if w.in.Topic != "" {
		at = slices.Index(topics, w.in.Topic)
		if at < 0 {
			return out, problem.InvalidMember("/topic", "%s", missingTopic(topics))
		}
	}
	out = SerpOutput{
		Run: w.run.Name, RunID: w.run.ID, Topic: topics[at], Judged: w.truth != nil, Retrieved: rankings.Len(topics[at]),
		Position: at + 1, TopicCount: len(topics), Topics: topics[:min(len(topics), maxListedTopics)],
	}
	if at > 0 {
		out.Links.Previous = w.in.topicURL(topics[at-1])
	}
	if at+1 < len(topics) {
		out.Links.Next = w.in.topicURL(topics[at+1])
	}
	if out.Results, err = w.results(ctx, rankings, out.Topic); err != nil {
		return out, err
	}
	err = w.addTexts(ctx, &out)
	return out, err
}

// missingTopic names some topics that the run has.
func missingTopic(topics []string) string {
	const few = 5
	detail := "the run has no documents for this topic, but for " + strings.Join(topics[:min(few, len(topics))], ", ")
	if more := len(topics) - few; more > 0 {
		detail += " and " + plural.Count(more, "other")
	}
	return detail
}

// topicURL returns the address of the answer for another topic. It is empty if the input is too long for an address. It leaves
// out the query, which belongs to its topic.
func (in SerpInput) topicURL(topic string) string {
	in.Topic, in.Query = topic, ""
	return resultURL("serp", in)
}

// results returns the first documents of the ranking.
func (w *serpWork) results(ctx context.Context, rankings *retrieval.Rankings, topic string) ([]SerpResult, error) {
	qrels, err := w.truth.Qrels(ctx)
	if err != nil {
		return nil, err
	}
	var results []SerpResult
	counter := steps.Of(ctx)
	for id, score := range rankings.Ranking(counter, topic) {
		if len(results) == w.in.Depth {
			break
		}
		results = append(results, SerpResult{Rank: len(results) + 1, Document: string(id), Score: score, Grade: qrels.Grade(topic, id)})
	}
	return results, counter.Err()
}

// addTexts adds the texts of the topic and the documents.
func (w *serpWork) addTexts(ctx context.Context, out *SerpOutput) error {
	wanted := corpus.Wanted{Documents: lists.Map(out.Results, func(r SerpResult) string { return r.Document })}
	if w.in.Query == "" {
		wanted.Queries = []string{out.Topic}
	}
	found, faults, err := w.texts.Find(ctx, wanted)
	if err != nil {
		return err
	}
	out.TextFaults = faults
	out.Query = w.in.Query
	if out.Query == "" {
		out.Query = found.Queries[out.Topic]
	}
	for i := range out.Results {
		r := &out.Results[i]
		if d, ok := found.Documents[r.Document]; ok {
			r.Title, r.Snippet = clipTitle(d.Title), snippet(d, out.Query)
		}
	}
	return nil
}

func (out SerpOutput) page() (string, templ.Component) { return "Search results", serpPage(out) }

// heading returns the title of a result, or the id of its document if it has no title.
func (r *SerpResult) heading() string { return cmp.Or(r.Title, r.Document) }

// passage renders the pieces without white space between them. A template would add line breaks, which browsers show as spaces.
func (r *SerpResult) passage() templ.Component {
	return templ.Raw(passage(r.Snippet, func(p corpus.Piece) string {
		text := templ.EscapeString(p.Text)
		if p.Marked {
			text = "<mark>" + text + "</mark>"
		}
		return text
	}))
}

// snippet returns the passage of a document that answers show, with the words of the query marked.
func snippet(d corpus.Document, query string) corpus.Snippet {
	s := corpus.Cut(d.Text, query, maxPassage)
	s.After = s.After || d.Clipped
	return s
}

// passage joins the pieces of the snippet. shown returns the text for a piece.
func passage(s corpus.Snippet, shown func(corpus.Piece) string) string {
	var b strings.Builder
	if s.Before {
		b.WriteString("… ")
	}
	for _, p := range s.Pieces {
		b.WriteString(shown(p))
	}
	if s.After {
		b.WriteString(" …")
	}
	return b.String()
}

// clipTitle shortens a title to maxTitle characters.
func clipTitle(title string) string {
	runes := []rune(title)
	if len(runes) <= maxTitle {
		return title
	}
	return string(runes[:maxTitle]) + "…"
}
