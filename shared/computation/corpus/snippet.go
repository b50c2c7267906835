package corpus

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/language/casefold"

	"golang.org/x/text/unicode/norm"
)

// Snippet is a passage of a text, with the words of a query marked. Before and After say whether the text goes on before and after it.
type Snippet struct {
	Pieces []Piece `json:"passage,omitempty" doc:"the passage with the most words of the query; its text is the pieces joined"`
	Before bool    `json:"before,omitempty" doc:"whether the document has text before the passage"`
	After  bool    `json:"after,omitempty" doc:"whether the document has text after the passage"`
}

// Cut returns the passage of at most most characters that has the most different words of the query and, of several such passages, the one
// with the most words of the query. It marks these words. The passage begins and ends with whole words, unless a single word is longer. A
// text that is short enough is returned whole.
func Cut(text, query string, most int) Snippet {
	marked := matches(text, query)
	most = max(most, 0)
	if utf8.RuneCountInString(text) <= most {
		return Snippet{Pieces: pieces(text, marked, 0, len(text))}
	}
	first, last := bestPassage(text, marked, most)
	start, end := widen(text, first, last, most)
	return Snippet{Pieces: pieces(text, marked, start, end), Before: start > 0, After: end < len(text)}
}

// bestPassage returns the start and the end of the best passage from one marked word to another. It returns 0, 0 if no marked word is short
// enough.
func bestPassage(text string, marked []word, most int) (start, end int) {
	count := map[string]int{} // number of each word in the passage
	var distinct, total int
	from, length := 0, 0 // the passage's first word, and its characters
	for i, w := range marked {
		if i == from {
			length = 0
		} else {
			length += utf8.RuneCountInString(text[marked[i-1].end:w.start])
		}
		length += utf8.RuneCountInString(text[w.start:w.end])
		count[w.key]++
		for length > most {
			left := marked[from]
			count[left.key]--
			if count[left.key] == 0 {
				delete(count, left.key)
			}
			next := w.end
			from++
			if from <= i {
				next = marked[from].start
			}
			length -= utf8.RuneCountInString(text[left.start:next])
		}
		if size := i - from + 1; len(count) > distinct || len(count) == distinct && size > total {
			distinct, total = len(count), size
			start, end = marked[from].start, w.end
		}
	}
	return start, end
}

// widen widens a passage equally on both sides to most characters, then narrows it to whole words.
func widen(text string, first, last, most int) (start, end int) {
	spare := most - utf8.RuneCountInString(text[first:last])
	start, end = first, last
	for n := spare / 2; n > 0 && start > 0; n-- {
		start = wordStart(text, start)
		spare--
	}
	for ; spare > 0 && end < len(text); spare-- {
		end = wordEnd(text, end)
	}
	for ; spare > 0 && start > 0; spare-- {
		start = wordStart(text, start)
	}
	for start < first && !isWordBoundary(text, start) {
		start = wordEnd(text, start)
	}
	whole := end
	for whole > last && !isWordBoundary(text, whole) {
		whole = wordStart(text, whole)
	}
	if whole > start {
		end = whole
	}
	return start, end
}

// isWordBoundary reports whether a position in a text is not inside a word.
func isWordBoundary(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return !wordRune(before) || !wordRune(after) || unicode.Is(unicode.Han, before) && !unicode.IsMark(after) || unicode.Is(unicode.Han, after)
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

func wordStart(text string, at int) int {
	_, size := utf8.DecodeLastRuneInString(text[:at])
	return at - size
}

func wordEnd(text string, at int) int {
	_, size := utf8.DecodeRuneInString(text[at:])
	return at + size
}

// Piece is a part of a text.
type Piece struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked,omitempty" doc:"whether it is a word of the query"`
}

// word is a word of a text.
type word struct {
	start, end int    // in bytes
	key        string // equal words have equal keys
}

// matches returns the words of a text that are also in the query. Case and the encoding of accents do not matter, and neither does the
// English plural (Harman, How effective is suffixing?, 1991). Each Chinese character is a word. English stop words count only if the query
// has no other words.
func matches(text, query string) []word {
	asked := map[string]bool{}
	for _, rare := range []bool{true, false} {
		for _, w := range words(query) {
			if !rare || !stopWords[w.key] {
				asked[w.key] = true
			}
		}
		if len(asked) > 0 {
			break
		}
	}
	var out []word
	for _, w := range words(text) {
		if asked[w.key] {
			out = append(out, w)
		}
	}
	return out
}

// words returns the words of a text: runs of letters and digits, with their marks.
func words(text string) []word {
	var out []word
	add := func(start, end int) {
		out = append(out, word{start, end, singular(norm.NFC.String(casefold.Fold(text[start:end])))})
	}
	start := -1 // start of the current word
	for i, r := range text {
		inside := unicode.IsLetter(r) || unicode.IsNumber(r) || start >= 0 && unicode.IsMark(r)
		single := unicode.Is(unicode.Han, r)
		if start >= 0 && (!inside || single) {
			add(start, i)
			start = -1
		}
		switch {
		case single:
			add(i, i+utf8.RuneLen(r))
		case inside && start < 0:
			start = i
		}
	}
	if start >= 0 {
		add(start, len(text))
	}
	return out
}

// singular removes the plural s by Harman's stemmer. It returns words of at most three letters unchanged.
func singular(w string) string {
	ends := func(suffix string, save ...string) bool {
		saved := func(s string) bool { return strings.HasSuffix(w, s) }
		return strings.HasSuffix(w, suffix) && !slices.ContainsFunc(save, saved)
	}
	switch {
	case len(w) <= 3:
	case ends("ies", "eies", "aies"):
		return w[:len(w)-3] + "y"
	case ends("es", "aes", "ees", "oes"):
		return w[:len(w)-1]
	case ends("s", "us", "ss", "aes", "ees", "oes"):
		return w[:len(w)-1]
	}
	return w
}

// stopWords holds frequent English words, in the form that singular returns.
var stopWords = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`a about an and any are as at be been but by can did do does for from had has have
		how i if in into is it its me my no nor not of on or our s should so such t than that the their them then there
		these they this those to was we were what when where which who whom whose why will with would you your`) {
		out[singular(w)] = true
	}
	return out
}()

// pieces cuts text[start:end] into pieces, so that each marked word is one piece. Words that cross the start or the end are not marked.
func pieces(text string, marked []word, start, end int) []Piece {
	var out []Piece
	for _, w := range marked {
		if w.start < start || w.end > end {
			continue
		}
		if w.start > start {
			out = append(out, Piece{Text: text[start:w.start]})
		}
		out = append(out, Piece{Text: text[w.start:w.end], Marked: true})
		start = w.end
	}
	if start < end {
		out = append(out, Piece{Text: text[start:end]})
	}
	return out
}

// plain puts a text on one line. White space becomes single spaces. Control characters and invalid UTF-8 become the replacement character.
// plain keeps at most most characters, if possible up to the end of a word. It reports whether it cut characters off.
func plain(text string, most int) (string, bool) {
	var out strings.Builder
	count, words := 0, 0 // characters so far, and bytes up to the end of the last whole word
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			space = count > 0
			continue
		}
		if space {
			words = out.Len()
			count++
		}
		count++
		if count > most {
			kept := out.String()
			// Text without spaces, or with a very long word, is cut within a word.
			if words > len(kept)/2 {
				kept = kept[:words]
			}
			return kept, true
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		if unicode.IsControl(r) {
			r = unicode.ReplacementChar
		}
		out.WriteRune(r)
	}
	return out.String(), false
}
