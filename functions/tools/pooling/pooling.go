// Package pooling makes judgment pools as TREC does: the first documents of each run and topic, for people to judge.
package pooling

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/steps"
)

// Bounds of a pool, so that every pool takes little memory and time.
const (
	MaxRuns   = 100
	MaxTopics = 10_000
	// MaxContributions bounds the documents that all runs contribute. A document counts once for each run.
	MaxContributions = 1_000_000
)

// The errors of pools that are too large.
var (
	ErrTopics        = fmt.Errorf("the runs have more than %d topics", MaxTopics)
	ErrContributions = fmt.Errorf("the runs contribute more than %d documents", MaxContributions)
)

// errRuns reports a mistake of the program, which checks the number of runs of a request.
var errRuns = errors.New("a pool has too many runs")

// Pool holds the first documents of runs by topic. Its zero value is empty.
type Pool struct {
	topics        map[string]map[string][]uint8 // by topic and document: indices of the runs that contribute the document
	runs          int
	contributions int
}

// Add adds the documents of a run down to the depth, in the order of the measures. If the counter has an error, the pool is not
// usable.
func (p *Pool) Add(counter *steps.Counter, run *retrieval.Rankings, depth int) error {
	if p.runs == MaxRuns {
		return errRuns
	}
	if p.topics == nil {
		p.topics = map[string]map[string][]uint8{}
	}
	for _, topic := range run.Topics() {
		documents := p.topics[topic]
		if documents == nil {
			if len(p.topics) == MaxTopics {
				return ErrTopics
			}
			documents = map[string][]uint8{}
			p.topics[topic] = documents
		}
		n := 0
		for doc := range run.Ranking(counter, topic) {
			n++
			if n > depth {
				break
			}
			p.contributions++
			if p.contributions > MaxContributions {
				return ErrContributions
			}
			documents[string(doc)] = append(documents[string(doc)], uint8(p.runs))
		}
	}
	p.runs++
	return counter.Err()
}

// Topics returns the topics of the runs in the order of compare.
func (p *Pool) Topics(compare func(a, b string) int) []string {
	return slices.SortedFunc(maps.Keys(p.topics), func(a, b string) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
}

// Documents returns the documents of a topic in the byte order of their ids. This order does not reveal which runs retrieved
// them.
func (p *Pool) Documents(topic string) []string { return slices.Sorted(maps.Keys(p.topics[topic])) }

// Size returns the number of documents of a topic.
func (p *Pool) Size(topic string) int { return len(p.topics[topic]) }

// Counts has numbers of documents over all topics.
type Counts struct {
	Common [][]int // documents that two runs both contribute; on the diagonal, that a run contributes
	Unique []int   // documents that only this run contributes
}

// Count counts the contributions of the runs. If the counter has an error, the counts are not usable.
func (p *Pool) Count(counter *steps.Counter) Counts {
	c := Counts{Common: make([][]int, p.runs), Unique: make([]int, p.runs)}
	for i := range c.Common {
		c.Common[i] = make([]int, p.runs)
	}
	for _, documents := range p.topics {
		for _, runs := range documents {
			if counter.Add(len(runs)*len(runs)) != nil {
				return c
			}
			for _, a := range runs {
				for _, b := range runs {
					c.Common[a][b]++
				}
			}
			if len(runs) == 1 {
				c.Unique[runs[0]]++
			}
		}
	}
	return c
}

// Overlap returns the number of documents that two runs share, divided by the number that at least one of them has. It returns 0
// if neither has any.
func (c Counts) Overlap(a, b int) float64 {
	either := c.Common[a][a] + c.Common[b][b] - c.Common[a][b]
	if either == 0 {
		return 0
	}
	return float64(c.Common[a][b]) / float64(either)
}

// Write writes a line for each document: topic and document or, for qrels, a judgment with the grade -1 for pooled documents that
// nobody judged.
func (p *Pool) Write(w io.Writer, topics []string, qrels bool) error {
	format := "%s %s\n"
	if qrels {
		format = "%s 0 %s -1\n"
	}
	for _, topic := range topics {
		for _, doc := range p.Documents(topic) {
			if _, err := fmt.Fprintf(w, format, topic, doc); err != nil {
				return err
			}
		}
	}
	return nil
}
