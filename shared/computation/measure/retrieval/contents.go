package retrieval

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// ids returns the ids of the topics. It returns nil if there are none.
func (q *Qrels) ids() *measure.IDs {
	if len(q.names) == 0 {
		return nil
	}
	return &measure.IDs{Noun: "topic", Len: len(q.names), All: slices.Values(q.names), Has: func(id string) bool {
		_, ok := q.index[id]
		return ok
	}}
}

// contents counts the judgments, and finds topics without a relevant document.
func (q *Qrels) contents(counter *steps.Counter) measure.Contents {
	relevant := 0
	var without []string
	for i, t := range q.topics {
		n := 0
		for _, j := range q.judgments[t.first:t.last] {
			if counter.Add(1) != nil {
				return measure.Contents{}
			}
			if j.grade > 0 {
				n++
			}
		}
		if n == 0 {
			without = append(without, q.names[i])
		}
		relevant += n
	}
	c := measure.Contents{IDs: q.ids(), Values: q.documents(), Text: fmt.Sprintf("%s, %s, %d relevant", plural.Count(len(q.names), "topic"),
		plural.Count(len(q.judgments), "judgment"), relevant)}
	switch {
	case relevant == 0:
		c.Faults = append(c.Faults, "no document is relevant, since no grade is above 0: every run gets 0; check that the grade is the last "+
			"field of the lines")
	case len(without) > 0:
		c.Faults = append(c.Faults, fmt.Sprintf("%d of %s have no relevant document, and every run gets 0 for them: %s", len(without),
			plural.Count(len(q.names), "topic"), fields.JoinFirst(without, len(without))))
	}
	if q.subtopics != nil {
		c.Unscored = "the best ranking of documents with subtopics is not computed"
		return c
	}
	c.Perfect = func() []measure.File { return []measure.File{{Name: "truth", Content: &perfectRun{qrels: q}}} }
	return c
}

// perfectRun writes a run with the relevant documents of each topic, the highest grades first.
type perfectRun struct {
	qrels *Qrels
	topic int
	text  bytes.Buffer
}

// Read implements io.Reader.
func (p *perfectRun) Read(b []byte) (int, error) {
	for p.text.Len() == 0 {
		if p.topic == len(p.qrels.topics) {
			return 0, io.EOF
		}
		p.write()
		p.topic++
	}
	return p.text.Read(b)
}

func (p *perfectRun) write() {
	q, t := p.qrels, p.qrels.topics[p.topic]
	var relevant []judgment
	for _, j := range q.judgments[t.first:t.last] {
		if j.grade > 0 {
			relevant = append(relevant, j)
		}
	}
	slices.SortStableFunc(relevant, func(a, b judgment) int { return int(b.grade) - int(a.grade) })
	for i, j := range relevant {
		fmt.Fprintf(&p.text, "%s Q0 %s %d %d truth\n", q.names[p.topic], q.doc(j), i+1, len(relevant)-i)
	}
}
