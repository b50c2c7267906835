package retrieval

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/hashtable"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
)

const (
	depth         = 10  // ranks of each topic that coverage counts
	mostExplained = 100 // documents to explain if no document is judged
)

// judgedCoverage counts the judged documents at the first ranks. It counts only topics with at least depth judged documents. It is safe for
// concurrent use.
type judgedCoverage struct {
	found atomic.Bool  // a document is judged, at any rank of any topic
	top   atomic.Int64 // judged documents at the first ranks
	most  atomic.Int64 // all documents at the first ranks
}

func (j *judgedCoverage) count(grades, ideal []int16) {
	if !j.found.Load() && slices.ContainsFunc(grades, isJudged) {
		j.found.Store(true)
	}
	if len(ideal) < depth {
		return
	}
	first := grades[:min(len(grades), depth)]
	j.most.Add(int64(len(first)))
	for _, g := range first {
		if isJudged(g) {
			j.top.Add(1)
		}
	}
}

// report warns if no document is judged, or less than half of the documents at the first ranks.
func (j *judgedCoverage) report(counter *steps.Counter, r *run, q *Qrels, report *measure.Report) error {
	top, most := int(j.top.Load()), int(j.most.Load())
	switch {
	case len(q.names) == 0 || report.Failed():
	case !j.found.Load():
		if explanation := r.explainUnjudged(counter, q); explanation != "" {
			report.Warnf(r.files[0], 0,
				"no document of the run is judged for its topic, so nothing that it retrieves counts as relevant: %s", explanation)
		}
	case 2*top < most:
		report.Warnf(r.files[0], 0,
			"of the first %d documents of the topics with at least as many judged ones, %d of %d are judged (%.0f %%); the others count as not "+
				"relevant",
			depth, top, most, 100*ratio(top, most))
	}
	if j.found.Load() {
		r.reportForms(counter, q, report)
	}
	return counter.Err()
}

// explainUnjudged names the documents of a run without judged documents, and why they have no judgment or what a judged one looks like.
// It returns "" if the run has no document.
func (r *run) explainUnjudged(counter *steps.Counter, q *Qrels) string {
	unknown, topics := r.firstDocuments(q)
	if len(unknown) == 0 {
		return ""
	}
	judged := func(id string) bool {
		doc := []byte(id)
		hash := hashtable.Hash(doc)
		return counter.Add(perLookup*len(topics)) == nil &&
			slices.ContainsFunc(topics, func(topic int32) bool { return isJudged(q.gradeOf(topic, doc, hash)) })
	}
	known := mismatch.IDs{Of: measure.OfTruth, Has: judged, Lacks: judged, Left: q.documents(), Sparse: true}
	cause := known.Explain(counter, unknown)
	if cause == "" {
		cause = fmt.Sprintf("; the truth judges, for example, %s for topic %s", fields.Quote(q.doc(q.judgments[0])),
			fields.Quote([]byte(q.names[0])))
	}
	return fields.JoinFirst(unknown, len(unknown)) + "; check the third field of the lines" + cause
}

// firstDocuments returns the documents of the first lines, at most mostExplained of them, and their topics that the truth has.
func (r *run) firstDocuments(q *Qrels) (docs []string, topics []int32) {
	for _, b := range r.blocks {
		for i, s := range b.spans {
			if len(docs) == mostExplained {
				return docs, topics
			}
			if int(s.topic) < len(q.names) && !slices.Contains(topics, s.topic) {
				topics = append(topics, s.topic)
			}
			for _, record := range b.records[s.first:min(b.end(i), s.first+uint32(mostExplained-len(docs)))] {
				docs = append(docs, string(b.doc(&record)))
			}
		}
	}
	return docs, topics
}

// reportForms warns of unjudged documents that are judged in another Unicode form of their ids.
func (r *run) reportForms(counter *steps.Counter, q *Qrels, report *measure.Report) {
	n := 0
	cause := ""
	for _, b := range r.blocks {
		if counter.Add(len(b.docs)) != nil {
			return
		}
		if mismatch.IsASCII(b.docs) {
			continue
		}
		for i, s := range b.spans {
			if int(s.topic) >= len(q.names) { // a topic that the truth lacks
				continue
			}
			judged := func(doc []byte) bool { return isJudged(q.grade(s.topic, doc)) }
			for _, record := range b.records[s.first:b.end(i)] {
				doc := b.doc(&record)
				if mismatch.IsASCII(doc) || judged(doc) {
					continue
				}
				if counter.Add(4*(perLookup+len(doc))) != nil {
					return
				}
				form := mismatch.OtherForm(doc, judged)
				if form == nil {
					continue
				}
				n++
				if n == 1 {
					cause = mismatch.Explain(counter, []string{string(doc)}, slices.Values([]string{string(form)}))
				}
			}
		}
	}
	if n > 0 {
		report.Warnf(r.files[0], 0, "documents of the run that are judged under an id of other characters that look alike: %d; they count as "+
			"not relevant%s", n, cause)
	}
}

func (q *Qrels) documents() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, j := range q.judgments {
			if !yield(string(q.doc(j))) {
				return
			}
		}
	}
}
