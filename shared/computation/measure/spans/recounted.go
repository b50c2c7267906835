package spans

import (
	"unicode/utf8"

	"assay/shared/computation/measure/mismatch"
)

// The ways in which programs count the offsets of a text, other than in characters.
const (
	inUnits  = iota // of UTF-16
	inBytes         // of UTF-8
	recounts        // the number of ways
)

// countedCauses explain offsets by the way in which they were counted.
var countedCauses = [recounts]string{
	inUnits: "offsets count UTF-16 units, as in Java and JavaScript, and not characters",
	inBytes: "offsets count bytes, and not characters",
}

// unitsOrBytes explains offsets that both ways can have counted.
const unitsOrBytes = "offsets count UTF-16 units or bytes, and not characters"

// recount adds the spans of a document of the truth to the lists of recounted, with the offsets of programs that count in these ways. The
// spans of the document begin at start in x.list, and keep their order. If text is nil, it is unknown, and recount adds the spans
// unchanged.
func (x *texts) recount(start int, text []byte) {
	isASCII := mismatch.IsASCII(text)
	if isASCII && x.recounted[0] == nil {
		return // All ways count the characters of ASCII alike.
	}
	for way, list := range x.recounted {
		x.recounted[way] = append(list, x.list[len(list):]...) // with the spans of documents before that had a fault
	}
	if isASCII || start == len(x.list) || x.types.counter.Add(len(text)) != nil {
		return
	}
	var more [recounts][]int32 // before each character, by how much the way has counted more than characters
	var sum [recounts]int32
	for _, r := range string(text) {
		for way := range more {
			more[way] = append(more[way], sum[way])
		}
		sum[inBytes] += int32(utf8.RuneLen(r)) - 1
		if r > 0xffff {
			sum[inUnits]++
		}
	}
	for way := range more {
		at := func(offset int32) int32 {
			if int(offset) >= len(more[way]) {
				return offset + sum[way]
			}
			return offset + more[way][offset]
		}
		for i, s := range x.recounted[way][start:] {
			x.recounted[way][start+i] = span{s.kind, at(s.start), at(s.end)}
		}
	}
}

// recountedAt returns the spans of a document as recount kept them. It returns nil if all texts count the same in each way.
func (x *texts) recountedAt(way, i int) []span {
	if x.recounted[way] == nil {
		return nil
	}
	return x.recounted[way][x.places[i].start:x.places[i].end]
}
