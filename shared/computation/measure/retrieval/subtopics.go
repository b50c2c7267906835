package retrieval

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
)

// subtopics holds the data that only diversity qrels have.
type subtopics struct {
	names  []string // ids of the subtopics of all topics, in the order of the files
	index  map[string]int32
	grades []subtopicGrade // grades of one judgment after another
	starts []int           // start of each judgment in grades, and at last the end of grades
	counts []int           // number of subtopics of each topic
}

// subtopicGrade is the grade of a document for one subtopic. The subtopics of a topic are numbered from 0, in the byte order of their ids.
type subtopicGrade struct {
	subtopic int32
	grade    int16
}

func newSubtopics() *subtopics { return &subtopics{index: map[string]int32{}} }

// bytes estimates the memory of the subtopics.
func (s *subtopics) bytes() int {
	const perName = 2*16 + 16
	n := 8*(cap(s.grades)+cap(s.starts)+cap(s.counts)) + perName*len(s.names)
	for _, name := range s.names {
		n += len(name)
	}
	return n
}

// of returns the grades of a judgment, in the order of the subtopics. It returns nil for -1.
func (s *subtopics) of(judgment int32) []subtopicGrade {
	if judgment < 0 {
		return nil
	}
	return s.grades[s.starts[judgment]:s.starts[judgment+1]]
}

// number returns the index of a subtopic in names, and adds a new one. ok is false if there are too many.
func (s *subtopics) number(id []byte) (number int32, ok bool) {
	if number, ok = s.index[string(id)]; ok {
		return number, true
	}
	if len(s.names) == standardLimits.topics {
		return 0, false
	}
	number = int32(len(s.names))
	s.names = append(s.names, string(id))
	s.index[s.names[number]] = number
	return number, true
}

// warn warns if all judgments have the same subtopic, because plain qrels have the same iteration in all lines.
func (s *subtopics) warn(files []string, report *measure.Report) {
	if len(s.names) == 1 {
		report.Warnf(files[0], 0, "all judgments have the same second field, %s, and so no topic has several subtopics; if it is no subtopic "+
			"but the iteration of plain relevance judgments, choose the kind retrieval", fields.Quote([]byte(s.names[0])))
	}
}

// ReadDiversityQrels reads judgments like ReadQrels, with a subtopic as the second field. The grade of a document is its highest grade for
// any subtopic.
func ReadDiversityQrels(ctx context.Context, files ...measure.File) (*Qrels, []measure.Diagnostic, error) {
	return readQrels(ctx, measure.Options{}, newSubtopics(), files)
}

// group merges the entries of a document for the subtopics of a topic into one entry, and keeps the grades by subtopic. Entries must be in
// the order of their topics. The result is in the order of topics and, within a topic, of documents. Entries for the same document and
// subtopic are added to repeated.
func (s *subtopics) group(counter *steps.Counter, q *Qrels, entries []judgmentLine, repeated *repeats) []judgmentLine {
	grouped := entries[:0] // shares memory with entries: it has at most the entries that were read
	for len(entries) > 0 && counter.Err() == nil {
		topic := entries[0].topic
		n := slices.IndexFunc(entries, func(e judgmentLine) bool { return e.topic != topic })
		if n < 0 {
			n = len(entries)
		}
		own, local := entries[:n], map[int32]int32{}
		entries = entries[n:]
		steps.SortFunc(counter, own, func(a, b judgmentLine) int {
			return cmp.Or(cmp.Compare(s.names[a.subtopic], s.names[b.subtopic]), a.place(b))
		})
		for _, e := range own {
			if _, numbered := local[e.subtopic]; !numbered {
				local[e.subtopic] = int32(len(local))
			}
		}
		s.counts = append(s.counts, len(local))
		steps.SortFunc(counter, own, func(a, b judgmentLine) int {
			return cmp.Or(bytes.Compare(q.doc(a.judgment), q.doc(b.judgment)), cmp.Compare(local[a.subtopic], local[b.subtopic]), a.place(b))
		})
		var last judgmentLine
		for i, e := range own {
			if counter.Add(1) != nil {
				break
			}
			known := i > 0 && bytes.Equal(q.doc(last.judgment), q.doc(e.judgment))
			switch {
			case known && last.subtopic == e.subtopic:
				repeated.add(repeat{
					second:   sourceLine{int(e.file), int(e.line)},
					first:    sourceLine{int(last.file), int(last.line)},
					topic:    q.names[topic],
					subtopic: s.names[e.subtopic],
					doc:      string(q.doc(e.judgment)),
				})
				continue
			case known:
				best := &grouped[len(grouped)-1]
				best.grade = max(best.grade, e.grade)
			default:
				s.starts = append(s.starts, len(s.grades))
				grouped = append(grouped, e)
			}
			s.grades = append(s.grades, subtopicGrade{local[e.subtopic], e.grade})
			last = e
		}
	}
	s.starts = append(s.starts, len(s.grades))
	return grouped
}
