package spans

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"assay/shared/language/plural"
)

// words is the set of the characters of a text that belong to words, one bit for each.
type words []uint64

// spaced lists the scripts that put spaces between words.
var spaced = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Nd}

func wordsOf(text []byte) words {
	w := make(words, (utf8.RuneCount(text)+63)/64)
	i := 0
	for _, r := range string(text) {
		if unicode.In(r, spaced...) {
			w[i/64] |= 1 << (i % 64)
		}
		i++
	}
	return w
}

// has reports whether the character i belongs to a word.
func (w words) has(i int32) bool { return i >= 0 && int(i/64) < len(w) && w[i/64]>>(i%64)&1 == 1 }

// cuts reports whether a word goes on at i.
func (w words) cuts(i int32) bool { return w.has(i-1) && w.has(i) }

// fits reports whether a span begins and ends with a whole word.
func (w words) fits(s span) bool {
	return w.has(s.start) && w.has(s.end-1) && !w.cuts(s.start) && !w.cuts(s.end)
}

// wordBounds counts spans that begin or end within a word.
type wordBounds struct {
	spans, within int
	file          string // of the first span within a word
	line          int
	healed        map[offset]int // of those within a word, how many fit if they are counted in another way
}

// add adds the spans of a document, which stand on a line of a file.
func (b *wordBounds) add(file string, line int, list []span, w words) {
	for _, s := range list {
		b.spans++
		if !w.cuts(s.start) && !w.cuts(s.end) {
			continue
		}
		b.within++
		if b.within == 1 {
			b.file, b.line = file, line
		}
		for o := range offsetCauses {
			if w.fits(span{start: s.start - o.start, end: s.end - o.end}) {
				b.healed[o]++
			}
		}
	}
}

// minWithin is the number of spans within words from which on they say something about all.
const minWithin = 3

// warning returns a warning if most spans begin or end within a word, or "". of says where the texts are from.
func (b *wordBounds) warning(of string) string {
	if b.within < minWithin || 2*b.within <= b.spans {
		return ""
	}
	cause := "; check whether offsets count characters, from 0 on, and whether end is the character after the span"
	if o := most(b.healed); 10*b.healed[o] >= 9*b.within {
		cause = "; the likely cause: " + offsetCauses[o]
	}
	return fmt.Sprintf("%d of %s begin or end within a word of the texts %s%s", b.within, plural.Count(b.spans, "span"), of, cause)
}
