// Package retrieval evaluates rankings of documents. It reads runs and relevance judgments (qrels) in TREC's formats, and computes the
// measures of ir-measures as trec_eval 10.0 -c defines them. So values are comparable with published ones.
//
// # Ranking
//
// All measures use the same ranking of a topic, that of trec_eval. The families of package measure state its conventions, and those of
// single measures.
//
// # Differences from the references
//
//   - Ties: RR@k and Judged@k of ir-measures rank documents with equal scores by ascending id. The values can differ on runs with ties.
//   - nDCG with gains: trec_eval sorts gains by the integer part of their difference, so gains that differ by less than 1 can be in any
//     order in its ideal ranking. Here the greater gain is first.
//   - Compat: ir-measures stops at the end of the run or of the ideal ranking, so documents without a judgment at the end of a run change
//     its value. Here the depth is 1000, like in the authors' program. ir-measures gives a document that the run lacks the score 0, and
//     keeps equal scores in the order of the qrels. Here the ideal ranking has documents of equal grade in the order of the run, and
//     those that the run lacks come last.
//   - Faults: trec_eval accepts text as a score, NaN, fractional grades and empty files. Here they are errors with their line, because a
//     silent 0 is a wrong result.
//
// # Subtopics
//
// Diversity qrels have a subtopic (an intent, an aspect) in place of the iteration, and a line for each document and subtopic. The measures
// follow ndeval, the program of the TREC Web tracks, with its options -traditional (the ranking above) and -c (every topic counts).
//
// A document gains (1 - alpha)^n for each of its subtopics, where n is the number of documents above it that are relevant for the subtopic.
// Gains are discounted by rank and summed. The sum is then divided by a best sum:
//
//   - alpha_DCG, ERR_IA: the sum of documents that all have every subtopic. ndeval does not divide at rank 1, and has no ranks below 20.
//   - alpha_nDCG, nERR_IA: the sum of the ideal ranking (Clarke et al., SIGIR 2008; Chapelle et al., CIKM 2009).
//
// # Files
//
// Lines that begin with #, also after blanks, are comments in runs and qrels; trec_eval 10 has comments in runs. So the id of a topic
// cannot begin with #. A comment that has all fields of a line gets a warning. Whole grades may be written as decimals, such as 1.0.
//
// A file is read once, and parsed and evaluated on all cores. A run takes about 16 bytes of memory a line, and its document ids.
package retrieval

import (
	"context"
	"fmt"
	"math"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "retrieval/3"

// DiversityVersion names the semantics of the evaluator of rankings with subtopics.
const DiversityVersion = "diversity/1"

// Evaluate reads a run from one or more files and computes the measures, which must be of the kind of the qrels. It returns at most
// measure.MaxDiagnostics errors and warnings, in the order of files and lines. If one of them is an error, the result is empty. The error
// is from a file's reader or the context, or says that a measure belongs to another kind of evaluator.
func (q *Qrels) Evaluate(ctx context.Context, measures []measure.Measure,
	files ...measure.File) (measure.Result, []measure.Diagnostic, error) {
	e, err := q.Read(ctx, measures, files...)
	if err != nil {
		return measure.Result{}, nil, err
	}
	return e.Result, e.Diagnostics, nil
}

// kept is an evaluated run. It is kept so that it can be compared with Known topics, or validated without the truth.
type kept struct {
	run          *run
	read         *measure.Report // faults that reading found
	withoutTruth *measure.Report // faults that reading and ranking found, without the truth
}

// WithoutTruth returns the diagnostics that ReadRankings returns for the run. ok is false if the run may have too many topics: with the
// truth, only topics that the truth lacks count towards the limit.
func (k *kept) WithoutTruth() (found []measure.Diagnostic, ok bool) {
	t := k.run.topics
	return k.run.inOrder(k.withoutTruth), len(t.names)+len(t.others) <= t.most
}

// Read evaluates a run like Evaluate, and keeps it.
func (q *Qrels) Read(ctx context.Context, measures []measure.Measure, files ...measure.File) (*measure.Scores, error) {
	plan, err := q.plan(measures)
	if err != nil {
		return nil, err
	}
	run, read, err := readRun(ctx, q, standardLimits, files)
	if err != nil {
		return nil, err
	}
	report := read.Clone()
	withoutTruth := read.Clone()
	counter := steps.Of(ctx)
	q.compareTopics(counter, run, measure.OfTruth, report)
	if err := counter.Err(); err != nil {
		return nil, err
	}
	values, err := run.rank(ctx, q, plan, report, withoutTruth)
	if err != nil {
		return nil, err
	}
	e := &measure.Scores{Diagnostics: run.inOrder(report)}
	if q.options.Only == nil { // otherwise the run lacks lines
		e.Kept = &kept{run, read, withoutTruth}
	}
	if !report.Failed() {
		e.Result = plan.result(counter, q, values)
		e.Result.Warnings = e.Diagnostics
		e.EveryTopic = func(ctx context.Context) (map[string]map[string]float64, error) {
			counter := steps.Of(ctx)
			all := plan.byTopic(counter, q, values)
			return all, counter.Err()
		}
	}
	if err := counter.Err(); err != nil {
		return nil, err
	}
	return e, nil
}

// plan lists the measures that an evaluation computes. The values of a plan are one list, topic by topic in the order of the truth: the
// value of score j for topic i is at i*len(scores)+j.
type plan struct {
	scores     []score
	undefined  map[string]string // reasons of measures that have no value on this truth
	judgedOnly bool              // a score needs rankings of judged documents only
	idealSteps int               // steps for the ideal rankings of all scores
}

// score is a measure that has a value on this truth.
type score struct {
	name      string
	of        scorer
	view      *parameters
	summed    bool // the value is the sum over the topics, not the mean
	geometric bool // the value is the geometric mean over the topics
}

// plan finds the scorer of each measure. It returns an error if a measure belongs to another kind of evaluator than the qrels.
func (q *Qrels) plan(measures []measure.Measure) (*plan, error) {
	p := &plan{undefined: map[string]string{}}
	seen := map[string]bool{}
	for _, m := range measures {
		of, ok := scorers[m.Name]
		if !ok || m.Kind != q.kind() {
			return nil, fmt.Errorf("%s measure %s is not one of %s", m.Kind, m, q.kind())
		}
		name := m.String()
		if seen[name] {
			continue
		}
		seen[name] = true
		p.add(q, m, of)
	}
	return p, nil
}

// add adds a measure to the scores, or to the undefined measures.
func (p *plan) add(q *Qrels, m measure.Measure, of scorer) {
	name := m.String()
	reason := q.undefined(m)
	if reason == "" {
		reason = p.addIdeal(q, m)
	}
	if reason != "" {
		p.undefined[name] = reason
		return
	}
	p.scores = append(p.scores, score{
		name:      name,
		of:        of,
		view:      q.view(m),
		summed:    counts[m.Name],
		geometric: m.IsGeometric(),
	})
	p.judgedOnly = p.judgedOnly || m.Flag("judged_only")
}

// kind returns the kind of the evaluator that the qrels are for.
func (q *Qrels) kind() measure.Kind {
	if q.subtopics != nil {
		return measure.Diversity
	}
	return measure.Retrieval
}

// undefined says why a measure has no value on this truth. It returns "" if the measure has a value.
func (q *Qrels) undefined(m measure.Measure) string {
	switch {
	case m.Name == "ERR" && q.highest > maxERRGrade:
		return fmt.Sprintf("ERR is defined for grades up to %d; the truth has grade %d", maxERRGrade, q.highest)
	case m.Param("dcg") == "exp-log2" && q.highest > maxExponent:
		return fmt.Sprintf("gains of 2^grade - 1 are computed for grades up to %d; the truth has grade %d", maxExponent, q.highest)
	}
	return ""
}

// result returns the values of the measures over all topics and, if there are at most measure.MaxTopicValues, of each topic.
func (p *plan) result(counter *steps.Counter, q *Qrels, values []float64) measure.Result {
	result := measure.Result{Measures: make(map[string]*float64, len(p.scores)+len(p.undefined)), Reasons: p.undefined}
	for name := range p.undefined {
		result.Measures[name] = nil
	}
	for j, s := range p.scores {
		result.Measures[s.name] = new(p.overall(counter, q, values, j))
	}
	if len(values) > measure.MaxTopicValues {
		result.Reasons[measure.PerTopicReason] = fmt.Sprintf("there are %s and %s, and values by topic are kept of up to %d of one times "+
			"the other", plural.Count(len(q.names), "topic"), plural.Count(len(p.scores), "measure"), measure.MaxTopicValues)
	} else {
		result.PerTopic = p.byTopic(counter, q, values)
	}
	return result
}

// overall returns the sum, mean or geometric mean of score j over the topics. It adds the values in the order of the topics, so that the
// result has the same bits on any number of cores.
func (p *plan) overall(counter *steps.Counter, q *Qrels, values []float64, j int) float64 {
	s := p.scores[j]
	var sum measure.Sum
	for i := range q.names {
		if counter.Add(1) != nil {
			break
		}
		value := values[i*len(p.scores)+j]
		if s.geometric {
			value = math.Log(value)
		}
		sum.Add(value)
	}
	if s.summed {
		return sum.Total()
	}
	mean := sum.Total() / float64(len(q.names))
	if s.geometric {
		return math.Exp(mean)
	}
	return mean
}

// byTopic returns the values by topic and measure.
func (p *plan) byTopic(counter *steps.Counter, q *Qrels, values []float64) map[string]map[string]float64 {
	all := make(map[string]map[string]float64, len(q.names))
	for i, topic := range q.names {
		if counter.Add(perLookup*(1+len(p.scores))) != nil {
			break
		}
		of := make(map[string]float64, len(p.scores))
		for j, s := range p.scores {
			of[s.name] = values[i*len(p.scores)+j]
		}
		all[topic] = of
	}
	return all
}
