package spans

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"assay/shared/language/plural"
)

// textSize is the length of a text by the ways in which programs count. The zero value stands for a text that is unknown.
type textSize struct {
	known                    bool
	characters, units, bytes int32 // units of UTF-16
}

// sizeOf returns the size of a text. text is nil if it is unknown.
func sizeOf(text []byte) textSize {
	if text == nil {
		return textSize{}
	}
	size := textSize{known: true, characters: int32(utf8.RuneCount(text)), bytes: int32(len(text))}
	size.units = size.characters
	for _, r := range string(text) {
		if r > 0xffff {
			size.units++
		}
	}
	return size
}

// beyond returns a warning about spans that end after the last character of a text. of says where the text is from.
func beyond(list []span, text textSize, of string) string {
	if !text.known || len(list) == 0 {
		return ""
	}
	last := slices.MaxFunc(list, func(a, b span) int { return int(a.end) - int(b.end) })
	if last.end <= text.characters {
		return ""
	}
	cause := ""
	switch {
	case last.end <= text.units: // A text has at least as many bytes as units.
		cause = "; the likely cause: " + unitsOrBytes
	case last.end <= text.bytes:
		cause = "; the likely cause: " + countedCauses[inBytes]
	}
	return fmt.Sprintf("the span from %d to %d ends after the %s of the text%s%s", last.start, last.end,
		plural.Count(int(text.characters), "character"), of, cause)
}

// offset is the difference of a predicted span from a true one.
type offset struct{ start, end int32 }

// offsetCauses explains differences that most spans of a run have.
var offsetCauses = map[offset]string{
	{1, 1}:   "offsets count from 1: take 1 from start and end, because the first character has the number 0",
	{1, 0}:   "start counts from 1: take 1 from it, because the first character has the number 0",
	{0, -1}:  "end is the last character of the span: add 1 to it, because it is the character after the span",
	{-1, -1}: "start and end are one too small: the first character has the number 0",
}

// minShifted is the number of spans from which on their offsets say something about a run.
const minShifted = 2

// shifted returns a warning if most of the spans of a run that equal none of the truth would equal one if they were counted in another
// way, which needs the texts of the truth for UTF-16 units and bytes, or if they are ever farther behind.
func (x *texts) shifted(truth *texts) string {
	c := comparison{shifted: map[offset]int{}}
	for i := range min(len(x.places), len(truth.places)) {
		run := x.at(i)
		if x.types.counter.Add((len(offsetCauses)+recounts)*(1+len(run))) != nil {
			return ""
		}
		c.add(run, truth, i)
	}
	return c.warning()
}

// comparison counts which differences the spans of a run have from those of the truth.
type comparison struct {
	different int // spans that equal none of the truth
	shifted   map[offset]int
	recounted [recounts]int // different spans that a way of counting explains
	against   [recounts]int // equal spans that the way would have made different
	late      int           // spans behind a true one
	grows     bool          // some spans are the farther behind, the later they come in a text
}

// add counts the spans of text i.
func (c *comparison) add(run []span, truth *texts, i int) {
	actual := truth.at(i)
	before := c.different
	for _, s := range run {
		at, equal := slices.BinarySearchFunc(actual, s, span.compare)
		if !equal {
			c.addDifferent(s, truth, i)
			continue
		}
		for way := range c.against {
			if list := truth.recountedAt(way, i); at < len(list) && list[at] != s {
				c.against[way]++
			}
		}
	}
	if c.different > before {
		n, grow := delays(run, actual)
		c.late += n
		c.grows = c.grows || grow
	}
}

// addDifferent counts a span of text i that equals none of the truth.
func (c *comparison) addDifferent(s span, truth *texts, i int) {
	c.different++
	for way := range c.recounted {
		if contains(truth.recountedAt(way, i), s) {
			c.recounted[way]++
		}
	}
	for o := range offsetCauses {
		if contains(truth.at(i), span{s.kind, s.start - o.start, s.end - o.end}) {
			c.shifted[o]++
		}
	}
}

// warning returns a warning if most of the different spans have the same difference, or "".
func (c *comparison) warning() string {
	enough := func(n int) bool { return n >= minShifted && 2*n > c.different }
	of := plural.Count(c.different, "span") + " that equal none of the truth"
	off := most(c.shifted)
	way := inUnits
	if c.recounted[inBytes] > c.recounted[inUnits] {
		way = inBytes
	}
	switch explained := c.recounted[way]; {
	case enough(explained) && explained > c.against[way] && explained >= c.shifted[off]:
		cause := countedCauses[way]
		if explained == c.shifted[off] { // Each of these spans comes after one such character.
			cause += ". Or " + offsetCauses[off]
		}
		return fmt.Sprintf("%d of the %s would equal one if offsets were counted in another way; the likely cause: %s", explained, of, cause)
	case enough(c.shifted[off]):
		return fmt.Sprintf("%d of the %s are one character off; the likely cause: %s", c.shifted[off], of, offsetCauses[off])
	case c.grows && enough(c.late):
		return fmt.Sprintf("%d of the %s are the farther behind a true one, the later they come in a text; "+
			"the likely cause: %s", c.late, of, unitsOrBytes)
	}
	return ""
}

// contains reports whether a sorted list has a span.
func contains(list []span, s span) bool {
	_, found := slices.BinarySearchFunc(list, s, span.compare)
	return found
}

// most returns the offset with the greatest number.
func most(counts map[offset]int) (most offset) {
	for o, n := range counts {
		if n > counts[most] || n == counts[most] && (o.start > most.start || o.start == most.start && o.end > most.end) {
			most = o
		}
	}
	return most
}

// delays returns the number of spans of a document that start after the true ones, if programs that count units or bytes could have made
// them: the spans are as many as the true ones, with the same types, and no start or end is less late than one before it. grow says that a
// start is later than the start of another span. Starts that are right and ends that are late are errors at the bounds of spans.
func delays(run, actual []span) (late int, grow bool) {
	if len(run) != len(actual) {
		return 0, false
	}
	byPlace := func(list []span) []span {
		return slices.SortedFunc(slices.Values(list), func(a, b span) int { return int(a.start) - int(b.start) })
	}
	run, actual = byPlace(run), byPlace(actual)
	var first, last, behind int32
	for i, s := range run {
		start, end := s.start-actual[i].start, s.end-actual[i].end
		if s.kind != actual[i].kind || start < behind || end < start {
			return 0, false
		}
		if i == 0 {
			first = start
		}
		last = start
		behind = end
		if start > 0 {
			late++
		}
	}
	return late, first < last
}
