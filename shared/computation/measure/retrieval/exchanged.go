package retrieval

import (
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// exchangedCause says in which file the first field probably has documents and the third one topics, as the end of a message that begins
// with a semicolon. It names both files if neither their lines nor their counts tell. The topics of q are documents of the run.
func (q *Qrels) exchangedCause(counter *steps.Counter, run *run, o measure.Origin) string {
	const likely = "; the likely cause: the first field "
	const exchanged = "has documents and the third one topics, so exchange them"
	byFirst, byThird := run.grouping(counter)
	documents := q.countDocuments(counter)
	switch {
	case byFirst && !byThird, byFirst == byThird && documents > 0 && documents < len(q.names):
		return likely + "of " + string(o) + " " + exchanged + " there, and not in the run"
	case byThird && !byFirst, byFirst == byThird && documents > len(q.names):
		return likely + "of the run " + exchanged
	}
	return "; the likely cause: in the run or in " + string(o) + ", the first field " + exchanged + " where that is so"
}

// countDocuments returns the number of different documents with judgments. It is 0 if only the topics are known.
func (q *Qrels) countDocuments(counter *steps.Counter) int {
	found := map[string]bool{}
	for doc := range q.documents() {
		if counter.Add(perLookup) != nil {
			return 0
		}
		found[doc] = true
	}
	return len(found)
}

// groupedLines is the largest number of lines that grouping reads.
const groupedLines = 10_000

// grouping reports for the first and the third field whether lines with equal values follow each other and some lines have equal values.
// The lines of nearly all runs are grouped by topic.
func (r *run) grouping(counter *steps.Counter) (byFirst, byThird bool) {
	var first, third groups
	for i := range r.blocks {
		b := &r.blocks[i]
		for s, span := range b.spans {
			topic := r.topics.name(int(span.topic))
			for k := span.first; k < b.end(s); k++ {
				if first.lines == groupedLines || counter.Add(2*perLookup) != nil {
					return first.are(), third.are()
				}
				first.add(topic)
				third.add(string(b.doc(&b.records[k])))
			}
		}
	}
	return first.are(), third.are()
}

// groups counts the lines of a run by the values of a field.
type groups struct {
	lines, changes int
	last           string
	values         map[string]bool
}

func (g *groups) add(value string) {
	if g.lines == 0 || g.last != value {
		g.changes++
	}
	g.lines++
	g.last = value
	if g.values == nil {
		g.values = map[string]bool{}
	}
	g.values[value] = true
}

// are reports whether equal values follow each other, and there are some.
func (g *groups) are() bool { return g.changes == len(g.values) && len(g.values) < g.lines }
