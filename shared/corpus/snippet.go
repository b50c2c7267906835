package corpus

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/casefold"

	"golang.org/x/text/unicode/norm"
)

// Snippet is a passage of a text, marked; Before and After say on which sides the text goes on.
type Snippet struct {
	Pieces []Piece `json:"passage,omitempty" doc:"the passage with most words of the query; the pieces joined are its text"`
	Before bool    `json:"before,omitempty" doc:"whether the document has text before the passage"`
	After  bool    `json:"after,omitempty" doc:"whether it has text after it"`
}

// Cut cuts the passage of at most so many characters out of a text that has the most different words of the query, and
// of those the one with most of them, and marks those words. It begins and ends with whole words, unless one
// alone is longer. A text that is short enough stays whole.
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

// bestPassage returns where the best passage from one marked word to another starts and ends; at the start of the text when no
// marked word is short enough.
func bestPassage(text string, marked []word, most int) (start, end int) {
	count := map[string]int{} // of the words of the passage
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

// widen widens a passage on both sides equally to so many characters, then narrows it to whole words.
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

// Piece is a part of a text; Marked says that it is a word of the query.
type Piece struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked,omitempty" doc:"whether it is a word of the query"`
}

// word is a word of a text: where it starts and ends in bytes, and what it is compared by.
type word struct {
	start, end int
	key        string
}

// matches are the words of a text that the query has: whole words, without regard to case and to how accents are encoded, in
// the singular and the plural of English (Harman, How effective is suffixing?, 1991). A Chinese character is a word of its own.
// Stop words of English count only if the query has nothing else.
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

// words are the runs of letters, digits and the marks on them.
func words(text string) []word {
	var out []word
	add := func(start, end int) {
		out = append(out, word{start, end, singular(norm.NFC.String(casefold.Fold(text[start:end])))})
	}
	start := -1 // of the word that is open
	for i, r := range text {
		inside := unicode.IsLetter(r) || unicode.IsNumber(r) || start >= 0 && unicode.IsMark(r)
		alone := unicode.Is(unicode.Han, r)
		if start >= 0 && (!inside || alone) {
			add(start, i)
			start = -1
		}
		switch {
		case alone:
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

// singular is Harman's stemmer of the plural s; words of three letters or less stay as they are.
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

// stopWords are the words that say little about what a query is about, as singular leaves them.
var stopWords = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`a about an and any are as at be been but by can did do does for from had has have
		how i if in into is it its me my no nor not of on or our s should so such t than that the their them then there
		these they this those to was we were what when where which who whom whose why will with would you your`) {
		out[singular(w)] = true
	}
	return out
}()

// pieces cuts text[start:end] so that the words stand in pieces of their own; words that are not wholly inside are not
// marked.
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

// plain puts a text on one line: white space becomes single spaces, and control characters and what is not UTF-8 become
// the replacement character. It keeps at most so many characters, if possible up to the end of a word, and says whether
// that cut something off.
func plain(text string, most int) (string, bool) {
	var out strings.Builder
	count, words := 0, 0 // characters, and bytes up to the end of the last whole word
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
			// A script without spaces, or a very long word, is cut where it stands.
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
