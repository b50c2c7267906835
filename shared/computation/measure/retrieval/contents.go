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
	return &measure.IDs{Noun: "topic", Len: len(q.names), All: slices.Values(q.names), Index: func(id []byte, _ int) int {
		if i, ok := q.index[string(id)]; ok {
			return int(i)
		}
		return -1
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
	text := fmt.Sprintf("%s, %s, %d relevant", plural.Count(len(q.names), "topic"), plural.Count(len(q.judgments), "judgment"), relevant)
	c := measure.Contents{Values: q.documents(), Text: text, Faults: q.exchangedColumns(counter)}
	switch {
	case relevant == 0:
		c.Faults = append(c.Faults, "no document is relevant, since no grade is above 0: every run gets 0; check that the grade is the last "+
			"field of the lines")
		c.Unscored = "no document is relevant"
	case len(without) > 0:
		c.Faults = append(c.Faults, fmt.Sprintf("%d of %s %s no relevant document, and every run gets 0 there: %s", len(without),
			plural.Count(len(q.names), "topic"), plural.Verb(len(without), "has", "have"), fields.JoinFirst(without, len(without))))
	}
	if q.subtopics != nil {
		c.Unscored = "the best ranking of documents with subtopics is not computed"
		return c
	}
	c.Perfect = func() []measure.File { return []measure.File{{Name: "truth", Content: &perfectRun{qrels: q}}} }
	return c
}

// exchangedColumns warns when two columns are probably exchanged: there are fewer documents than half the
// topics, or than subtopics.
func (q *Qrels) exchangedColumns(counter *steps.Counter) []string {
	subtopics := 0
	if q.subtopics != nil {
		subtopics = len(q.subtopics.names)
	}
	most := max(len(q.names)/2, subtopics) // In a usual truth there are more documents.
	found := map[string]bool{}
	for doc := range q.documents() {
		if counter.Add(perLookup) != nil || len(found) > most {
			return nil
		}
		found[doc] = true
	}
	documents := plural.Count(len(found), "document")
	switch {
	case len(found) == 0: // Only the topics are known.
		return nil
	case len(found) < len(q.names)/2:
		return []string{fmt.Sprintf("there are %s and only %s: if the first field of the lines has the documents and the third one the topics, "+
			"exchange them", plural.Count(len(q.names), "topic"), documents)}
	case len(found) < subtopics:
		return []string{fmt.Sprintf("there are %s and only %s: if the second field of the lines has the documents and the third one the "+
			"subtopics, exchange them", plural.Count(subtopics, "subtopic"), documents)}
	}
	return nil
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
