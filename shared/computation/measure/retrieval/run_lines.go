package retrieval

import (
	"bytes"
	"fmt"
	"math"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/language/plural"
)

// parser parses chunks into blocks and reuses its memory.
type parser struct {
	topics   *topics
	selector measure.Selector
	records  []runRecord
	spans    []span
	docs     []byte
}

func (b *block) warn(kind, line int, message string) {
	if b.warnings[kind].line == 0 {
		b.warnings[kind] = fault{line, message}
	}
}

// addFault adds a fault to the faults of the block, unless its message is empty.
func (b *block) addFault(line int, message string) {
	if message != "" {
		b.faults.Errorf("", line, "%s", message)
	}
}

// position is the score and rank of a document in a line. An empty rank stands for no line.
type position struct {
	rank  []byte
	score float64
}

// contradicts reports whether rank and score order two documents of a topic differently. In most runs, ranks grow from line to line and
// scores fall. contradicts recognizes this case from the text of the ranks, without parsing numbers.
func (p position) contradicts(o position) bool {
	longer := len(p.rank) - len(o.rank)
	if len(o.rank) == 0 || p.score == o.score || p.score < o.score && (longer > 0 || longer == 0 && bytes.Compare(p.rank, o.rank) > 0) {
		return false
	}
	rank, isRank := fields.ParseScore(p.rank)
	other, ok := fields.ParseScore(o.rank)
	return isRank && ok && (rank > other && p.score > o.score || rank < other && p.score < o.score)
}

// neighbours counts the pairs of consecutive lines of a topic, and the pairs whose scores give no order or a doubtful one.
type neighbours struct {
	pairs     int
	tied      int // pairs with equal scores
	ascending int // pairs in which the second score is greater, and no rank says that the second document comes first
	swapped   int // pairs whose second rank has a fraction and whose second score is a positive whole number
	reversed  int // pairs of these whose ranks descend, and whose second score is one more than the first
}

func (n *neighbours) count(o, p position) {
	if len(o.rank) == 0 {
		return
	}
	n.pairs++
	if bytes.IndexByte(p.rank, '.') >= 0 && p.score >= 1 && p.score == math.Trunc(p.score) {
		if rank, ok := fields.ParseScore(p.rank); ok && rank != math.Trunc(rank) {
			n.swapped++
			if p.score == o.score+1 && p.comesBefore(o) {
				n.reversed++
			}
		}
	}
	switch {
	case p.score == o.score:
		n.tied++
	case p.score > o.score && !p.comesBefore(o):
		n.ascending++
	}
}

// comesBefore reports whether the rank of p is smaller than the rank of o.
func (p position) comesBefore(o position) bool {
	rank, isRank := fields.ParseScore(p.rank)
	other, ok := fields.ParseScore(o.rank)
	return isRank && ok && rank < other
}

func (n *neighbours) add(o neighbours) {
	n.pairs += o.pairs
	n.tied += o.tied
	n.ascending += o.ascending
	n.swapped += o.swapped
	n.reversed += o.reversed
}

// minDoubtful is the number of pairs from which on most of them say something about the run.
const minDoubtful = 3

// warning returns a warning if most scores are equal or ascend, or "".
func (n *neighbours) warning() string {
	switch {
	case n.swapped >= minDoubtful && 2*n.swapped > n.pairs, n.reversed > 0 && n.reversed == n.pairs:
		return fmt.Sprintf("rank and score seem to be swapped: of %s after the first of a topic, %d %s a rank with a fraction and a whole "+
			"number as the score; the fourth field is the rank, and the fifth is the score", plural.Count(n.pairs, "document"), n.swapped,
			plural.Verb(n.swapped, "has", "have"))
	case n.tied >= minDoubtful && 2*n.tied > n.pairs:
		return fmt.Sprintf("most scores are equal: %d of %s have the score of the document before them; documents with equal scores "+
			"are ordered by their ids, and not by their ranks or lines: give each document a score that falls with its rank, such as 1/rank",
			n.tied, plural.Count(n.pairs, "document"))
	case n.ascending >= minDoubtful && 10*n.ascending > 9*n.pairs:
		return fmt.Sprintf("the scores ascend: %d of %s have a higher score than the document before them; documents are ranked by "+
			"score, the highest first: if less is better in your scores, change their sign", n.ascending, plural.Count(n.pairs, "document"))
	}
	return ""
}

// split reads the next line of a chunk and its first six columns. It handles any line, unlike Chunk.Columns. numbers are the
// fields.NumbersOf the file. ok is false after the last line. The other results say what kind of line it is:
//
//	n = 6, message = ""    a line of a run
//	n = 7, message = ""    a line with more columns
//	n = 0, message = ""    an empty line, or a comment with fewer than six columns
//	message != ""          a fault
func split(chunk *lines.Chunk, parts *[6][]byte, numbers fields.Numbers) (at, n int, message string, ok bool) {
	at, text, message, ok := chunk.Line()
	n = fields.Split(text, parts[:])
	if n > 0 && n < 6 {
		if fields.IsComment(parts[0]) {
			return at, 0, "", true
		}
		message = fields.CountFault(text, parts[:], n, fields.RunLayout, numbers)
		if chunk.IsCut() {
			message += "; the file ends within this line, and may be cut short"
		}
	}
	return at, n, message, ok
}

// isDoubtful reports whether a line with a score may have a fault that RunFault finds.
func isDoubtful(topic, doc []byte, n int) bool {
	return n > 6 || fields.IsQ0(doc) || fields.IsQuoted(topic) || fields.IsQuoted(doc)
}

// parse reads the lines of a chunk: topic, Q0 (ignored), document, rank, score and tag (ignored). The rank is used only for a warning if
// it contradicts the score, because less may be better in such scores. numbers are the fields.NumbersOf the file.
func (p *parser) parse(chunk *lines.Chunk, numbers fields.Numbers) block {
	b := block{first: chunk.First}
	b.spans = p.spans[:0]
	records, docs := p.records[:0], p.docs[:0]
	var columns [6]lines.Column
	var parts [6][]byte
	var last []byte // topic of the line before, or nil if the line before has no record
	var number int32
	var above position // position of the last record if it has the same topic
	for {
		n, message := 6, ""
		var topic, q0, doc, rank, scored, tag []byte
		at, ok := chunk.Columns(columns[:])
		if ok {
			topic = chunk.Text(columns[0])
			q0 = chunk.Text(columns[1])
			doc = chunk.Text(columns[2])
			rank = chunk.Text(columns[3])
			scored = chunk.Text(columns[4])
			tag = chunk.Text(columns[5])
		} else {
			if at, n, message, ok = split(chunk, &parts, numbers); !ok {
				break
			}
			topic = parts[0]
			q0 = parts[1]
			doc = parts[2]
			rank = parts[3]
			scored = parts[4]
			tag = parts[5]
		}
		var score float64
		if n >= 6 {
			score, ok = fields.ParseScore(scored)
			switch {
			case fields.IsComment(topic):
				if ok && n == 6 && len(topic) > 1 {
					b.warn(commented, at, fields.CommentedTopic(topic))
				}
				n = 0
			case !ok || isDoubtful(topic, doc, n):
				if n == 6 {
					parts = [6][]byte{topic, q0, doc, rank, scored, tag}
				}
				message = fields.RunFault(parts[:], n, at == 1)
			}
		}
		if message != "" || n == 0 {
			b.addFault(at, message)
			last = nil // the next record starts a span
			continue
		}
		if !bytes.Equal(topic, last) {
			last = topic
			before := number
			if number, ok = p.topics.number(topic, p.selector); !ok {
				break
			}
			if number == unselected {
				number = before
				last = nil // a span has no lines of other topics between its lines
				continue
			}
			b.spans = append(b.spans, span{number, uint32(len(records)), uint32(at - b.first)})
			if number != before {
				above.rank = nil
			}
		}
		if n > 6 { // The sixth field may be another one than the tag.
			b.warn(tooLong, at, tooLongText)
		} else {
			b.tags.add(tag)
		}
		next := position{rank, score}
		if next.contradicts(above) {
			b.warn(misordered, at, misorderedText)
		}
		b.pairs.count(above, next)
		above = next
		records = append(records, runRecord{score, uint32(len(docs)), uint16(len(doc))})
		docs = append(docs, doc...)
	}
	p.copyTo(&b, records, docs)
	return b
}

// copyTo copies what was parsed to the block, and keeps the memory for the next one.
func (p *parser) copyTo(b *block, records []runRecord, docs []byte) {
	p.records, p.docs = records, docs
	p.spans = b.spans
	b.spans = append([]span(nil), b.spans...)
	b.records = append([]runRecord(nil), records...)
	b.docs = append([]byte(nil), docs...)
}
