package corpus

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/casefold"

	"golang.org/x/text/unicode/norm"
)

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
