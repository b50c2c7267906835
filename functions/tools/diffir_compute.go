package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"assay/functions/tools/comparison"
	"assay/functions/tools/inputs"
	"assay/shared/computation/corpus"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"golang.org/x/sync/errgroup"
)

// diffirWork is the state of a comparison.
type diffirWork struct {
	in       DiffirInput
	runs     []*inputs.Run
	truth    *inputs.TruthInput // nil: no judgments
	texts    *inputs.Texts      // nil: no texts
	results  *inputs.Results    // nil: no measure
	rankings []*retrieval.Rankings
	values   []inputs.Values
}

func (w *diffirWork) compute(ctx context.Context) (out DiffirOutput, err error) {
	out = DiffirOutput{Order: w.in.Order, P: w.in.P, Depth: w.in.Depth, Compared: w.in.comparedDepth(), Judged: w.truth != nil}
	if w.results != nil {
		if w.values, err = w.results.Values(ctx); err != nil {
			return out, err
		}
		out.Measure = w.results.Measures[0]
		out.LowerIsBetter = w.results.LowerIsBetter(out.Measure)
	}
	for i, r := range w.runs {
		rankings, err := r.Rankings(ctx)
		if err != nil {
			return out, err
		}
		w.rankings = append(w.rankings, rankings)
		shown := DiffirRun{MeasuredRun: measuredRun(r), Topics: len(rankings.Topics())}
		if w.values != nil {
			shown.Value = w.values[i].Measures[out.Measure]
		}
		out.Runs = append(out.Runs, shown)
	}
	topics, err := w.topics(steps.Of(ctx))
	if err != nil {
		return out, err
	}
	differences, err := w.differences(ctx, topics, out.Measure)
	if err != nil {
		return out, err
	}
	out.TopicCount = len(topics)
	// The topics that differ most come first. Among equals, overlap decides, and then the order of the input or their names.
	slices.SortStableFunc(differences, func(a, b difference) int {
		order := cmp.Or(cmp.Compare(a.sortKey(w.in.Order), b.sortKey(w.in.Order)), cmp.Compare(a.sortKey(byOverlap), b.sortKey(byOverlap)))
		if order == 0 && len(w.in.Topics) == 0 {
			return compareTopics(a.topic, b.topic)
		}
		return order
	})
	for _, d := range differences[:min(len(differences), maxListedTopics)] {
		out.Topics = append(out.Topics, w.summarize(d, out.Measure))
	}
	out.TextFaults, err = w.showDocuments(ctx, out.Topics[:min(len(out.Topics), w.in.Limit)])
	return out, err
}

// topics returns the topics to compare. These are the topics that the input names, or all topics in byte order.
func (w *diffirWork) topics(counter *steps.Counter) ([]string, error) {
	if len(w.in.Topics) == 0 {
		return retrieval.AllTopics(counter, w.rankings), counter.Err()
	}
	var missing problem.Fields
	for i, topic := range w.in.Topics {
		found := slices.ContainsFunc(w.rankings, func(r *retrieval.Rankings) bool { return r.Len(topic) > 0 })
		missing.AddIf(!found, fmt.Sprintf("/topics/%d", i),
			"no run has documents for this topic: check the id, which is the first field of a line")
	}
	return w.in.Topics, problem.Check(missing)
}

// difference says how much a topic differs. It is small because a run may have a million topics.
type difference struct {
	topic         string
	overlap, tau  []float64 // of each other run with the first; tau is NaN if undefined
	measure       float64   // the greatest difference between two runs; NaN if undefined
	least, lowest float64   // lowest overlap and lowest tau
	order         float64   // lowest tau; for runs without tau their overlap, on the scale of tau
}

// differences compares the topics, several concurrently.
func (w *diffirWork) differences(ctx context.Context, topics []string, measure string) ([]difference, error) {
	all := make([]difference, len(topics))
	others := len(w.runs) - 1
	numbers := make([]float64, 2*others*len(topics))
	parts := runtime.GOMAXPROCS(0)
	var group errgroup.Group
	for part := range parts {
		group.Go(func() error {
			rankings := make([]ranking, len(w.runs))
			counter := steps.Of(ctx)
			for i := part; i < len(topics); i += parts {
				if err := counter.Add(1); err != nil {
					return err
				}
				own := numbers[2*others*i : 2*others*(i+1)]
				all[i] = difference{topic: topics[i], overlap: own[:others], tau: own[others:], measure: w.measureRange(topics[i], measure)}
				w.compare(counter, &all[i], rankings)
			}
			return counter.Err()
		})
	}
	return all, group.Wait()
}

// ranking holds the documents to the compared depth. The next topic reuses its memory.
type ranking struct {
	documents []comparison.Document
	*comparison.Ranking
}

// rank reads the rankings of a topic.
func (w *diffirWork) rank(counter *steps.Counter, topic string, into []ranking) {
	deepest := w.in.comparedDepth()
	for i, r := range w.rankings {
		documents := into[i].documents[:0]
		for id, score := range r.Ranking(counter, topic) {
			if len(documents) == deepest {
				break
			}
			documents = append(documents, comparison.Document{ID: string(id), Score: score})
		}
		into[i] = ranking{documents, comparison.NewRanking(documents)}
	}
}

func (w *diffirWork) compare(counter *steps.Counter, d *difference, rankings []ranking) {
	w.rank(counter, d.topic, rankings)
	d.least = math.Inf(1)
	d.lowest = math.Inf(1)
	d.order = math.Inf(1)
	for i, r := range rankings[1:] {
		d.overlap[i] = comparison.RankBiasedOverlap(rankings[0].Ranking, r.Ranking, w.in.P)
		d.least = min(d.least, d.overlap[i])
		if tau, ok := comparison.Tau(counter, rankings[0].Ranking, r.Ranking); ok {
			d.tau[i] = tau
			d.lowest = min(d.lowest, tau)
			d.order = min(d.order, tau)
		} else {
			d.tau[i], d.order = math.NaN(), min(d.order, 2*d.overlap[i]-1)
		}
	}
}

// measureRange returns the greatest difference of a measure between two runs. It returns NaN if fewer than two runs have a value.
func (w *diffirWork) measureRange(topic, measure string) float64 {
	low := math.Inf(1)
	high := math.Inf(-1)
	count := 0
	for _, v := range w.values {
		if x, ok := v.Topics.Shown()[topic][measure]; ok {
			low = min(low, x)
			high = max(high, x)
			count++
		}
	}
	if count < 2 {
		return math.NaN()
	}
	return high - low
}

// sortKey returns a key that is lower for topics that differ more. Keys are equal for overlaps that differ only by the rounding
// of a sum. If tau is undefined because two runs share too few documents, the overlap replaces it on the same scale. Topics
// without values of the measure differ least.
func (d *difference) sortKey(order string) float64 {
	switch {
	case order == byMeasure && math.IsNaN(d.measure):
		return math.Inf(1)
	case order == byMeasure:
		return -d.measure
	case order == byTau:
		return d.order
	}
	return math.Round(d.least*1e9) / 1e9
}

// summarize returns the topic with its numbers.
func (w *diffirWork) summarize(d difference, measure string) DiffirTopic {
	t := DiffirTopic{Topic: d.topic, Overlap: d.least, Difference: defined(d.measure)}
	if !math.IsInf(d.lowest, 1) {
		t.Tau = &d.lowest
	}
	for i := range d.overlap {
		t.Comparisons = append(t.Comparisons, DiffirComparison{Overlap: d.overlap[i], Tau: defined(d.tau[i])})
	}
	for _, v := range w.values {
		var value *float64
		if x, ok := v.Topics.Shown()[d.topic][measure]; ok {
			value = &x
		}
		t.Values = append(t.Values, value)
	}
	return t
}

// defined returns nil for NaN, which JSON cannot represent.
func defined(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// orNaN returns NaN for nil, as charts expect.
func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// showDocuments adds the retrieved documents to the topics. It returns why texts are missing.
func (w *diffirWork) showDocuments(ctx context.Context, topics []DiffirTopic) ([]inputs.TextFault, error) {
	qrels, err := w.truth.Qrels(ctx)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	var queries []string
	rankings := make([]ranking, len(w.runs))
	counter := steps.Of(ctx)
	for i := range topics {
		t := &topics[i]
		w.rank(counter, t.Topic, rankings)
		w.showTopic(counter, t, rankings, qrels)
		if err := counter.Err(); err != nil {
			return nil, err
		}
		queries = append(queries, t.Topic)
		for _, list := range t.Rankings {
			for _, d := range list {
				wanted[d.Document] = true
			}
		}
	}
	found, faults, err := w.texts.Find(ctx, corpus.Wanted{Documents: slices.Collect(maps.Keys(wanted)), Queries: queries})
	if err != nil {
		return nil, err
	}
	for i := range topics {
		topics[i].addTexts(&found)
	}
	return faults, nil
}

// showTopic adds the rankings of a topic and their differences.
func (w *diffirWork) showTopic(counter *steps.Counter, t *DiffirTopic, rankings []ranking, qrels *retrieval.Qrels) {
	depth := w.in.Depth
	for i, r := range rankings[1:] {
		c := &t.Comparisons[i]
		c.Shown = &DiffirChanges{}
		if tau, ok := comparison.TauB(counter, rankings[0].Ranking, r.Ranking); ok {
			c.TauB = &tau
		}
	}
	for i, r := range rankings {
		list := []DiffirDocument{}
		for j, document := range r.documents[:min(depth, len(r.documents))] {
			d := DiffirDocument{Rank: j + 1, Document: document.ID, Score: document.Score, Grade: qrels.Grade(t.Topic, []byte(document.ID)),
				Ranks: lists.Map(rankings, func(other ranking) int { return other.Rank(document.ID) })}
			if i > 0 {
				d.Change = t.Comparisons[i-1].Shown.add(d.Ranks[0], d.Rank, depth)
			} else {
				for other, rank := range d.Ranks[1:] {
					if rank == 0 || rank > depth {
						d.Went = append(d.Went, w.runs[other+1].Name)
						t.Comparisons[other].Shown.Went++
					}
				}
			}
			list = append(list, d)
		}
		t.Rankings = append(t.Rankings, list)
	}
}

// add counts and names the change of a document that this run shows at the given rank. first is the document's rank in the first
// run, or 0.
func (c *DiffirChanges) add(first, rank, depth int) string {
	switch {
	case first == 0 || first > depth:
		c.Came++
		return "came"
	case first == rank:
		c.Kept++
		return "kept"
	default:
		c.Moved++
		return "moved"
	}
}

// addTexts adds the texts of the topic and its documents.
func (t *DiffirTopic) addTexts(found *corpus.Texts) {
	t.Query = found.Queries[t.Topic]
	for _, list := range t.Rankings {
		for _, d := range list {
			text, ok := found.Documents[d.Document]
			if !ok {
				continue
			}
			if t.Texts == nil {
				t.Texts = map[string]DiffirText{}
			}
			if _, there := t.Texts[d.Document]; !there {
				t.Texts[d.Document] = DiffirText{clipTitle(text.Title), passage(snippet(text, t.Query), func(p corpus.Piece) string { return p.Text })}
			}
		}
	}
}
