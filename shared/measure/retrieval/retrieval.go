// Package retrieval evaluates rankings of documents: it reads runs and relevance judgments in the formats of TREC and
// computes the measures of ir-measures with the meaning of trec_eval 10.0 -c, so that its numbers compare with
// published ones.
//
// One ranking holds for every measure of a run: by score, and documents of equal score by their id, descending, its
// bytes compared as unsigned numbers. The rank field of a run is ignored, as in trec_eval; tools that break ties the
// other way round (RR@k and Judged@k in ir-measures) can differ on runs with tied scores. Every topic of the truth
// counts: one that the run leaves out has nothing retrieved, and so has 0 in nearly every measure.
//
// Where references differ, or err: trec_eval orders the gains of an ideal ranking by their difference without decimals, so that gains
// that differ by less than 1 can stand in any order; here the greater one is first. The ideal ranking of Compat in ir-measures has a
// document that the run lacks like one with the score 0, and documents of equal score in the order of the qrels; here those that the run
// lacks come last, and others stand in the order of the run.
//
// Diversity qrels have a subtopic (an intent, an aspect) where others have the iteration, and a line for each document and subtopic.
// Measures are those of ndeval, the program of the TREC Web tracks, over the same ranking as all others, which is what ndeval has with
// -traditional, and over every topic, as with -c. Only subtopics with a relevant document count. A document gains, for each of its
// subtopics, (1 - alpha) to the power of the number of relevant documents above; the gains are discounted by rank, and divided by what
// documents of all subtopics would gain (alpha_DCG, ERR_IA) or by the gain of the ideal ranking (alpha_nDCG, nERR_IA), which
// is found step by step, of documents of equal gain that with the last id first (Clarke et al., SIGIR 2008; Chapelle et al., CIKM 2009).
// ndeval leaves that division out at rank 1, so that its alpha-DCG@1 and ERR-IA@1 are greater, and has no ranks below 20.
//
// Lines that begin with # are comments in runs and qrels, also after blanks, as trec_eval 10 has it in runs. The id of a topic
// can therefore not begin with #; a comment that has all fields of a line is a warning. Whole grades may be decimals, as 1.0.
//
// Where trec_eval is lenient with bad input (text as a score, NaN, fractional grades, empty files), files are refused
// with the line, because a silent 0 is a wrong result.
//
// Memory grows with the run, about 16 bytes a line and the document ids; a file is read once, and parsed and evaluated
// on all cores.
package retrieval

import (
	"context"
	"fmt"
	"math"

	"assay/shared/measure"
	"assay/shared/measure/steps"
	"assay/shared/plural"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "retrieval/2"

// DiversityVersion names the semantics of the evaluator of rankings with subtopics, as Version does.
const DiversityVersion = "diversity/1"

// Evaluate reads a run, which may come in several files, and computes the measures, all of which must be of kind
// Retrieval. The diagnostics are the errors and warnings in the order of files and lines, at most
// measure.MaxDiagnostics; if one is an error, the result is empty. The error is one of the files' readers or of the
// context, or a measure that is not one of retrieval.
func (q *Qrels) Evaluate(ctx context.Context, measures []measure.Measure,
	files ...measure.File) (measure.Result, []measure.Diagnostic, error) {
	e, err := q.Read(ctx, measures, files...)
	if err != nil {
		return measure.Result{}, nil, err
	}
	return e.Result, e.Diagnostics, nil
}

// kept is a run that was evaluated, which so can also be compared without the truth.
type kept struct {
	run   *run
	read  *measure.Report // what reading alone found
	whole *measure.Report // what was found without the truth
}

// WithoutTruth returns the diagnostics that ReadRankings has of the run. ok is false where the truth had a part in how it was read.
func (k *kept) WithoutTruth() (found []measure.Diagnostic, ok bool) {
	t := k.run.topics
	return k.run.inOrder(k.whole), len(t.names)+len(t.others) <= t.most
}

// Read is Evaluate, and keeps the run.
func (q *Qrels) Read(ctx context.Context, measures []measure.Measure, files ...measure.File) (*measure.Evaluation, error) {
	plan, err := q.plan(measures)
	if err != nil {
		return nil, err
	}
	run, read, err := readRun(ctx, q, standardLimits, files)
	if err != nil {
		return nil, err
	}
	report, whole := read.Clone(), read.Clone()
	counter := steps.Of(ctx)
	q.compareTopics(counter, run, measure.OfTruth, report)
	if err := counter.Err(); err != nil {
		return nil, err
	}
	scores, err := run.rank(ctx, q, plan, report, whole)
	if err != nil {
		return nil, err
	}
	e := &measure.Evaluation{Diagnostics: run.inOrder(report), Kept: &kept{run, read, whole}}
	if !report.Failed() {
		e.Result = plan.result(counter, q, scores)
		e.Result.Warnings = e.Diagnostics
		e.EveryTopic = func(ctx context.Context) (map[string]map[string]float64, error) {
			counter := steps.Of(ctx)
			all := plan.byTopic(counter, q, scores)
			return all, counter.Err()
		}
	}
	if err := counter.Err(); err != nil {
		return nil, err
	}
	return e, nil
}

// plan lists the measures that an evaluation computes, and the data that they need.
type plan struct {
	scores     []score
	undefined  map[string]string // measures that have no value on this truth, and why
	judgedOnly bool
	idealSteps int
}

// score is a measure that has a value on this truth.
type score struct {
	name   string
	of     scorer
	view   *parameters
	summed bool // the value of all topics is a sum rather than a mean
	powers bool // it is the geometric mean
}

// plan finds the scorer of each measure. Its error is about measures that are none of retrieval.
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
		reason := q.undefined(m)
		if reason == "" {
			reason = p.addIdeal(q, m)
		}
		if reason != "" {
			p.undefined[name] = reason
			continue
		}
		p.scores = append(p.scores, score{
			name:   name,
			of:     of,
			view:   q.view(m),
			summed: counts[m.Name],
			powers: m.IsGeometric(),
		})
		p.judgedOnly = p.judgedOnly || m.Flag("judged_only")
	}
	return p, nil
}

// kind is that of the evaluator whose truth these are.
func (q *Qrels) kind() measure.Kind {
	if q.subtopics != nil {
		return measure.Diversity
	}
	return measure.Retrieval
}

// undefined says why a measure has no value on this truth; "" when it has one.
func (q *Qrels) undefined(m measure.Measure) string {
	switch {
	case m.Name == "ERR" && q.highest > maxERRGrade:
		return fmt.Sprintf("ERR is defined for grades up to %d; the truth has grade %d", maxERRGrade, q.highest)
	case m.Param("dcg") == "exp-log2" && q.highest > maxExponent:
		return fmt.Sprintf("gains of 2^grade - 1 are computed for grades up to %d; the truth has grade %d", maxExponent, q.highest)
	}
	return ""
}

// result sums up the values of the topics, in their order, so that the same run has the same bits on any number of
// cores.
func (p *plan) result(counter *steps.Counter, q *Qrels, values []float64) measure.Result {
	result := measure.Result{Measures: make(map[string]*float64, len(p.scores)+len(p.undefined)), Reasons: p.undefined}
	for name := range p.undefined {
		result.Measures[name] = nil
	}
	for j, s := range p.scores {
		var sum measure.Sum
		for i := range q.names {
			if counter.Add(1) != nil {
				break
			}
			value := values[i*len(p.scores)+j]
			if s.powers {
				value = math.Log(value)
			}
			sum.Add(value)
		}
		total := sum.Total()
		if !s.summed {
			total /= float64(len(q.names))
		}
		if s.powers {
			total = math.Exp(total)
		}
		result.Measures[s.name] = &total
	}
	if len(values) > measure.MaxTopicValues {
		result.Reasons[measure.PerTopicReason] = fmt.Sprintf("there are %s and %s, and values by topic are kept of up to %d of one times "+
			"the other", plural.Count(len(q.names), "topic"), plural.Count(len(p.scores), "measure"), measure.MaxTopicValues)
	} else {
		result.PerTopic = p.byTopic(counter, q, values)
	}
	return result
}

// byTopic are the values of each topic by the names of the measures.
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
