package retrieval

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/hashtable"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// unjudged is the grade of a document that the truth lacks.
const unjudged = math.MinInt16

// isJudged reports whether the truth has the document. A negative grade is a judgment.
func isJudged(grade int16) bool { return grade != unjudged }

// Qrels are relevance judgments, the ground truth of a retrieval task. They do not change, so several runs may be evaluated at the same
// time.
type Qrels struct {
	names     []string // ids of the topics in byte order
	index     map[string]int32
	topics    []truthTopic // in the order of names
	judgments []judgment   // topic by topic
	grades    []int16      // topic by topic, descending
	slots     []uint64     // the hash table of each topic, one after another
	docs      []byte
	highest   int16
	subtopics *subtopics // nil unless these are diversity qrels
	options   measure.Options
	selector  measure.Selector // while the files are read
}

// truthTopic locates the parts of a topic: judgments[first:last], grades[first:last] and the table slots[slots:slotsEnd].
type truthTopic struct{ first, last, slots, slotsEnd int }

type judgment struct {
	doc   uint32 // where the document's id starts in docs
	size  uint16
	grade int16
}

func (q *Qrels) doc(j judgment) []byte { return q.docs[j.doc : j.doc+uint32(j.size)] }

// Bytes estimates the memory of the Qrels.
func (q *Qrels) Bytes() int64 {
	const perTopic = 32 + 2*16 + 2*8 // truthTopic, its name in the list and in the index, and the rest of the index
	n := cap(q.docs) + 8*cap(q.judgments) + 2*cap(q.grades) + 8*cap(q.slots) + perTopic*len(q.topics)
	for _, name := range q.names {
		n += len(name)
	}
	if q.subtopics != nil {
		n += q.subtopics.bytes()
	}
	return int64(n)
}

// grade returns the grade of a document, or unjudged.
func (q *Qrels) grade(topic int32, doc []byte) int16 {
	return q.gradeOf(topic, doc, hashtable.Hash(doc))
}

// gradeOf is grade for a document with a known hash.
func (q *Qrels) gradeOf(topic int32, doc []byte, hash uint32) int16 {
	t := &q.topics[topic]
	own := q.judgments[t.first:t.last]
	i, _ := hashtable.Table(q.slots[t.slots:t.slotsEnd]).Find(hash, func(i int) bool { return bytes.Equal(q.doc(own[i]), doc) })
	if i < 0 {
		return unjudged
	}
	return own[i].grade
}

func (q *Qrels) has(topic string) bool {
	_, ok := q.index[topic]
	return ok
}

// Topics returns the number of topics with judgments.
func (q *Qrels) Topics() int { return len(q.names) }

// Grade returns the grade of a document for a topic, or nil if it is not judged. It returns nil if q is nil.
func (q *Qrels) Grade(topic string, document []byte) *int {
	if q == nil {
		return nil
	}
	if i, ok := q.index[topic]; ok {
		if g := q.grade(i, document); g != unjudged {
			return new(int(g))
		}
	}
	return nil
}

// ideal returns the grades of a topic, the highest first.
func (q *Qrels) ideal(topic int) []int16 {
	return q.grades[q.topics[topic].first:q.topics[topic].last]
}

// judgmentLine is a judgment with its topic and its line, while the files are read.
type judgmentLine struct {
	judgment
	topic    int32
	subtopic int32
	file     int32
	line     int32
}

// place compares two judgments by file and line.
func (e judgmentLine) place(other judgmentLine) int {
	return cmp.Or(cmp.Compare(e.file, other.file), cmp.Compare(e.line, other.line))
}

// ReadQrels reads relevance judgments from one or more files. Each line has a topic, an iteration (ignored), a document and a grade. If one
// of the diagnostics is an error, the Qrels are nil. The error is from a file's reader or the context.
func ReadQrels(ctx context.Context, files ...measure.File) (*Qrels, []measure.Diagnostic, error) {
	return readQrels(ctx, measure.Options{}, nil, files)
}

// columns names the fields of a line.
func (q *Qrels) columns() string {
	if q.subtopics != nil {
		return fields.DiversityQrelsLayout
	}
	return fields.QrelsLayout
}

func readQrels(ctx context.Context, options measure.Options, subtopics *subtopics,
	files []measure.File) (*Qrels, []measure.Diagnostic, error) {
	var report measure.Report
	q := &Qrels{index: map[string]int32{}, subtopics: subtopics, options: options, selector: options.Selector()}
	var entries []judgmentLine
	var parts [4][]byte
	for i, f := range files {
		before, commented := len(entries), false
		in := lines.NewReader(ctx, f.Name, f.Content, &report)
		for in.Scan() {
			if len(entries) == bounds.Judgments || len(q.docs) > bounds.JudgedText {
				report.Errorf(f.Name, in.Number(), "the truth has more than %d judgments, or more than %d MiB of document ids", bounds.Judgments,
					bounds.JudgedText>>20)
				break
			}
			n := fields.Split(in.Text(), parts[:])
			switch {
			case n == 0:
				continue
			case fields.IsComment(parts[0]):
				if _, grade := fields.ParseGrade(parts[3]); !commented && n == 4 && grade && len(parts[0]) > 1 {
					commented = true
					report.Warnf(f.Name, in.Number(), "%s", fields.CommentedTopic(parts[0]))
				}
				continue
			}
			if e, ok := q.parse(in.Text(), parts[:], n, f.Name, in.Number(), &report); ok {
				e.file = int32(i)
				entries = append(entries, e)
			}
		}
		if err := in.Err(); err != nil {
			return nil, nil, err
		}
		if len(entries) == before && options.Only == nil && !report.Failed() {
			report.Errorf(f.Name, 0, "the file is empty or has no judgments; each line needs %s", q.columns())
		}
	}
	q.selector = nil
	requireJudgments(files, len(entries), &report)
	names := lists.Map(files, func(f measure.File) string { return f.Name })
	repeated, err := q.arrange(steps.Of(ctx), entries)
	if err != nil {
		return nil, nil, err
	}
	if subtopics != nil {
		subtopics.warn(names, &report)
	}
	repeated.report(names, &report, q.repeatHint())
	if report.Failed() {
		return nil, inOrder(&report, names), nil
	}
	return q, inOrder(&report, names), nil
}

// requireJudgments reports that there is no file, or that the files without faults have no selected judgment.
func requireJudgments(files []measure.File, judgments int, report *measure.Report) {
	switch {
	case len(files) == 0:
		report.Errorf("", 0, "there is no file of judgments")
	case judgments == 0 && !report.Failed():
		report.Errorf(files[0].Name, 0, "%s", measure.NothingSelected)
	}
}

// repeatHint returns what else can heal repeated documents, as the end of a message.
func (q *Qrels) repeatHint() string {
	switch {
	case q.subtopics != nil:
		return ""
	case q.hasOneNumber():
		return ", or exchange the second field and the third one if the second one has the documents"
	}
	return ", or choose the kind diversity if the second field is a subtopic"
}

// hasOneNumber reports whether all judgments are of one document whose id is a number, as an iteration is.
func (q *Qrels) hasOneNumber() bool {
	if len(q.judgments) == 0 {
		return false
	}
	first := q.doc(q.judgments[0])
	_, isNumber := fields.ParseScore(first)
	return isNumber && !slices.ContainsFunc(q.judgments, func(j judgment) bool { return !bytes.Equal(q.doc(j), first) })
}

// arrange builds the Qrels from the entries, and returns the repeated judgments.
func (q *Qrels) arrange(counter *steps.Counter, entries []judgmentLine) (*repeats, error) {
	repeated := new(repeats)
	q.sortByTopic(counter, entries)
	if q.subtopics != nil {
		entries = q.subtopics.group(counter, q, entries, repeated)
	}
	if err := counter.Err(); err != nil {
		return nil, err
	}
	q.build(counter, entries)
	q.findRepeated(counter, entries, repeated)
	return repeated, counter.Err()
}

// gradeNames are names of the field of grades in the first lines of files.
var gradeNames = []string{"grade", "relevance", "rel", "label", "relevancy", "judgment", "score"}

// namesGrade reports whether a field of the first line is a name of the field of grades.
func namesGrade(field []byte) bool {
	named := string(bytes.Trim(field, `"`))
	return slices.ContainsFunc(gradeNames, func(name string) bool { return strings.EqualFold(name, named) })
}

// parse returns the judgment of a line with n fields. parts holds the first fields. Topics are numbered in the order of the files. ok is
// false if the line has a fault, which parse reports, or if its topic is not selected.
func (q *Qrels) parse(text []byte, parts [][]byte, n int, file string, number int, report *measure.Report) (judgmentLine, bool) {
	header := ""
	if number == 1 && n > 1 && namesGrade(parts[min(n, len(parts))-1]) {
		header = "; the line seems to name the fields: leave it out"
	}
	if n != len(parts) {
		report.Errorf(file, number, "%s%s", fields.CountFault(text, parts, n, q.columns(), fields.OtherNumbers), header)
		return judgmentLine{}, false
	}
	grade, ok := fields.ParseGrade(parts[3])
	if !ok || fields.IsQuoted(parts[0]) || fields.IsQuoted(parts[2]) {
		report.Errorf(file, number, "%s%s", fields.QrelsFault(parts, q.columns()), header)
		return judgmentLine{}, false
	}
	if !q.selector.Selects(parts[0]) {
		return judgmentLine{}, false
	}
	topic, known := q.index[string(parts[0])]
	if !known {
		if len(q.names) == standardLimits.topics {
			report.Errorf(file, number, "the truth has more than %d topics", standardLimits.topics)
			return judgmentLine{}, false
		}
		topic = int32(len(q.names))
		name := string(parts[0])
		q.index[name] = topic
		q.names = append(q.names, name)
	}
	doc := parts[2]
	e := judgmentLine{judgment: judgment{doc: uint32(len(q.docs)), size: uint16(len(doc)), grade: grade}, topic: topic, line: int32(number)}
	if q.subtopics != nil {
		if e.subtopic, ok = q.subtopics.number(parts[1]); !ok {
			report.Errorf(file, number, "the truth has more than %d subtopics", standardLimits.topics)
			return judgmentLine{}, false
		}
	}
	q.docs = append(q.docs, doc...)
	return e, true
}

// sortByTopic puts topics in byte order and groups the entries by them, keeping the order of lines.
func (q *Qrels) sortByTopic(counter *steps.Counter, entries []judgmentLine) {
	steps.Sort(counter, q.names)
	renumbered := make([]int32, len(q.names))
	for i, name := range q.names {
		renumbered[q.index[name]] = int32(i)
		q.index[name] = int32(i)
	}
	for i := range entries {
		if counter.Add(1) != nil {
			return
		}
		entries[i].topic = renumbered[entries[i].topic]
	}
	steps.SortFunc(counter, entries, func(a, b judgmentLine) int { return cmp.Or(cmp.Compare(a.topic, b.topic), a.place(b)) })
}

// build fills the Qrels from entries that are grouped by topic. It makes the tables, which findRepeated fills.
func (q *Qrels) build(counter *steps.Counter, entries []judgmentLine) {
	q.topics = make([]truthTopic, len(q.names))
	q.judgments = make([]judgment, 0, len(entries))
	q.grades = make([]int16, 0, len(entries))
	for i, e := range entries {
		if counter.Add(1) != nil {
			return
		}
		t := &q.topics[e.topic]
		if t.last == 0 {
			t.first = i
		}
		t.last = i + 1
		q.judgments = append(q.judgments, e.judgment)
		q.grades = append(q.grades, e.grade)
		q.highest = max(q.highest, e.grade)
	}
	slots := 0
	for i := range q.topics {
		t := &q.topics[i]
		steps.SortFunc(counter, q.grades[t.first:t.last], func(a, b int16) int { return cmp.Compare(b, a) })
		t.slots = slots
		slots += hashtable.Size(t.last - t.first)
		t.slotsEnd = slots
	}
	q.slots = make([]uint64, slots)
}

// findRepeated fills the tables, and adds documents that a topic repeats to repeated.
func (q *Qrels) findRepeated(counter *steps.Counter, entries []judgmentLine, repeated *repeats) {
	for topic := range q.topics {
		t := &q.topics[topic]
		slots := hashtable.Table(q.slots[t.slots:t.slotsEnd])
		own := entries[t.first:t.last]
		for i, e := range own {
			if counter.Add(perLookup) != nil {
				return
			}
			doc := q.doc(e.judgment)
			h := hashtable.Hash(doc)
			first, slot := slots.Find(h, func(i int) bool { return bytes.Equal(q.doc(own[i].judgment), doc) })
			if first < 0 {
				slots.Put(h, slot, i)
				continue
			}
			repeated.add(repeat{
				second: sourceLine{int(e.file), int(e.line)},
				first:  sourceLine{int(own[first].file), int(own[first].line)},
				topic:  q.names[topic],
				doc:    string(doc),
			})
		}
	}
}
