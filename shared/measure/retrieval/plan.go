package retrieval

import (
	"fmt"

	"assay/shared/measure"
)

// plan is what an evaluation computes.
type plan struct {
	names      []string // of the scorers' measures
	scorers    []scorer
	views      []*parameters
	summed     []bool            // the value of all topics is a sum rather than a mean
	undefined  map[string]string // measures that have no value on this truth, and why
	judgedOnly bool
}

// plan finds the scorer of each measure. Its error is about measures that are none of retrieval.
func (q *Qrels) plan(measures []measure.Measure) (*plan, error) {
	p := &plan{undefined: map[string]string{}}
	seen := map[string]bool{}
	for _, m := range measures {
		score, ok := scorers[m.Name]
		if !ok || m.Kind != measure.Retrieval {
			return nil, fmt.Errorf("%s measure %s is not one of retrieval", m.Kind, m)
		}
		name := m.String()
		if seen[name] {
			continue
		}
		seen[name] = true
		if reason := q.undefined(m); reason != "" {
			p.undefined[name] = reason
			continue
		}
		p.names = append(p.names, name)
		p.scorers = append(p.scorers, score)
		p.views = append(p.views, q.view(m))
		p.summed = append(p.summed, counts[m.Name])
		p.judgedOnly = p.judgedOnly || m.Flag("judged_only")
	}
	return p, nil
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

// score puts the values of a topic into the first places of values.
func (p *plan) score(r *ranking, values []float64) {
	for i, s := range p.scorers {
		values[i] = s(p.views[i], r)
	}
}

// result sums up the values of the topics, in their order, so that the same run has the same bits on any number of
// cores.
func (p *plan) result(q *Qrels, values []float64) measure.Result {
	result := measure.Result{
		Measures: make(map[string]*float64, len(p.names)+len(p.undefined)),
		PerTopic: make(map[string]map[string]float64, len(q.names)),
	}
	for name, reason := range p.undefined {
		if result.Reasons == nil {
			result.Reasons = map[string]string{}
		}
		result.Measures[name], result.Reasons[name] = nil, reason
	}
	sums, totals := make([]measure.Sum, len(p.names)), make([]float64, len(p.names))
	for i, topic := range q.names {
		of := make(map[string]float64, len(p.names))
		for j, name := range p.names {
			value := values[i*len(p.names)+j]
			sums[j].Add(value)
			of[name] = value
		}
		result.PerTopic[topic] = of
	}
	for j, name := range p.names {
		totals[j] = sums[j].Total()
		if !p.summed[j] {
			totals[j] /= float64(len(q.names))
		}
		result.Measures[name] = &totals[j]
	}
	return result
}
